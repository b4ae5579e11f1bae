"""How long the batch DAGs take to parse, by the number of batch files: python bench/dags/parse.py [--repeat N].

Each figure is the median over new processes, as Airflow's dag-processor starts one for each parse: the seconds that the
DAG file takes after Airflow itself is imported, and the largest memory of the process.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[2]
FACTORY = ROOT / "dags" / "run_question_batches_dag.py"
PROBE = """
import importlib.util, json, resource, sys, time
import airflow.sdk, airflow.timetables.trigger
started = time.perf_counter()
spec = importlib.util.spec_from_file_location("probe", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
seconds = time.perf_counter() - started
dags = len({id(value) for value in vars(module).values() if isinstance(value, airflow.sdk.DAG)})
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, dags]))
"""


def write_batches(folder: Path, count: int, questions: int) -> None:
    """Writes `count` batch files of `questions` questions each."""
    for number in range(count):
        lines = [f"  - {{question_id: q_{i}, text: What was revenue in month {i}?}}" for i in range(questions)]
        head = f"title: Batch {number}\nowner: analytics\nschedule: '0 3 * * *'\ntimezone: UTC\nquestions:\n"
        (folder / f"batch_{number:03d}.yaml").write_text(head + "\n".join(lines) + "\n", encoding="utf-8")


def measure(folder: Path, home: Path) -> tuple[float, float, int]:
    """Seconds, megabytes and DAGs of one parse in a new process."""
    environment = {**os.environ, "AIRFLOW_HOME": str(home), "NIGHTSHIFT_BATCH__FOLDER": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(FACTORY)], env=environment, capture_output=True, text=True, check=True
    )
    seconds, megabytes, dags = json.loads(done.stdout.splitlines()[-1])
    return float(seconds), float(megabytes), int(dags)


def main() -> None:
    """Prints a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    print("| batch files | DAGs | seconds | MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for count in (1, 10, 100, 300):
            folder = Path(scratch) / f"batches_{count}"
            folder.mkdir()
            write_batches(folder, count, options.questions)
            runs = [measure(folder, Path(scratch) / "airflow") for _ in range(options.repeat)]
            seconds, megabytes = median(run[0] for run in runs), median(run[1] for run in runs)
            print(f"| {count} | {runs[0][2]} | {seconds:.2f} | {megabytes:.0f} |")


if __name__ == "__main__":
    main()
