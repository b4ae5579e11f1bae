from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from rag_core.cli import eval_orchestration
from rag_core.cli.eval_orchestration import build_systems, name_systems, run_sample
from rag_core.datamodel.answer import Answer, Citation, Claim, Verdict
from rag_core.errors import ConfigurationError
from rag_core.evaluation.questions import SIZES, EvalQuestion, compose_questions, draw_evenly
from rag_core.evaluation.runs import run_questions, summarise, to_markdown
from rag_core.evaluation.score_files import read_scores
from rag_core.evaluation.scoring import Score, score_answer
from rag_core.evaluation.systems import Baselines
from rag_core.workers.writer import WrittenAnswer
from tests.evidence import passage, sql_evidence
from tests.question_world import ScriptedModel, open_world

sample_facts = pytest.importorskip("sample.facts")
BOTH = EvalQuestion(
    question_id="m-1",
    tier="moderate",
    text="How many, and why?",
    values=("12.5",),
    phrases=("port strike",),
    documents=("docs/a-document.md",),
    needs_sql=True,
)


def answer(text: str, *, status: str = "answered", value: float = 12.5, **more: Any) -> Answer:
    values: dict[str, Any] = {
        "claims": (Claim(text=text, markers=("S1",), supported=True),),
        "citations": (
            Citation(marker="S1", kind="sql", ref="SELECT 1", excerpt=""),
            Citation(marker="D1", kind="document", ref="docs/a-document.md#Cause", excerpt=""),
        ),
        "sql": (sql_evidence({"n": "numeric"}, (value,)),),
        "documents": (passage("The port strike of 2025."),),
    }
    return Answer(
        question=BOTH.text,
        run_date="2026-07-01",
        status=status,
        text=text,
        strategy="metric",
        query_type="both",
        verdict=Verdict(supported=True, relevance=1.0, citation_accuracy=1.0),
        **(values | more),
    )


def test_two_hundred_questions_by_tier_each_with_a_truth_and_the_same_each_time() -> None:
    facts = sample_facts.load_facts()
    questions = compose_questions(facts)
    assert Counter(question.tier for question in questions) == SIZES
    assert len({question.question_id for question in questions}) == 200
    assert all(question.points for question in questions)
    assert all(q.needs_sql and q.phrases for q in questions if q.tier != "simple")
    assert questions == compose_questions(facts)


def test_a_limit_draws_each_kind_of_every_tier_and_twice_as_many_hold_the_same() -> None:
    questions = compose_questions(sample_facts.load_facts())
    drawn = draw_evenly(questions, 4)
    assert Counter(question.tier for question in drawn) == dict.fromkeys(SIZES, 4)
    simple = [question for question in drawn if question.tier == "simple"]
    assert Counter(question.needs_sql for question in simple) == {True: 2, False: 2}
    assert {len(question.question_id.split("-")) for question in drawn} == {2, 3, 4}
    assert {question.question_id for question in drawn} < {one.question_id for one in draw_evenly(questions, 8)}
    assert draw_evenly(questions, 100) == questions


def test_an_answer_is_right_only_with_every_point() -> None:
    right = score_answer(BOTH, answer("12.5, by the port strike."), system="a", seconds=1.0)
    assert (right.verdict, right.held, right.points, right.source_recall) == ("right", 2, 2, 1.0)
    assert (right.reciprocal_rank, right.success, right.unsupported) == (1.0, True, 0)
    wrong = score_answer(BOTH, answer("12.5, by rain."), system="a", seconds=1.0)
    assert (wrong.verdict, wrong.silent) == ("wrong", True)
    partial = score_answer(BOTH, answer("12.5, by rain.", status="partial"), system="a", seconds=1.0)
    assert (partial.verdict, partial.silent) == ("withheld", False)
    other = score_answer(BOTH, answer("12.5, by the port strike.", value=13), system="a", seconds=1.0)
    assert other.verdict == "wrong"


def test_a_source_is_recalled_in_whatever_format_it_was_indexed() -> None:
    asked = BOTH.model_copy(update={"documents": ("docs/a-document.docx",)})
    score = score_answer(asked, answer("12.5, by the port strike."), system="a", seconds=1.0)
    assert (score.source_recall, score.reciprocal_rank) == (1.0, 1.0)
    other = BOTH.model_copy(update={"documents": ("docs/a-document-2024.md",)})
    assert score_answer(other, answer("12.5"), system="a", seconds=1.0).source_recall == 0.5


def test_a_refusal_holds_no_point_even_where_its_text_does() -> None:
    refused = score_answer(BOTH, answer("No port strike was found.", status="no_evidence"), system="a", seconds=1.0)
    assert (refused.verdict, refused.held, refused.claims) == ("withheld", 0, 0)


def test_a_number_that_stands_nowhere_is_unsupported() -> None:
    assert score_answer(BOTH, answer("It was 99 by the port strike."), system="a", seconds=1.0).unsupported == 1
    assert score_answer(BOTH, answer("It was 12.5 in 2025."), system="a", seconds=1.0).unsupported == 0


def test_a_stopped_run_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    asked: list[str] = []

    def system(text: str) -> Answer:
        asked.append(text)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return answer("12.5, by the port strike.")

    questions = [BOTH.model_copy(update={"question_id": f"m-{n}", "text": f"Question {n}?"}) for n in range(3)]
    with pytest.raises(KeyboardInterrupt):
        run_questions(questions, {"a": system}, path)
    path.write_text(path.read_text() + '{"question_id": "m-1", "sys')  # a line that was cut off
    scores = run_questions(questions, {"a": system}, path)
    assert asked == ["Question 0?", "Question 1?", "Question 1?", "Question 2?"]
    assert [score.question_id for score in scores] == ["m-0", "m-1", "m-2"]
    assert read_scores(path, Score) == scores
    run_questions(questions, {"a": system}, path)
    assert len(asked) == 4


def test_scores_of_another_chat_model_are_not_this_runs(tmp_path: Path) -> None:
    path = tmp_path / "scores.jsonl"
    asked: list[str] = []
    systems = {"a": lambda text: (asked.append(text), answer("12.5, by the port strike."))[1]}
    for model in ("", "small", "small", ""):
        scores = run_questions([BOTH], systems, path, model=model)
        assert [score.model for score in scores] == [model]
    assert len(asked) == 2


def test_figures_are_shares_by_system_and_tier() -> None:
    scores = [
        score_answer(BOTH, answer("12.5, by the port strike."), system="a", seconds=1.0),
        score_answer(BOTH, answer("12.5, by rain."), system="a", seconds=3.0),
    ]
    rows = summarise(scores)
    assert [row["tier"] for row in rows] == ["moderate", "all"]
    assert (rows[0]["right"], rows[0]["wrong"], rows[0]["p50_seconds"]) == (0.5, 0.5, 2.0)
    assert to_markdown(rows).startswith("| system | tier | questions | right |")
    assert to_markdown([]) == ""


def test_baselines_ask_each_tool_once_with_the_whole_question(tmp_path: Path) -> None:
    world = open_world(tmp_path)
    parts = world._nodes
    baselines = Baselines(
        search=parts.search.search,
        warehouse=parts.sql_worker().warehouse,
        guard=parts.sql_worker().guard,
        semantic_model=parts.planner.semantic_model,
        values=parts.planner._matcher.values,
        worker=parts.sql_worker(),
        run_date=answer("").run_date,
    )
    figure = baselines.flat_agent("What was the revenue of the Nordics in 2026?")
    assert (figure.status, figure.sql[0].result.rows[0][0]) == ("answered", 3050)
    both = "What was the revenue of the Nordics in 2026, and why did it fall?"
    assert baselines.flat_agent(both).sql == ()
    assert world.answer(both, run_date=figure.run_date).sql
    assert baselines.standard_rag(both).citations[0].kind == "document"
    assert baselines.standard_rag("xyzzy").status == "no_evidence"


def test_baselines_ask_the_chat_model_where_there_is_one_and_else_are_called_extractive(tmp_path: Path) -> None:
    nodes = open_world(tmp_path)._nodes
    worker = nodes.sql_worker()
    parts: dict[str, Any] = {
        "warehouse": worker.warehouse,
        "guard": worker.guard,
        "catalog_cache": SimpleNamespace(current=lambda: worker.catalog),
        "semantic_model": nodes.planner.semantic_model,
        "values": nodes.planner.matcher.values,
        "search": nodes.search.search,
        "router_model": None,
        "embedder": None,
        "settings": SimpleNamespace(batch=SimpleNamespace(question_seconds=60.0)),
        "run_date": lambda: answer("").run_date,
    }
    names = ["standard_rag", "flat_agent", "hierarchical", "without_metrics"]
    quoting = build_systems(SimpleNamespace(chat_model=None, **parts), names)
    assert list(quoting) == ["standard_rag_extractive", "flat_agent_extractive", "hierarchical", "without_metrics"]
    asked = "Why did the revenue of the Nordics fall?"
    assert quoting["standard_rag_extractive"](asked).usage.model_calls == 0
    model = ScriptedModel(WrittenAnswer=[WrittenAnswer(claims=[], missing="")])
    by_model = build_systems(SimpleNamespace(chat_model=model, **parts), names)
    assert list(by_model) == names
    assert by_model["standard_rag"](asked).usage.model_calls == 1


def test_a_set_or_a_system_that_is_none_is_named() -> None:
    with pytest.raises(ConfigurationError, match="no such set: nothing"):
        run_sample("nothing", ["hierarchical"], 0, None)
    with pytest.raises(ConfigurationError, match="no such system: nobody"):
        run_sample("sample", ["nobody"], 0, None)


def test_what_is_left_out_runs_beside_the_whole() -> None:
    assert name_systems(None, None) == ["standard_rag", "flat_agent", "hierarchical"]
    assert name_systems(None, ["metrics"]) == ["hierarchical", "without_metrics"]
    assert name_systems(["flat_agent"], ["all", "metrics"]) == [
        "flat_agent",
        "without_decomposition",
        "without_reflection",
        "without_metrics",
    ]
    with pytest.raises(ConfigurationError, match="nothing to leave out is called thought"):
        name_systems(None, ["thought"])


def test_without_decomposition_a_question_is_one_part(tmp_path: Path) -> None:
    both = "What was the revenue of the Nordics in 2026, and who carried the extra freight?"
    day = answer("").run_date
    assert len(open_world(tmp_path).answer(both, run_date=day).sql) == 1
    assert open_world(tmp_path, decompose=False).answer(both, run_date=day).sql == ()
    dependent = "Which region had the highest revenue in 2026, and how many orders did that region have?"
    assert open_world(tmp_path).answer(dependent, run_date=day).strategy == "decomposed"
    assert open_world(tmp_path, decompose=False).answer(dependent, run_date=day).strategy != "decomposed"


def test_the_command_leaves_out_what_it_was_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []
    monkeypatch.setattr(eval_orchestration, "run_sample", lambda _, systems, *__: asked.append(systems) or [])
    app = typer.Typer()
    eval_orchestration.register(app)
    app.command("other")(lambda: None)
    assert CliRunner().invoke(app, ["orchestration", "--without", "metrics"]).exit_code == 0
    assert asked == [["hierarchical", "without_metrics"]]
