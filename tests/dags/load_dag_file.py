"""Loads the DAG file of the first argument in this new process and tells, as the last line of its output, what it did.

`dags` (id, tags, schedule, deadline and documentation of each), `modules` (everything imported), `took` (databases and
sockets that were opened while the file loaded), `read` (the YAML files that were opened, one entry an opening).
"""

import importlib.util
import json
import sys
from datetime import UTC
from pathlib import Path

# Airflow itself is not what is tested: what it imports and opens is there before the file loads.
from airflow.sdk.definitions._internal.contextmanager import DagContext
from airflow.timetables.trigger import CronTriggerTimetable  # noqa: F401

took: list[str] = []
read: list[str] = []


def watch(event: str, arguments: tuple) -> None:
    if event in {"socket.connect", "sqlite3.connect", "subprocess.Popen", "os.system", "os.fork"}:
        took.append(f"{event} {arguments!r:.200}")
    elif event == "open" and str(arguments[0]).endswith((".yaml", ".yml")):
        read.append(Path(str(arguments[0])).name)


def assets(dag) -> list:
    return sorted(asset.uri for asset in getattr(dag.timetable.asset_condition, "objects", ()))


def deadlines(dag) -> list | None:
    if not dag.deadline:
        return None
    alert = dag.deadline[0]
    return [alert.reference.reference_name, alert.interval.total_seconds() / 60, alert.callback.path]


before = set(sys.modules)
sys.addaudithook(watch)
path = Path(sys.argv[1])
spec = importlib.util.spec_from_file_location(path.stem, path)
assert spec is not None
assert spec.loader is not None
module = importlib.util.module_from_spec(spec)
# As Airflow's importer does: DAGs made by a call at the top of the file register themselves.
sys.modules[path.stem] = module
DagContext.current_autoregister_module_name = path.stem
spec.loader.exec_module(module)

found = [dag for dag, _ in DagContext.autoregistered_dags]
told = {
    "dags": {
        dag.dag_id: {
            "tags": sorted(dag.tags),
            "doc": dag.doc_md,
            "title": dag.dag_display_name,
            "timetable": type(dag.timetable).__name__,
            "tasks": {task.task_id: sorted(task.downstream_task_ids) for task in dag.tasks},
            "owners": sorted({task.owner for task in dag.tasks}),
            "catchup": dag.catchup,
            "start": dag.start_date.astimezone(UTC).isoformat() if dag.start_date is not None else None,
            "assets": assets(dag),
            "deadline": deadlines(dag),
        }
        for dag in sorted(found, key=lambda dag: dag.dag_id)
    },
    "count": len(found),
    "modules": sorted(sys.modules),
    "own": sorted(set(sys.modules) - before),
    "took": took,
    "read": sorted(read),
}
sys.stdout.write("\n" + json.dumps(told) + "\n")
