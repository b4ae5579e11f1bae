"""Airflow's four processes under one parent: `python -m nightshift_airflow.processes`, with its environment prepared.

Airflow's own `standalone` would start servers for task logs that listen on every address of the machine; here the
api-server reads the log files itself, and nothing listens but the api-server on loopback. A process that dies is
started again, and so is the embedded PostgreSQL that they all need: a night survives either.
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import psutil

from rag_core.connectors.embedded import EmbeddedPostgres
from rag_core.errors import NightshiftError
from rag_core.settings import load_settings

COMMANDS = {
    "scheduler": ("scheduler", "--skip-serve-logs"),
    "dag-processor": ("dag-processor",),
    "triggerer": ("triggerer", "--skip-serve-logs"),
    "api-server": ("api-server",),
}
WARM_SCHEDULER = "nightshift_airflow.warm_scheduler"
# A scheduler that waits for its workers has been seen to wait for ever.
STOP_SECONDS = 12.0
# What dies more often than this is broken, not unlucky.
MAX_RESTARTS = 6
WINDOW_SECONDS = 600.0
PAUSE_SECONDS = 3.0

logger = logging.getLogger(__name__)


def main() -> int:
    """Migrates the metadata, runs the processes until a signal comes, and ends them all. Returns the exit code."""
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    airflow = shutil.which("airflow", path=str(Path(sys.executable).parent)) or "airflow"
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    migrated = subprocess.run([airflow, "db", "migrate"], check=False)
    if migrated.returncode != 0:
        return migrated.returncode
    database = EmbeddedPostgres(load_settings().home)
    return keep_running(
        commands_of(airflow),
        stopping,
        look_after=lambda: keep_database(database),
    )


def commands_of(airflow: str) -> dict[str, tuple[str, ...]]:
    """The command lines of the four processes; the scheduler's loads what its tasks need before it forks them."""
    commands = {name: (airflow, *command) for name, command in COMMANDS.items()}
    return {**commands, "scheduler": (sys.executable, "-m", WARM_SCHEDULER, *COMMANDS["scheduler"][1:])}


def keep_running(
    commands: Mapping[str, Sequence[str]],
    stopping: threading.Event,
    *,
    max_restarts: int = MAX_RESTARTS,
    pause_seconds: float = PAUSE_SECONDS,
    look_after: Callable[[], object] = lambda: None,
) -> int:
    """Runs the commands until `stopping` is set, and ends them all; calls `look_after` about twice a second.

    One that ends by itself is started again after a pause. Where one ends more than `max_restarts` times within ten
    minutes all are ended: without it the others are of no use. Returns 0 where it was told to stop, else 1.
    """
    children = {name: subprocess.Popen(command) for name, command in commands.items()}
    deaths: dict[str, deque[float]] = {name: deque() for name in commands}
    broken = False
    while not broken and not stopping.wait(0.5):
        look_after()
        for name, child in children.items():
            code = child.poll()
            if code is None:
                continue
            known, now = deaths[name], time.monotonic()
            known.append(now)
            while now - known[0] > WINDOW_SECONDS:
                known.popleft()
            broken = len(known) > max_restarts
            if broken:
                logger.error("%s ended %d times within ten minutes: giving up", name, len(known))
                break
            logger.warning("%s ended with %d: starting it again", name, code)
            end_orphans()
            if stopping.wait(pause_seconds):
                break
            children[name] = subprocess.Popen(commands[name])
    for child in children.values():
        child.terminate()
    for child in children.values():
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return 1 if broken else 0


def keep_database(database: EmbeddedPostgres) -> bool:
    """Starts the embedded PostgreSQL again where it is gone; returns whether it had to.

    What stops it does not stop Airflow: its processes are told and try again, and this is called again.
    """
    if database.running:
        return False
    logger.warning("PostgreSQL is gone: starting it again")
    try:
        return database.start()
    except NightshiftError as error:
        logger.error("%s", error)
        time.sleep(PAUSE_SECONDS)
        return False


def end_orphans() -> int:
    """Ends what a process that died has left behind in our session; returns how many.

    A scheduler's forked workers hold its connection to the metadata open, and with it the locks of its last
    transaction: the next scheduler would pass over the very runs that were under way. Their tasks run once more.
    """
    own = os.getpid()
    if os.getsid(0) != own:
        return 0  # others live in this session
    members: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        try:
            if os.getsid(process.pid) == own:
                members[process.pid] = process
        except OSError:  # ended meanwhile
            continue
    ended = 0
    for pid, process in members.items():
        try:
            if pid != own and process.ppid() not in members:
                family = [process, *process.children(recursive=True)]
                for member in family:
                    member.kill()
                ended += len(family)
        except psutil.Error:  # ended meanwhile
            continue
    return ended


if __name__ == "__main__":
    sys.exit(main())
