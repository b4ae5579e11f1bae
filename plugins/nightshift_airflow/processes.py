"""Airflow's four processes under one parent: `python -m nightshift_airflow.processes`, with its environment prepared.

Airflow's own `standalone` would start servers for task logs that listen on every address of the machine; here the
api-server reads the log files itself, and nothing listens but the api-server on loopback.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

COMMANDS = (
    ("scheduler", "--skip-serve-logs"),
    ("dag-processor",),
    ("triggerer", "--skip-serve-logs"),
    ("api-server",),
)
# A scheduler that waits for its workers has been seen to wait for ever.
STOP_SECONDS = 12.0


def main() -> int:
    """Migrates the metadata, runs the processes until a signal comes, and ends them all. Returns the exit code."""
    airflow = shutil.which("airflow", path=str(Path(sys.executable).parent)) or "airflow"
    stopping = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopping.set())
    migrated = subprocess.run([airflow, "db", "migrate"], check=False)
    if migrated.returncode != 0:
        return migrated.returncode
    children = [subprocess.Popen([airflow, *command]) for command in COMMANDS]
    while not stopping.wait(0.5):
        if any(child.poll() is not None for child in children):
            break  # one of them ended by itself: without it the others are of no use
    failed = not stopping.is_set()
    for child in children:
        child.terminate()
    for child in children:
        try:
            child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
