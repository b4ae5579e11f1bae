"""Reads a prompt file: `name.md` with a `## System` and a `## User` part and placeholders like `{{question}}`.

The loader is strict: a placeholder without a value, or a value without a placeholder, is an error, so that a renamed
variable cannot silently vanish from a prompt. The version is a hash of the file, stored with each answer.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from rag_core.datamodel.base import Record
from rag_core.errors import ConfigurationError

_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_PARTS = re.compile(r"^## System\n(?P<system>.*?)^## User\n(?P<user>.*)\Z", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"<<<|>>>")


class Prompt(Record):
    """A prompt. `version` is 12 hexadecimal digits of the SHA-256 of its file. The system part never varies."""

    name: str
    system: str
    user: str
    version: str

    def render(self, values: Mapping[str, str]) -> str:
        """The user part with its placeholders filled. Raises ConfigurationError where names do not match."""
        wanted = set(_PLACEHOLDER.findall(self.user))
        if wanted != set(values):
            names = ", ".join(sorted(wanted ^ set(values)))
            raise ConfigurationError(f"prompt {self.name}: placeholders and values differ in {names}")
        return _PLACEHOLDER.sub(lambda match: values[match[1]], self.user)


def fence(kind: str, text: str) -> str:
    """Text of a document, a row or a question as data: between marks that the text itself cannot contain."""
    clean = _FENCE.sub(lambda match: match.group()[:2], text)
    return f"<<<{kind}\n{clean}\n{kind}>>>"


@cache
def load_prompt(name: str, folder: Path | None = None) -> Prompt:
    """The prompt in `<name>.md`. Raises ConfigurationError where it is missing or has not the two parts."""
    path = (folder or Path(__file__).parent) / f"{name}.md"
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(f"prompt {name}: cannot read {path.name}") from error
    match = _PARTS.search(text)
    if match is None:
        raise ConfigurationError(f"prompt {name}: it needs a '## System' and a '## User' part")
    if _PLACEHOLDER.search(match["system"]):
        raise ConfigurationError(f"prompt {name}: the system part must not vary, move placeholders to the user part")
    version = hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
    return Prompt(name=name, system=match["system"].strip(), user=match["user"].strip(), version=version)


def prompts_version(folder: Path | None = None) -> str:
    """One version over all prompt files, for fingerprints of plans."""
    digest = hashlib.sha256()
    for path in sorted((folder or Path(__file__).parent).glob("*.md")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]
