"""The scheduler that loads what its tasks need: nothing of it breaks in a fork, and no task imports it again."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.integration

# As Airflow does it: the parent imports, the child that it forks embeds with several threads and judges a result.
FORKED = """
import os, sys, threading
from nightshift_airflow.warm_scheduler import load_modules

load_modules()
assert threading.enumerate() == [threading.main_thread()], threading.enumerate()
child = os.fork()
if child == 0:
    known = {name.partition(".")[0] for name in sys.modules}
    from rag_core.connectors.embedder import load_embedder
    from rag_core.quality.observation import Observation
    from rag_core.quality.validate import judge
    import great_expectations, sentence_transformers, torch

    torch.set_num_threads(2)
    vectors = load_embedder("packaged:all-minilm-l6-v2").embed(["open tickets by month"] * 40)
    checks = judge([Observation(question_id="q", check_id="c", severity="critical", description="d", observed=1,
                                lower=0, upper=2)])
    late = {name.partition(".")[0] for name in sys.modules} - known
    print(len(vectors), checks[0].verdict, sorted(late & {"torch", "transformers", "great_expectations", "pandas"}))
    sys.stdout.flush()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_forked_task_finds_its_libraries_loaded_and_working() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip().splitlines()[-1] == "40 pass []"
