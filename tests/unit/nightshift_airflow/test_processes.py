"""The parent of Airflow's processes: what dies is started again, what keeps dying ends all, and a stop ends all."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from nightshift_airflow.processes import keep_running

# Notes that it was started, then waits to be ended.
CHILD = "import os, sys, time; open(sys.argv[1], 'a').write(f'{os.getpid()} '); time.sleep(600)"


def _pids(path: Path) -> list[int]:
    return [int(word) for word in path.read_text().split()] if path.exists() else []


def _wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_process_is_started_again_and_the_others_go_on(tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    commands = {path.name: (sys.executable, "-c", CHILD, str(path)) for path in (one, two)}
    stopping, codes = threading.Event(), []
    thread = threading.Thread(
        target=lambda: codes.append(keep_running(commands, stopping, pause_seconds=0.05)), daemon=True
    )
    thread.start()
    _wait(lambda: len(_pids(one)) == 1 and len(_pids(two)) == 1)
    os.kill(_pids(one)[0], signal.SIGKILL)
    _wait(lambda: len(_pids(one)) == 2)
    assert len(_pids(two)) == 1
    stopping.set()
    thread.join(60)
    assert codes == [0]
    assert not any(_alive(pid) for pid in (*_pids(one), *_pids(two)))


def test_a_process_that_keeps_ending_ends_all(tmp_path: Path) -> None:
    steady = tmp_path / "steady"
    commands = {
        "steady": (sys.executable, "-c", CHILD, str(steady)),
        "broken": (sys.executable, "-c", "raise SystemExit(3)"),
    }
    assert keep_running(commands, threading.Event(), max_restarts=2, pause_seconds=0.01) == 1
    _wait(lambda: not any(_alive(pid) for pid in _pids(steady)))


def test_what_all_need_is_looked_after_all_the_while(tmp_path: Path) -> None:
    steady = tmp_path / "steady"
    looks: list[int] = []
    stopping = threading.Event()

    def look() -> None:
        looks.append(1)
        if len(looks) == 3:
            stopping.set()

    assert keep_running({"steady": (sys.executable, "-c", CHILD, str(steady))}, stopping, look_after=look) == 0
    assert len(looks) == 3


PARENT = """
import sys, threading
from nightshift_airflow.processes import keep_running
keep_running({"one": (sys.executable, "-c", sys.argv[1], sys.argv[2])}, threading.Event(), pause_seconds=0.05)
"""
# Forks a worker, as a scheduler does, notes both, and waits.
FORKING = """
import os, sys, time
child = os.fork()
if child:
    open(sys.argv[1], "a").write(f"{os.getpid()} {child} ")
time.sleep(600)
"""


def test_what_a_killed_process_had_forked_is_ended_before_it_starts_again(tmp_path: Path) -> None:
    noted = tmp_path / "noted"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, FORKING, str(noted)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    try:
        _wait(lambda: len(_pids(noted)) == 2)
        first, worker = _pids(noted)
        os.kill(first, signal.SIGKILL)
        _wait(lambda: len(_pids(noted)) == 4)
        _wait(lambda: not _alive(worker))
        assert all(_alive(pid) for pid in _pids(noted)[2:])
    finally:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
