"""Values that travel between the rooms. Frozen, without behaviour that touches the outside world."""
