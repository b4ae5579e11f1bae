"""Adds the secrets that docker-compose.yml needs to `.env`: python3 docker/make_env.py [FILE].

Changes nothing that is there. Needs only Python's standard library. Passwords are hexadecimal: they stand in URLs.
"""

import base64
import secrets
import sys
from collections.abc import Callable
from pathlib import Path


def _password() -> str:
    return secrets.token_hex(20)


def _fernet_key() -> str:
    return base64.urlsafe_b64encode(secrets.token_bytes(32)).decode()


SECRETS: dict[str, Callable[[], str]] = {
    "POSTGRES_PASSWORD": _password,
    "STORE_PASSWORD": _password,
    "AIRFLOW_DB_PASSWORD": _password,
    "WAREHOUSE_OWNER_PASSWORD": _password,
    "READER_PASSWORD": _password,
    "BI_PASSWORD": _password,
    "REDIS_PASSWORD": _password,
    "AIRFLOW_FERNET_KEY": _fernet_key,
    "AIRFLOW_JWT_SECRET": _password,
    "AIRFLOW_SESSION_SECRET": _password,
    "NIGHTSHIFT_AIRFLOW__PASSWORD": _password,
}


def add_secrets(text: str) -> tuple[str, list[str]]:
    """The text of a `.env` with every missing secret added at its end, and the names of those."""
    known = {line.partition("=")[0].strip().removeprefix("export ") for line in text.splitlines() if "=" in line}
    missing = [name for name in SECRETS if name not in known]
    lines = [f"{name}={SECRETS[name]()}" for name in missing]
    start = text if not text or text.endswith("\n") else text + "\n"
    return start + "".join(f"{line}\n" for line in lines), missing


def main(arguments: list[str]) -> int:
    """Writes the file, readable by its owner only, and prints the names that were added."""
    path = Path(arguments[0] if arguments else ".env")
    text, added = add_secrets(path.read_text(encoding="utf-8") if path.exists() else "")
    if added:
        path.touch(mode=0o600)
        path.chmod(0o600)
        path.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{path}: added {', '.join(added)}\n" if added else f"{path}: nothing was missing\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
