"""One DAG a batch file; a malformed one shows its problem and stops no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from nightshift_airflow.defaults import read_batch_file, read_batch_files, sort_batch_files
from rag_core.batch.definition import read_batch
from rag_core.errors import ConfigurationError
from tests.dags.conftest import ROOT, Load

FACTORY = ROOT / "dags" / "run_question_batches_dag.py"
GOOD = """title: Daily check
owner: analytics
schedule: "0 3 * * *"
timezone: UTC
questions:
  - {question_id: revenue, text: What was revenue last quarter?}
"""
MALFORMED = {
    "not_yaml": ("title: [unclosed\n", "is not YAML"),
    "a_list": ("- one\n- two\n", "is not a mapping"),
    "empty": ("", "is not a mapping"),
    "number_as_schedule": ("title: x\nowner: y\nschedule: 3\n", "schedule must be text, not int"),
    "list_as_owner": ("title: x\nowner: [a, b]\n", "owner must be text, not list"),
    "four_fields": ("title: x\nowner: y\nschedule: 0 5 * *\n", "schedule: a schedule has five fields .*, not 4$"),
    "a_preset": ("title: x\nowner: y\nschedule: '@daily'\n", r"schedule: .*for @daily write 0 0 \* \* \*$"),
    "no_zone": ("title: x\nowner: y\ntimezone: Mars/Base\n", "timezone: 'Mars/Base' is no time zone: use a name"),
    "bad_value": ("title: x\nowner: y\nwhen: 2026-13-45\n", "is not YAML"),
}


def _write(folder: Path, **files: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", sorted(MALFORMED))
def test_a_malformed_file_is_refused_in_one_line_that_names_it(tmp_path: Path, name: str) -> None:
    text, reason = MALFORMED[name]
    folder = _write(tmp_path / "batches", **{name: text})

    with pytest.raises(ConfigurationError, match=f"{name}.yaml.*{reason}") as refused:
        read_batch_files(folder)

    assert "\n" not in str(refused.value)


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "latin.yaml").write_bytes("title: Prüfung\n".encode("latin-1"))
    with pytest.raises(ConfigurationError, match=r"latin\.yaml is not text in UTF-8"):
        read_batch_file(tmp_path / "latin.yaml")


def test_a_file_of_fifty_megabytes_is_not_read_at_every_parse(tmp_path: Path) -> None:
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.write(GOOD.encode())
        file.truncate(50_000_000)
    with pytest.raises(ConfigurationError, match=r"huge\.yaml: a batch file may have at most 2,000,000 bytes"):
        read_batch_file(path)


def test_a_dangling_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    with pytest.raises(ConfigurationError, match=r"gone\.yaml cannot be read: No such file"):
        read_batch_file(tmp_path / "gone.yaml")


@pytest.mark.parametrize("name", ["Two Words", "UPPER", "1st", "with-dash", "a" * 64])
def test_a_name_that_cannot_be_a_batch_is_refused(tmp_path: Path, name: str) -> None:
    folder = _write(tmp_path / "batches", **{name: GOOD})
    with pytest.raises(ConfigurationError, match="is named with small letters"):
        read_batch_files(folder)


def test_good_files_are_sorted_from_broken_ones(tmp_path: Path) -> None:
    folder = _write(tmp_path / "batches", daily=GOOD, torn="title: [", weekly=GOOD)

    good, broken = sort_batch_files(folder)

    assert [head.dag_id for head in good] == ["batch_daily", "batch_weekly"]
    assert [(file.dag_id, "torn.yaml is not YAML" in file.problem) for file in broken] == [("batch_torn", True)]


def test_a_schedule_is_refused_with_the_words_of_the_validation(tmp_path: Path) -> None:
    schedules = ["0 5 * *", "@daily", "99 3 * * *", "0 0 31 2 *", "every day"]
    names = [f"batch_{number}" for number in range(len(schedules))]
    texts = [GOOD.replace("0 3 * * *", schedule) for schedule in schedules]
    _, broken = sort_batch_files(_write(tmp_path / "batches", **dict(zip(names, texts, strict=True))))

    for file in broken:
        _, (problem,) = read_batch(file.path)
        assert file.problem == f"{Path(file.path).name}: {problem.key}: {problem.message}"
    assert len(broken) == len(schedules)


def test_the_repository_holds_no_broken_file() -> None:
    good, broken = sort_batch_files(ROOT / "config" / "batches")
    assert broken == []
    assert len(good) >= 2


def test_broken_files_leave_the_dags_of_the_others_alone(tmp_path: Path, load_dag_file: Load) -> None:
    folder = _write(
        tmp_path / "batches",
        **{"daily": GOOD, "manual": GOOD.replace('"0 3 * * *"', "null"), "torn": "title: [", "no name": GOOD},
        never=GOOD.replace("0 3 * * *", "99 3 * * *"),
        nowhere=GOOD.replace("timezone: UTC", "timezone: Mars/Base"),
    )

    dags = load_dag_file(FACTORY, batches=folder)["dags"]

    healthy = {dag_id for dag_id, dag in dags.items() if "broken" not in dag["tags"]}
    assert healthy == {"batch_daily", "batch_manual"}
    assert dags["batch_daily"]["timetable"] == "CronTriggerTimetable"
    assert dags["batch_manual"]["timetable"] == "NullTimetable"
    broken = {dag_id: dag for dag_id, dag in dags.items() if dag_id not in healthy}
    assert all(set(dag["tasks"]) == {"explain"} and dag["timetable"] == "NullTimetable" for dag in broken.values())
    assert "torn.yaml is not YAML" in broken.pop("batch_torn")["doc"]
    assert "never.yaml: schedule: '99' is no minute of a schedule" in broken.pop("batch_never")["doc"]
    assert "Mars/Base" in broken.pop("batch_nowhere")["doc"]
    ((dag_id, dag),) = broken.items()
    assert dag_id.startswith("batch-no_name-")
    assert "no name.yaml: a batch file is named" in dag["doc"]


def test_no_batch_file_at_all_is_no_error(tmp_path: Path, load_dag_file: Load) -> None:
    assert load_dag_file(FACTORY, batches=_write(tmp_path / "batches"))["dags"] == {}


def test_a_hundred_batch_files_cost_one_reading_each_and_no_further_import(tmp_path: Path, load_dag_file: Load) -> None:
    one = load_dag_file(FACTORY, batches=_write(tmp_path / "one", batch_000=GOOD))
    names = [f"batch_{number:03d}" for number in range(100)]
    many = load_dag_file(FACTORY, batches=_write(tmp_path / "many", **dict.fromkeys(names, GOOD)))

    assert many["count"] == 100
    assert many["read"] == [f"{name}.yaml" for name in names]
    assert many["modules"] == one["modules"]
    assert many["took"] == []


WAITING = """title: After the night
owner: analytics
after: [documents, warehouse_schema, daily]
deadline_minutes: 45
notify: {webhook: true}
questions:
  - {question_id: revenue, text: What was revenue last quarter?}
"""


@pytest.mark.airflow
def test_a_batch_waits_for_assets_has_a_deadline_and_tells(tmp_path: Path, load_dag_file: Load) -> None:
    told = load_dag_file(FACTORY, batches=_write(tmp_path / "batches", daily=GOOD, waiting=WAITING))
    dag = told["dags"]["batch_waiting"]
    assert dag["assets"] == [
        "nightshift://documents/",
        "nightshift://reports/daily",
        "nightshift://warehouse-schema/",
    ]
    assert dag["catchup"] is False
    assert dag["deadline"] == ["DagRunQueuedAtDeadline", 45, "nightshift_airflow.notices.deadline_missed"]
    assert "tell" in dag["tasks"]
    assert "tell" not in told["dags"]["batch_daily"]["tasks"]
    assert told["dags"]["batch_daily"]["deadline"] is None


@pytest.mark.airflow
def test_a_batch_catches_up_from_its_day_in_its_own_time_zone(tmp_path: Path, load_dag_file: Load) -> None:
    text = GOOD.replace("timezone: UTC", "timezone: Asia/Tokyo\ncatch_up_from: 2026-07-01")
    dags = load_dag_file(FACTORY, batches=_write(tmp_path / "batches", daily=GOOD, caught=text))["dags"]
    assert (dags["batch_caught"]["catchup"], dags["batch_caught"]["start"]) == (True, "2026-06-30T15:00:00+00:00")
    assert (dags["batch_daily"]["catchup"], dags["batch_daily"]["start"]) == (False, None)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("catch_up_from: yes", "catch_up_from must be a day"),
        ("after: documents", "after must be a list"),
        ("after: [Two Words]", "after must be a list"),
        ('after: [documents]\nschedule: "0 2 * * *"', "a schedule or an `after`, not both"),
        ("deadline_minutes: soon", "deadline_minutes must be a number of minutes"),
        ("deadline_minutes: true", "deadline_minutes must be a number of minutes"),
    ],
)
def test_a_head_that_cannot_be_scheduled_is_refused(tmp_path: Path, line: str, reason: str) -> None:
    folder = _write(tmp_path / "batches", bad=f"title: T\nowner: o\n{line}\n")
    with pytest.raises(ConfigurationError, match=reason):
        read_batch_files(folder)
