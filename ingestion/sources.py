"""Finding documents under a root: which files, in which order, and what was left out and why.

Hidden names are those that start with a dot. A symbolic link is followed only where it stays below the source's folder
and leads to a folder that is not listed already: folders that link to one another have more ways through them than
anybody can walk. Everything else is reported, never silently dropped.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from heapq import heappop, heappush
from pathlib import Path, PurePosixPath
from typing import Literal

from ingestion.config import SourceRules
from ingestion.documents import SourceFile
from ingestion.scope import Root, Scope, Unseen
from ingestion.spelling import spell

SkipReason = Literal[
    "link_outside",
    "link_loop",
    "link_again",
    "broken_link",
    "hidden",
    "excluded",
    "too_large",
    "unreadable",
    "unsupported",
]
_BUFFER = 1024 * 1024
_DOCUMENT_MAGIC = (b"%PDF-",)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A path that is no document of this run. `relative_path` is below its root; `detail` says more where it helps."""

    source: str
    relative_path: str
    reason: SkipReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Discovery:
    """Result of a listing. `scope` says where it saw what: only there may a document count as gone."""

    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    scope: Scope


def discover(roots: Sequence[Root], *, rules: SourceRules, hashed: bool = True) -> Discovery:
    """Lists and hashes the documents below the roots.

    Args:
        roots: folders or single files, as `ingestion.roots` names them. One that is not there lists nothing.
        rules: which files count.
        hashed: False where only the names are asked for: content hashes are then empty.

    Returns:
        Files in the order of root and relative path (by code points), hashed by SHA-256 in blocks of a megabyte.
        Of a root where a folder or file could not be read, and of one that lists no document, nothing is known; nor is
        it below a link that could not be followed, or of a file that is there but cannot be taken now.
    """
    files: list[SourceFile] = []
    skipped: list[SkippedFile] = []
    unseen: list[Unseen] = []
    seen: set[tuple[str, str]] = set()
    for root in roots:
        walk = _Walk(root, rules, hashed)
        found = 0
        for file in walk.files():
            found += 1
            key = (file.source, os.fspath(file.path))
            if key not in seen:
                seen.add(key)
                files.append(file)
        skipped.extend(walk.skipped)
        unseen.extend(walk.unseen)
        if not found:
            unseen.append(Unseen(root.path, "it lists no document"))
    return Discovery(
        tuple(files),
        tuple(sorted(skipped, key=lambda s: (s.source, s.relative_path))),
        Scope(tuple(root.path for root in roots), tuple(sorted(unseen, key=lambda u: u.path))),
    )


def hash_file(path: Path) -> tuple[str, int]:
    """SHA-256 of a file's bytes in hex, and their number. Raises OSError."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb", buffering=0) as stream:
        while block := stream.read(_BUFFER):
            digest.update(block)
            size += len(block)
    return digest.hexdigest(), size


class _Walk:
    """One root's listing; collects what it leaves out."""

    def __init__(self, root: Root, rules: SourceRules, hashed: bool) -> None:
        self.skipped: list[SkippedFile] = []
        self.unseen: list[Unseen] = []
        self._root = root
        self._rules = rules
        self._hashed = hashed
        self._base = root.base
        self._real_base = Path(os.path.realpath(self._base))
        self._extensions = frozenset(f".{name.lower().lstrip('.')}" for name in rules.extensions)

    def files(self) -> Iterator[SourceFile]:
        root = self._root
        found = [(root.prefix or root.path.name, root.path)] if root.path.is_file() else sorted(self._list())
        for relative, path in found:
            file = self._read(relative, path)
            if file is not None:
                yield file

    def _skip(self, relative: str, reason: SkipReason, detail: str = "") -> None:
        self.skipped.append(SkippedFile(self._root.source, spell(relative), reason, detail))

    def _cannot_read(self, relative: str, error: OSError) -> None:
        """What is unreadable may hold whatever is missing elsewhere below the root."""
        self._skip(relative, "unreadable", error.strerror or "")
        reason = f"{spell(relative)} could not be read ({error.strerror or type(error).__name__})"
        self.unseen.append(Unseen(self._root.path, reason))

    def _list(self) -> Iterator[tuple[str, Path]]:
        """All files, each folder once: under its own path where it has one below the root, else under a link's."""
        seen: set[tuple[int, int]] = set()
        folders = [(self._root.path, f"{self._root.prefix}/" if self._root.prefix else "")]
        links: list[tuple[str, Path]] = []
        while folders or links:
            if folders:
                folder, prefix = folders.pop()
                linked = False
            else:
                relative, folder = heappop(links)
                prefix, linked = relative + "/", True
            try:
                status = folder.stat()
                if (status.st_dev, status.st_ino) in seen:
                    upwards = linked and Path(os.path.realpath(folder.parent)).is_relative_to(os.path.realpath(folder))
                    if upwards:
                        self._cannot_follow(prefix.rstrip("/"), folder, "link_loop")
                    else:
                        self._skip(prefix.rstrip("/"), "link_again")
                    continue
                seen.add((status.st_dev, status.st_ino))
                with os.scandir(folder) as listing:
                    entries = list(listing)
            except OSError as error:
                self._cannot_read(prefix.rstrip("/") or ".", error)
                continue
            yield from self._sort_out(entries, prefix, folders, links)

    def _sort_out(
        self,
        entries: Sequence[os.DirEntry[str]],
        prefix: str,
        folders: list[tuple[Path, str]],
        links: list[tuple[str, Path]],
    ) -> Iterator[tuple[str, Path]]:
        """The files of a folder; what is below it is added to `folders`, links to folders to the heap of `links`."""
        for entry in entries:
            relative = prefix + entry.name
            if entry.name.startswith(".") and not self._rules.hidden:
                self._skip(relative, "hidden")
            elif self._excluded(relative):
                self._skip(relative, "excluded")
            elif entry.is_symlink() and not self._may_follow(entry.path, relative):
                continue
            elif entry.is_dir() and entry.is_symlink():
                heappush(links, (relative, Path(entry.path)))
            elif entry.is_dir():
                folders.append((Path(entry.path), relative + "/"))
            elif entry.is_file():
                yield relative, Path(entry.path)
            else:
                self._skip(relative, "unsupported", "not a regular file")

    def _may_follow(self, path: str, relative: str) -> bool:
        try:
            real = Path(path).resolve(strict=True)
        except (OSError, RuntimeError) as error:
            # ELOOP: the link leads to itself; Python 3.11 and 3.12 raise RuntimeError, 3.13 OSError
            looped = isinstance(error, RuntimeError) or error.errno == errno.ELOOP
            self._cannot_follow(relative, Path(path), "link_loop" if looped else "broken_link")
            return False
        if not real.is_relative_to(self._real_base):
            self._skip(relative, "link_outside")
            return False
        return True

    def _cannot_follow(self, relative: str, path: Path, reason: SkipReason) -> None:
        """What the link led to before may be there again tomorrow, as a folder that is not mounted may."""
        self._skip(relative, reason)
        self.unseen.append(Unseen(path, "the link cannot be followed"))

    def _excluded(self, relative: str) -> bool:
        return any(fnmatchcase(relative, glob) for glob in self._rules.exclude)

    def _read(self, relative: str, path: Path) -> SourceFile | None:
        try:
            status = path.stat()
            if not stat.S_ISREG(status.st_mode):
                self._skip(relative, "unsupported", "not a regular file")
                return None
            if status.st_size > self._rules.max_bytes:
                self._skip(relative, "too_large", f"{status.st_size} bytes, the limit is {self._rules.max_bytes}")
                self.unseen.append(Unseen(path, "the file is too large now"))
                return None
            if not self._wanted(relative, path):
                self._skip(relative, "unsupported", "neither its name nor its first bytes say a document")
                if not PurePosixPath(relative).suffix:
                    # It was no rule of ours that took it out but what stands in it now: nothing, or no text.
                    self.unseen.append(Unseen(path, "the file holds no text now"))
                return None
            digest, size = hash_file(path) if self._hashed else ("", status.st_size)
        except OSError as error:
            self._cannot_read(relative, error)
            return None
        return SourceFile(self._root.source, self._base, path, spell(relative), size, digest)

    def _wanted(self, relative: str, path: Path) -> bool:
        """By name; under other names PDF and Office files by their first bytes, and text that has no suffix at all."""
        suffix = PurePosixPath(relative).suffix.lower()
        if suffix in self._extensions:
            return True
        with path.open("rb") as stream:
            start = stream.read(1024)
        return start.startswith(_DOCUMENT_MAGIC) or (not suffix and bool(start) and _is_text(start))


def _is_text(start: bytes) -> bool:
    return not any(byte < 32 and byte not in b"\t\n\r\f" for byte in start)
