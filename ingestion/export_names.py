"""Where exported documents are written: each at a place of its own, under a name that a file system takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from rag_core.errors import ConfigurationError

_LONGEST = 255
"""Bytes of a name, on nearly every file system."""
_KEY = 8
_NO_NAMES = frozenset({"", ".", ".."})


def export_names(documents: Iterable[tuple[str, str, str]]) -> dict[str, PurePosixPath]:
    """Paths below the target for documents given as (id, source, path): the document's own path, ending in `.md`.

    Where two documents would be one file, also on a file system that does not tell capitals apart, or one the folder of
    another, the one whose own path does not end so gets a part of its id; so does a name that is too long.
    """
    wanted = [(key, _plain(key, source, path), path) for key, source, path in documents]
    files = Counter(_folded(name) for _, name, _ in wanted)
    folders = {_folded(folder) for _, name, _ in wanted for folder in name.parents}
    names: dict[str, PurePosixPath] = {}
    exact: set[str] = set()
    # Those that keep their own name first: it is theirs.
    for key, name, path in sorted(wanted, key=lambda each: (not each[2].endswith(".md"), str(each[1]), each[0])):
        place = _folded(name)
        if place in folders or (files[place] > 1 and (place in exact or not path.endswith(".md"))):
            name = name.with_name(_with_key(name.stem, ".md", key))
        exact.add(place)
        names[key] = name
    return names


def write_export(target: Path, name: PurePosixPath, enriched: str) -> None:
    """Writes a document below the target. Raises ConfigurationError where it would leave it, OSError as the system."""
    # Paths were made by a listing below a root, but they come from the database: none may leave the target.
    destination = (target / name).resolve()
    if not destination.is_relative_to(target.resolve()):
        raise ConfigurationError(f"the document path {str(name)!r} would leave {target}")
    destination.parent.mkdir(parents=True, exist_ok=True)
    destination.write_text(enriched, encoding="utf-8")


def _plain(key: str, source: str, path: str) -> PurePosixPath:
    # `.` and `..` are no names to write under: a source was once called so.
    *folders, last = ["_" if each in _NO_NAMES else each for each in (source.replace("/", "_"), *path.split("/"))]
    if not last.lower().endswith(".md"):
        last += ".md"
    return PurePosixPath(*(_short(each, "", key) for each in folders), _short(last[:-3], last[-3:], key))


def _short(stem: str, suffix: str, key: str) -> str:
    return stem + suffix if len((stem + suffix).encode()) <= _LONGEST else _with_key(stem, suffix, key)


def _with_key(stem: str, suffix: str, key: str) -> str:
    ending = f"-{key[:_KEY]}{suffix}"
    return stem.encode()[: _LONGEST - len(ending)].decode("utf-8", "ignore") + ending


def _folded(path: PurePosixPath) -> str:
    return str(path).casefold()
