"""Which entities a metric's rows may be joined to: only along many-to-one joins, so that no row is counted twice."""

from __future__ import annotations

from collections import deque

from rag_core.errors import NightshiftError
from rag_core.semantics.definitions import Join, SemanticModel


class SemanticError(NightshiftError):
    """A metric query that the semantic model cannot answer; the message says why, in a sentence for the asker."""


def find_path(model: SemanticModel, start: str, target: str) -> tuple[Join, ...]:
    """The joins from one entity to another, each many-to-one; the shortest, in the order of declaration.

    Raises SemanticError where the only way fans rows out (and names that join), where two ways are equally short, or
    where there is none.
    """
    paths = _shortest(model, start, target, forward=True)
    if len(paths) == 1:
        return paths[0]
    if len(paths) > 1:
        ways = " or ".join("/".join(join.to for join in path) for path in paths)
        raise SemanticError(f"{target} can be reached from {start} by {ways}: the model must keep one of these joins")
    backward = _shortest(model, start, target, forward=False)
    if backward:
        at = start
        for join in backward[0]:
            if join.from_entity != at:
                raise SemanticError(
                    f"{start} cannot be split by {target}: the join {join.from_entity} to {join.to} would count rows "
                    f"of {at} several times"
                )
            at = join.to
    raise SemanticError(f"{start} and {target} are not joined in the semantic model")


def reaches(model: SemanticModel, start: str, target: str) -> bool:
    """Whether `target` can be joined to the rows of `start` without counting any twice."""
    return len(_shortest(model, start, target, forward=True)) == 1


def _shortest(model: SemanticModel, start: str, target: str, *, forward: bool) -> list[tuple[Join, ...]]:
    """All shortest paths; with `forward` False joins may be walked against their direction."""
    queue: deque[tuple[str, tuple[Join, ...]]] = deque([(start, ())])
    seen = {start: 0}
    found: list[tuple[Join, ...]] = []
    while queue:
        entity, path = queue.popleft()
        if found and len(path) > len(found[0]):
            break
        if entity == target:
            found.append(path)
            continue
        for join in model.joins:
            steps = [join.to] if join.from_entity == entity else []
            if (not forward or join.type == "one_to_one") and join.to == entity:
                steps.append(join.from_entity)
            for step in steps:
                if seen.get(step, len(path) + 1) >= len(path) + 1:
                    seen[step] = len(path) + 1
                    queue.append((step, (*path, join)))
    return found
