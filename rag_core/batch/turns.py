"""Several questions at a time: which ones, and how."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Made = TypeVar("Made")


def part(items: Sequence[Item], free: Sequence[bool], key: Callable[[Item], Hashable]) -> tuple[list[Item], list[Item]]:
    """The items that may be done side by side, and those that are done one after the other.

    Side by side go those that are free of the chat model, which is paid for and takes one at a time. Of items with the
    same key the first one goes before the others, which then take its answer, whoever is quicker.
    """
    together: list[Item] = []
    alone: list[Item] = []
    seen: set[Hashable] = set()
    for item, without_model in zip(items, free, strict=True):
        (together if without_model and key(item) not in seen else alone).append(item)
        seen.add(key(item))
    return together, alone


def in_turns(items: Sequence[Item], work: Callable[[Item], Made], *, width: int) -> Iterator[Made]:
    """What `work` makes of each item, in their order, at most `width` at a time.

    The first error is raised in its turn: what has begun by then is finished, and nothing further begins.
    """
    if width < 2 or len(items) < 2:
        yield from map(work, items)
        return
    with ThreadPoolExecutor(min(width, len(items)), thread_name_prefix="question") as pool:
        futures = [pool.submit(work, item) for item in items]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()
