"""Which places a run lists, and how far it saw there: the value that decides what may count as gone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Root:
    """A folder or file to list, `path` absolute. What lies there belongs to `source`, each document under `prefix` and
    the path below the root: empty for the folder of a source itself, `sub` for a folder in it, `sub/a.md` for a file.
    """

    path: Path
    source: str
    prefix: str = ""

    @property
    def base(self) -> Path:
        """The folder below which the source's documents have their paths."""
        parts = len(Path(self.prefix).parts)
        return self.path.parents[parts - 1] if parts else self.path


@dataclass(frozen=True, slots=True)
class Unseen:
    """A place below which a listing says nothing of what is not there, and why."""

    path: Path
    reason: str


@dataclass(frozen=True, slots=True)
class Scope:
    """The roots of a listing and what it could not see below them."""

    roots: tuple[Path, ...]
    unseen: tuple[Unseen, ...] = ()

    def covers(self, path: Path) -> bool:
        """Whether a document that was known at a path is gone where the listing did not find it."""
        return is_below(path, self.roots) and self.veil(path) is None

    def veil(self, path: Path) -> Unseen | None:
        """What hid a path below the roots from the listing, None where nothing did."""
        return next((each for each in self.unseen if is_below(path, [each.path])), None)


def is_below(location: Path, roots: Sequence[Path]) -> bool:
    """Whether a path is one of the roots or lies below one."""
    return any(location == root or root in location.parents for root in roots)
