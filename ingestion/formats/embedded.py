"""Files that are written into a text as letters: `data:` addresses, and long runs of base64 or hexadecimal digits.

They are no text that anybody reads or searches, but a picture of 150 kB makes hundreds of chunks of them.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

_SHORTEST = 256
"""Characters of a run that is taken for encoded bytes wherever it stands; signatures and hashes are shorter."""
_SHORTEST_ADDRESS = 64
"""Characters behind `data:...,` that are taken for a file; examples in prose are shorter."""
# A payload may be broken into lines of one length, in a string of JSON too.
_BETWEEN = r"(?:\s|\\[rn]|>)+"
_MORE_LINES = rf"(?:{_BETWEEN}[A-Za-z0-9+/]{{60,}})*(?:{_BETWEEN}[A-Za-z0-9+/]+(?==))?={{0,2}}"
_ADDRESS = re.compile(
    r"(?P<head>data:[\w.+-]+/[\w.+-]+(?:;[\w.+-]+(?:=[\w.+-]+)?)*,)"
    rf"(?P<body>\s*[^\s\"'()<>\\,&]{{{_SHORTEST_ADDRESS},}}{_MORE_LINES})",
    re.IGNORECASE,
)
# `\\x` and `0x` before hexadecimal digits are none of them.
_START = r"(?:(?<![A-Za-z0-9+/])(?!0?[xX][0-9a-fA-F]{60})|(?<=[\\0][xX]))"
_RUN = re.compile(rf"{_START}[A-Za-z0-9+/]{{60,}}{_MORE_LINES}")
_LONG_LINE = re.compile(rf"[A-Za-z0-9+/]{{{_SHORTEST},}}={{0,2}}")
_SPLIT = re.compile(_BETWEEN)
_UPPER, _LOWER = frozenset(string.ascii_uppercase), frozenset(string.ascii_lowercase)
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+\Z")


@dataclass(slots=True)
class Embedded:
    """How many embedded files were left out, and their size in bytes together."""

    files: int = 0
    size: int = 0

    def leave_out(self, text: str) -> str:
        """The text with the size of each embedded file in its place, as one word that breaks no notation around it."""
        if len(text) < _SHORTEST_ADDRESS:
            return text
        return _RUN.sub(self._run, _ADDRESS.sub(self._address, text))

    def warning(self) -> str:
        """What was left out as one line, empty where nothing was."""
        return f"{self.files} embedded files left out, {self.size} bytes in all" if self.files else ""

    def _address(self, match: re.Match[str]) -> str:
        body = _SPLIT.sub("", match["body"])
        encoded = match["head"].lower().endswith(";base64,")
        return match["head"] + self._count(len(body.rstrip("=")) * 3 // 4 if encoded else len(body))

    def _run(self, match: re.Match[str]) -> str:
        lines = _SPLIT.split(match[0])
        run = "".join(lines).rstrip("=")
        # Hashes, one a line, are a list that somebody looks things up in.
        wrapped = len({*map(len, lines[:-1])}) == 1 and len(lines[-1]) <= len(lines[0]) and not _HEXADECIMAL.match(run)
        if wrapped and len(run) >= _SHORTEST and _is_encoded(run):
            return self._count(len(run) * 3 // 4)
        return _LONG_LINE.sub(self._line, match[0])

    def _line(self, match: re.Match[str]) -> str:
        run = match[0].rstrip("=")
        if not _is_encoded(run):
            return match[0]
        return self._count(len(run) // 2 if _HEXADECIMAL.match(run) else len(run) * 3 // 4)

    def _count(self, size: int) -> str:
        self.files += 1
        self.size += size
        return f"{size}-bytes-left-out"


def _is_encoded(run: str) -> bool:
    """Digits among letters of both cases, or among those of hexadecimal digits, many different ones, and no path."""
    kinds = set(run)
    mixed = bool(kinds & _UPPER and kinds & _LOWER) or _HEXADECIMAL.match(run) is not None
    path = run.count("/") * 20 > len(run) and "//" not in run
    return len(kinds) >= 12 and mixed and any(kind.isdigit() for kind in kinds) and not path
