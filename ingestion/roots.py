"""What paths on a command line mean: the same folder is the same source, however its path is written."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ingestion.scope import Root
from ingestion.spelling import spell, unspell
from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError

NO_NAMES = ("", ".", "..")
"""What a source cannot be called, because it means a folder; versions before let one be called so."""


@dataclass(frozen=True, slots=True)
class KnownRoot:
    """A folder below which a source has its documents, `path` as it was written then."""

    source: str
    path: Path


def known_roots(store: Store, paths: Sequence[Path]) -> list[KnownRoot]:
    """Folders that runs have listed, and those of the documents that lie exactly at `paths`, each with its source."""
    with store.connection() as connection:
        rows = connection.execute(
            statement("documents/select_known_roots"), {"locations": [spell(absolute(path)) for path in paths]}
        ).fetchall()
    return [KnownRoot(source, unspell(folder)) for source, folder in rows]


def find_roots(
    paths: Sequence[Path], known: Iterable[KnownRoot] = (), *, source: str | None = None
) -> tuple[tuple[Root, ...], tuple[str, ...]]:
    """The roots that paths name, in their order, and a line for each that belongs to another source than its own name.

    A path at or below a folder of a known source is that of the source; of several folders the innermost counts, of
    several sources the one of the path's own name. With `source` only that source is looked for, and a path that does
    not lie below its folders is another folder of it. Raises ConfigurationError where a path does not exist, where
    nothing says which of several sources is meant, and where `source` cannot be a name.
    """
    if source is not None and (source := spell(source).strip()) in NO_NAMES:
        raise ConfigurationError(f"--source {source!r} is no name: give one of letters and digits, or none")
    candidates = [each for each in known if source in (None, each.source) and each.source not in NO_NAMES]
    found: dict[Path, Root] = {}
    notes: dict[Path, str] = {}
    # The outer ones first: they are known to those inside them.
    for path in sorted({absolute(path) for path in paths}, key=lambda each: len(each.parts)):
        root, noted = _find(path, candidates, source)
        found[path] = root
        if noted:
            notes[path] = noted
        if not root.prefix:
            candidates.append(KnownRoot(root.source, path))
    wanted = list(dict.fromkeys(absolute(path) for path in paths))
    return tuple(found[path] for path in wanted), tuple(notes[path] for path in wanted if path in notes)


def absolute(path: Path) -> Path:
    """The path from the root, without `.` and `..`. What stands before a `..` is resolved as the system does it, links
    and all; other links keep their names, because a source may be named after one.
    """
    parts = path.absolute().parts
    if ".." not in parts:
        return Path(*parts)
    climbed = len(parts) - parts[::-1].index("..")
    return Path(os.path.realpath(Path(*parts[:climbed])), *parts[climbed:])


def _find(path: Path, known: Sequence[KnownRoot], source: str | None) -> tuple[Root, str]:
    single = path.is_file()
    if not single and not path.is_dir():
        raise ConfigurationError(f"{path}: no such file or folder; name an existing one to ingest")
    own = spell((path.parent if single else path).name or "root")
    below = [(each, relative) for each in known if (relative := _relative(path, each.path)) is not None]
    if not below:
        return Root(path, source or own, path.name if single else ""), ""
    nearest = min(len(Path(relative).parts) for _, relative in below)
    inner = {each.source: relative for each, relative in below if len(Path(relative).parts) == nearest}
    name = _choose(path, own, inner.keys())
    relative = inner[name]
    if source is not None or (name == own and relative == (path.name if single else "")):
        return Root(path, name, relative), ""
    place = f"{spell(relative)} of" if relative else "the folder of"
    note = f"{spell(path)} is {place} the known source {name!r}; --source makes another"
    return Root(path, name, relative), note


def _choose(path: Path, own: str, names: Collection[str]) -> str:
    if own in names:
        return own
    if len(names) > 1:
        raise ConfigurationError(
            f"{spell(path)} belongs to several sources ({', '.join(sorted(names))}): name one of them with --source"
        )
    return next(iter(names))


def _relative(path: Path, folder: Path) -> str | None:
    """The path below a folder, empty for the folder itself; None where it lies elsewhere."""
    for inner, outer in ((path, folder), (Path(os.path.realpath(path)), Path(os.path.realpath(folder)))):
        if inner.is_relative_to(outer):
            relative = inner.relative_to(outer)
            return "" if relative == Path() else os.fspath(relative)
    return None
