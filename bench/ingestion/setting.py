"""What the benches of ingestion share: documents, an embedded PostgreSQL of their own, and what was spent."""

from __future__ import annotations

import json
import os
import platform
import resource
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psutil

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.connectors.migrations import migrate
from rag_core.connectors.store import Store

MODEL = "packaged:all-minilm-l6-v2"


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder with a short path (unix sockets allow about 100 bytes), removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="nsb"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def embedded_server() -> Iterator[EmbeddedPostgres]:
    """The embedded PostgreSQL as Nightshift starts it, stopped and removed afterwards."""
    with temporary_folder() as folder:
        server = EmbeddedPostgres(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


@contextmanager
def empty_store(server: EmbeddedPostgres, name: str) -> Iterator[Store]:
    """A migrated store without documents."""
    server.ensure_database(name)
    migrate(server.dsn(name))
    store = Store(server.dsn(name))
    try:
        yield store
    finally:
        store.close()


def copy_documents(data: Path, target: Path, count: int) -> list[Path]:
    """`count` documents of real text: the operations documents first, then abstracts of SciFact as Markdown.

    `data` is the folder with `devops/files` and `scifact/corpus.jsonl`.
    """
    made: list[Path] = []
    root = data / "devops" / "files"
    for path in sorted(path for path in root.rglob("*") if path.is_file())[:count]:
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
        made.append(copy)
    with (data / "scifact" / "corpus.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            if len(made) >= count:
                break
            entry = json.loads(line)
            path = target / "abstracts" / f"{entry['_id']}.md"
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"# {entry['title']}\n\n{entry['text']}\n", encoding="utf-8")
            made.append(path)
    return made


@dataclass
class Spent:
    """Seconds on the clock, and processor seconds of this process and of the children that it had."""

    seconds: float = 0.0
    processor: float = 0.0


@contextmanager
def measured(spent: Spent) -> Iterator[None]:
    """Adds what the block takes."""
    started, before = time.perf_counter(), _processor()
    try:
        yield
    finally:
        spent.seconds += time.perf_counter() - started
        spent.processor += _processor() - before


def _processor() -> float:
    used = 0.0
    for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN):
        usage = resource.getrusage(who)
        used += usage.ru_utime + usage.ru_stime
    return used


def peak_megabytes() -> dict[str, int]:
    """The most that this process ever held, and the largest of its children that have ended."""
    factor = 1 if platform.system() != "Darwin" else 1024
    return {
        "process": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024 // factor,
        "largest_child": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024 // factor,
    }


@dataclass
class PeakMemory:
    """The most bytes held at once, by proportional share, and how they were made up at that moment.

    `largest` is the first process, `others` what it started; `server` is the PostgreSQL's own peak.
    """

    total: int = 0
    largest: int = 0
    others: int = 0
    server: int = 0
    samples: int = 0

    def megabytes(self) -> dict[str, int]:
        """The figures in MB, for the report."""
        mega = 1024 * 1024
        return {
            "sum": self.total // mega,
            "command_then": self.largest // mega,
            "its_children_then": self.others // mega,
            "server": self.server // mega,
            "samples": self.samples,
        }


@contextmanager
def sampled_memory(pid: int, server_folder: str, *, every: float = 0.2) -> Iterator[PeakMemory]:
    """Looks at a process and all that it started every `every` seconds, while the block runs.

    Processes that name `server_folder` are the PostgreSQL, wherever they were started from.
    """
    peak, ended = PeakMemory(), threading.Event()

    def watch() -> None:
        while not ended.wait(every):
            server = {each.pid for each in psutil.process_iter() if _names(each, server_folder)}
            server |= {child for parent in server for child in _children(parent)}
            own = _share(pid)
            others = sum(map(_share, _children(pid) - server))
            peak.samples += 1
            peak.server = max(peak.server, sum(map(_share, server)))
            if own + others > peak.total:
                peak.total, peak.largest, peak.others = own + others, own, others

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield peak
    finally:
        ended.set()
        watcher.join()


def _names(process: psutil.Process, folder: str) -> bool:
    try:
        words = process.cmdline()
    except psutil.Error:
        return False
    return bool(words) and "postgres" in words[0] and any(folder in word for word in words)


def _children(pid: int) -> set[int]:
    try:
        return {child.pid for child in psutil.Process(pid).children(recursive=True)}
    except psutil.Error:
        return set()


def _share(pid: int) -> int:
    """Bytes of a process by proportional share (PSS), 0 where it has ended."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("Pss:"))


def server_processor(database: str) -> float:
    """Processor seconds of the server's processes that serve a database; those that have ended are not counted."""
    used = 0.0
    for process in psutil.process_iter(["cmdline", "cpu_times"]):
        words = " ".join(process.info["cmdline"] or [])
        if f" {database} [local]" in words and process.info["cpu_times"] is not None:
            used += process.info["cpu_times"].user + process.info["cpu_times"].system
    return used


def report(name: str, figures: dict[str, Any]) -> None:
    """Prints one JSON object with the figures, the machine, the date and how busy the machine was."""
    machine = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "load": [round(load, 1) for load in os.getloadavg()],
    }
    print(json.dumps({"bench": name, **figures, **machine}, indent=2))
