"""How many planted facts of the sample company the core answers rightly."""
