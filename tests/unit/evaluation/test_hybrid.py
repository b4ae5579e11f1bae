from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rag_core.cli.eval_orchestration import TEXT_SETS
from rag_core.cli.main import build_app
from rag_core.datamodel.answer import Answer, Citation, Claim, Verdict
from rag_core.errors import ConfigurationError
from rag_core.evaluation.hybrid_questions import (
    HybridQuestion,
    read_questions,
    read_texts,
    sample_questions,
    tables_file,
)
from rag_core.evaluation.hybrid_runs import run_hybrid, summarise_hybrid
from rag_core.evaluation.hybrid_scoring import HybridScore, holds_gold, is_exact, score_hybrid, token_f1
from rag_core.evaluation.score_files import read_scores
from tests.evidence import sql_evidence


def question(text: str, *gold: str, **more: Any) -> HybridQuestion:
    return HybridQuestion(**({"question_id": "q", "text": text, "route": "text", "gold": gold} | more))


def answer(*claims: str, status: str = "answered", **more: Any) -> Answer:
    return Answer(
        question="?",
        run_date="2020-12-31",
        status=status,
        text=" ".join(claims),
        strategy="none",
        query_type="documents",
        claims=tuple(Claim(text=text, markers=("D1",)) for text in claims),
        verdict=Verdict(supported=True),
        **more,
    )


def write(folder: Path, name: str, rows: list[dict[str, Any]]) -> None:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")


def test_ottqa_is_read_with_the_place_of_each_answer(tmp_path: Path) -> None:
    row: dict[str, Any] = {
        "id": "a1",
        "question": "Who kept the light ? ",
        "answer": "Ada Holm",
        "table": "wiki.c_lights",
    }
    places = (["passage"], ["table"], ["passage", "table"])
    rows = [{**row, "id": f"a{n}", "answer_location": place, "gold_docs": []} for n, place in enumerate(places)]
    write(tmp_path / "ottqa_hybrid", "questions.jsonl", rows)
    text = {"doc_id": "/wiki/Ada_Holm", "title": "Ada Holm", "text": "A keeper.", "linked_tables": ["c_lights"]}
    write(tmp_path / "ottqa_hybrid", "documents.jsonl", [text])
    questions = read_questions("ottqa", tmp_path)
    assert [item.route for item in questions] == ["text", "table", "both"]
    assert questions[0] == question("Who kept the light ?", "Ada Holm", question_id="a0", table="c_lights")
    (read,) = read_texts("ottqa", tmp_path)
    assert (read.key, read.title, read.tables) == ("wiki/Ada_Holm", "Ada Holm", ("c_lights",))


def test_tatqa_is_read_with_scale_and_the_paragraphs_of_a_report_as_one_text(tmp_path: Path) -> None:
    row: dict[str, Any] = {"context_id": "dev7", "question": "How much?", "derivation": "", "gold_docs": []}
    rows = [
        {**row, "id": "1", "answer": ["$5", "6"], "answer_type": "multi-span", "scale": "million", "route": "sql"},
        {**row, "id": "2", "answer": -1.5, "answer_type": "arithmetic", "scale": "percent", "route": "hybrid"},
        {**row, "id": "3", "answer": "4", "answer_type": "count", "scale": "", "route": "vector"},
    ]
    write(tmp_path / "tatqa_hybrid", "dev_questions.jsonl", rows)
    parts = [{"doc_id": f"dev7-p{n}", "context_id": "dev7", "text": f"Part {n}."} for n in (1, 2)]
    write(tmp_path / "tatqa_hybrid", "dev_documents.jsonl", parts)
    read = read_questions("tatqa", tmp_path)
    assert [(item.route, item.gold, item.number, item.scale, item.scope) for item in read] == [
        ("table", ("$5", "6"), False, "million", "dev7"),
        ("both", ("-1.5",), True, "percent", "dev7"),
        ("text", ("4",), True, "", "dev7"),
    ]
    assert [(text.key, text.text) for text in read_texts("tatqa", tmp_path)] == [("dev7", "Part 1.\n\nPart 2.")]
    with pytest.raises(ConfigurationError, match="dev_schema_and_rows"):
        tables_file("tatqa", tmp_path)


def test_a_sample_has_its_share_of_each_route_and_another_seed_draws_another() -> None:
    questions = [
        question("?", "x", question_id=f"{route}{n}", route=route)
        for route, size in (("table", 10), ("text", 20), ("both", 10))
        for n in range(size)
    ]
    drawn = sample_questions(questions, 8)
    assert sorted(item.route for item in drawn) == ["both"] * 2 + ["table"] * 2 + ["text"] * 4
    assert drawn == sample_questions(questions, 8)
    assert drawn != sample_questions(questions, 8, seed=1)
    assert sample_questions(questions, 0) == questions


@pytest.mark.parametrize(
    ("asked", "claim", "holds"),
    [
        (question("Who kept it?", "Ada Holm"), "It was kept by Ada Holm from 1901.", True),
        (question("Who kept it?", "Ada Holm"), "It was kept by Ada Holmgren.", False),
        (question("When was it lit?", "1986"), "It was lit in 1986.", True),
        (question("What is it?", "the café"), "A cafe, it was.", True),
        # What the question says itself is chosen only by standing alone.
        (question("Was Oslo or Bergen first?", "Oslo"), "Oslo and Bergen are towns.", False),
        (question("Was Oslo or Bergen first?", "Oslo"), "Oslo.", True),
        (question("Which?", "red", "blue"), "It is blue and red.", True),
        (question("Which?", "red", "blue"), "It is blue.", False),
        # Figures: as printed, or with the scale, rounded as shown; the sign counts.
        (question("Sales?", "$1,496.5", scale="million"), "Sales were 1,496.5.", True),
        (question("Sales?", "$1,496.5", scale="million"), "Sales were $1.4965 billion.", True),
        (question("Sales?", "$1,496.5", scale="million"), "Sales were $1,496.5 thousand.", False),
        (question("Change?", "-22.22", number=True, scale="percent"), "It fell by 22.2%.", True),
        (question("Change?", "-22.22", number=True, scale="percent"), "It grew by 22.2%.", False),
        (question("Change?", "-12.6", number=True), "The change was (12.6).", True),
        (question("How many?", "4", number=True), "There are four of them.", True),
        (question("How many?", "4", number=True), "There are 14 of them.", False),
    ],
)
def test_an_answer_holds_what_it_says(asked: HybridQuestion, claim: str, holds: bool) -> None:
    assert holds_gold(asked, [claim], []) is holds


def test_a_result_answers_with_as_many_rows_as_were_asked_for() -> None:
    asked = question("Sales?", "1,496.5", number=True, scale="million")
    assert holds_gold(asked, [], [(1496.5,)])
    assert not holds_gold(asked, [], [(1496.5,), (3.0,)])
    cited = (Citation(marker="S1", kind="sql", ref="SELECT 1", excerpt=""),)
    rows = (sql_evidence({"n": "numeric"}, (1496.5,)),)
    assert score_hybrid(asked, answer(citations=cited, sql=rows), seconds=0.1).verdict == "right"
    # A result that nothing cites is none of the answer.
    assert score_hybrid(asked, answer(sql=rows), seconds=0.1).verdict == "wrong"


def test_exact_is_the_bare_answer_with_its_scale() -> None:
    assert is_exact(question("Who?", "The Holm"), ["Holm!"], [])
    assert not is_exact(question("Who?", "Holm"), ["Holm kept it."], [])
    sales = question("Sales?", "$1,496.5", scale="million")
    assert is_exact(sales, ["1,496.5 million"], [])
    assert not is_exact(sales, ["1,496.5"], [])
    assert is_exact(question("Which?", "red", "blue"), ["blue", "red"], [])
    assert not is_exact(question("Which?", "red", "blue"), ["blue", "red", "green"], [])
    assert is_exact(question("Which?", "red", "blue"), [], [("blue", 1), ("red", 2)])
    assert token_f1("Ada Holm", "kept by Ada") == pytest.approx(0.4)
    assert token_f1("Ada", "nobody") == 0.0


def test_a_run_goes_on_where_it_stopped_and_counts_each_verdict(tmp_path: Path) -> None:
    questions = [question("Who?", "Ada", question_id=str(n), route="table" if n else "both") for n in range(4)]
    answers = {
        "0": answer("Ada."),
        "1": answer("Bo."),
        "2": answer("Ada, it seems.", status="partial"),
        "3": answer("Bo.", status="needs_model"),
    }
    asked: list[str] = []

    def ask(item: HybridQuestion) -> Answer:
        asked.append(item.question_id)
        return answers[item.question_id]

    path = tmp_path / "scores" / "a.jsonl"
    run_hybrid(questions[:2], ask, path)
    with path.open("a") as file:
        file.write('{"question_id": "2", "cut')
    scores = run_hybrid(questions, ask, path)
    assert asked == ["0", "1", "2", "3"]
    assert [score.verdict for score in scores] == ["right", "wrong", "partial", "nothing"]
    assert [score.f1 for score in scores] == [1.0, 0.0, 0.5, 0.0]
    assert read_scores(path, HybridScore) == scores
    rows = {row["answer_in"]: row for row in summarise_hybrid(scores)}
    assert list(rows) == ["table", "both", "all"]
    assert [rows["all"][name] for name in ("questions", "right", "wrong", "partial", "nothing")] == [4, 1, 1, 1, 1]
    assert (rows["table"]["partial_holds"], rows["all"]["exact"]) == (1, 0.25)


def test_the_sets_over_texts_are_known_to_the_command() -> None:
    build_app()
    assert set(TEXT_SETS) == {"ottqa", "tatqa"}
