"""Parts of invented names, read once from ``names.toml``."""

import tomllib
from pathlib import Path

NAMES: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
