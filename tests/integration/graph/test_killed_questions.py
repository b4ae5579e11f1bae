"""A process that is killed at any node leaves a question that another one goes on with, and no call is paid twice."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer
from rag_core.graph.housekeeping import forget_run
from rag_core.workers.planner import Route
from rag_core.workers.sql_worker import SqlThought
from rag_core.workers.writer import WrittenAnswer, WrittenClaim
from tests.chat_endpoint import ChatEndpoint, serve_chat

pytestmark = pytest.mark.integration

NODES = (
    "plan",
    "supervise",
    "sql_worker",
    "vector_worker",
    "validate_evidence",
    "reflect",
    "synthesize",
    "evaluate",
    "explain",
)


def _sql(text: str) -> SqlThought:
    # The first attempt is at fault, so that the question passes through reflection too.
    wrong = "Your last statement failed" not in text
    sql = "SELECT name AS region, zip FROM main.regions" if wrong else "SELECT name AS region, code FROM main.regions"
    return SqlThought(sql_query=sql, explanation="regions", confidence=0.9)


REPLIES = {
    "Route": Route(
        reasoning="both",
        next_worker="both",
        task_description_sql="",
        task_description_documents="",
        clarification="",
    ),
    "SqlThought": _sql,
    "WrittenAnswer": WrittenAnswer(
        claims=[WrittenClaim(text="The regions are Nordics and Iberia.", markers=["S1"])], missing=""
    ),
}


Run = Callable[..., tuple[int, Path]]


@pytest.fixture(scope="module")
def run(store_dsn: str, repo_root: Path) -> Iterator[Run]:
    """Answers the question in a process of its own; gives its exit status and the file of its answer."""
    command = [sys.executable, "-m", "tests.integration.graph.killed_question"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=repo_root, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        given, told = process.stdin, process.stdout

        def ask(endpoint: ChatEndpoint, folder: Path, node: str, when: str, run_id: str) -> tuple[int, Path]:
            out = folder / "answer.json"
            line = {"dsn": store_dsn, "folder": str(folder), "url": endpoint.url, "run_id": run_id, "out": str(out)}
            given.write(json.dumps({**line, "node": node, "when": when}) + "\n")
            given.flush()
            return int(told.readline()), out

        yield ask
        given.close()


@pytest.fixture(scope="module")
def whole(run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Answer, list[tuple[str, str]]]:
    """The answer of a process that nobody kills, and what it asked of the endpoint."""
    with serve_chat(REPLIES) as served:
        code, out = run(served, tmp_path_factory.mktemp("whole"), "none", "before", str(uuid.uuid4()))
        assert code == 0
        return Answer.model_validate_json(out.read_text()), [(asked.output, asked.text) for asked in served.asked]


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("node", NODES)
def test_a_question_killed_at_a_node_goes_on_there(
    node: str,
    when: str,
    whole: tuple[Answer, list[tuple[str, str]]],
    run: Run,
    store_dsn: str,
    tmp_path: Path,
) -> None:
    expected, calls = whole
    run_id = str(uuid.uuid4())
    with serve_chat(REPLIES) as served:
        assert run(served, tmp_path, node, when, run_id)[0] == -signal.SIGKILL
        code, out = run(served, tmp_path, "none", when, run_id)
        assert code == 0
        asked = [(asked.output, asked.text) for asked in served.asked]
    answer = Answer.model_validate_json(out.read_text())
    assert sorted(asked) == sorted(calls), "each call is made once"
    assert (answer.status, answer.text, answer.usage) == (expected.status, expected.text, expected.usage)
    assert [entry.node for entry in answer.trace] == [entry.node for entry in expected.trace]
    with psycopg.connect(store_dsn) as connection:
        row = connection.execute(
            "SELECT count(*), sum(gen_ai_usage_input_tokens) FROM reports.fact_model_call"
            " WHERE run_id = %s AND state = 'done'",
            (run_id,),
        ).fetchone()
    assert row == (len(calls), expected.usage.prompt_tokens)


def test_the_question_passes_every_node_and_asks_every_output(
    whole: tuple[Answer, list[tuple[str, str]]],
) -> None:
    answer, calls = whole
    assert {entry.node for entry in answer.trace} == set(NODES)
    assert [output for output, _ in calls] == ["Route", "SqlThought", "SqlThought", "WrittenAnswer"]
    assert answer.usage.model_calls == len(calls)


def test_an_ended_run_leaves_no_checkpoint_and_no_reply(run: Run, store_dsn: str, tmp_path: Path) -> None:
    run_id, other = str(uuid.uuid4()), str(uuid.uuid4())
    with serve_chat(REPLIES) as served:
        for name in (run_id, other):
            assert run(served, tmp_path, "explain", "before", name)[0] == -signal.SIGKILL
    store = Store(store_dsn)
    forget_run(store, run_id)
    with psycopg.connect(store_dsn) as connection:

        def count(name: str) -> tuple[int, ...]:
            statements = (
                "SELECT count(*) FROM nightshift.checkpoints WHERE starts_with(thread_id, %s)",
                "SELECT count(*) FROM nightshift.checkpoint_blobs WHERE starts_with(thread_id, %s)",
                "SELECT count(*) FROM nightshift.checkpoint_writes WHERE starts_with(thread_id, %s)",
                "SELECT count(*) FROM nightshift.model_reply WHERE run_id = %s",
            )
            rows = [connection.execute(text, (name,)).fetchone() for text in statements]
            return tuple(row[0] for row in rows if row is not None)

        assert count(run_id) == (0, 0, 0, 0)
        assert all(count(other)), "another run's are left alone"
        connection.execute(
            "UPDATE nightshift.checkpoints"
            " SET checkpoint = jsonb_set(checkpoint, '{ts}', '\"2020-01-01T00:00:00+00:00\"')"
            " WHERE starts_with(thread_id, %s)",
            (other,),
        )
        connection.commit()
        assert forget_run(store, "no-run") == 1
        assert count(other)[:3] == (0, 0, 0)
    store.close()
