"""Writes the administrator's login for Airflow's simple auth manager: python docker/write_login.py FILE.

User name and password come from NIGHTSHIFT_AIRFLOW__USERNAME and NIGHTSHIFT_AIRFLOW__PASSWORD.
"""

import json
import sys
from pathlib import Path

from rag_core.errors import NightshiftError
from rag_core.settings import load_settings


def main(arguments: list[str]) -> int:
    """Returns the exit code: 2 where no password is set."""
    try:
        settings = load_settings().airflow
    except NightshiftError as error:
        sys.stderr.write(f"login: {error}\n")
        return error.exit_code
    if settings.password is None or not settings.password.get_secret_value():
        sys.stderr.write("login: set NIGHTSHIFT_AIRFLOW__PASSWORD\n")
        return 2
    path = Path(arguments[0])
    path.touch(mode=0o600)
    path.write_text(json.dumps({settings.username: settings.password.get_secret_value()}), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
