"""Who sits in front of the command line."""

from __future__ import annotations

import getpass


def person(named: str | None = None) -> str:
    """The name that decisions are kept under: as given, else the user of this machine."""
    if named:
        return named
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # A container may run as a number without a name.
        return "unknown"
