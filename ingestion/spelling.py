"""Names of files as text that a database takes, and back.

A name is bytes, and not all are UTF-8. What is not is written `\\xe9`, and in such a name a backslash twice, so that
two names are never one text and the file is found again. All other names are their own spelling.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

_ESCAPED = re.compile(r"\\x[89a-f][0-9a-f]")
_PIECE = re.compile(r"\\\\|\\x([89a-f][0-9a-f])")


def spell(path: str | os.PathLike[str]) -> str:
    """The path as text without surrogates."""
    raw = os.fsencode(path)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")
    # A name that looks spelled already must not be taken for the one that it would be the spelling of.
    return text.replace("\\", "\\\\") if _ESCAPED.search(text) else text


def unspell(text: str) -> Path:
    """The path that `spell` gave this text for."""
    if not _ESCAPED.search(text):
        return Path(text)
    raw = bytearray()
    end = 0
    for piece in _PIECE.finditer(text):
        raw += text[end : piece.start()].encode()
        raw += b"\\" if piece.group(1) is None else bytes.fromhex(piece.group(1))
        end = piece.end()
    return Path(os.fsdecode(bytes(raw + text[end:].encode())))
