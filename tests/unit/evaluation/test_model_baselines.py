from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from pydantic import BaseModel

from rag_core.datamodel.answer import Answer, Usage
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.errors import BudgetExhausted, ModelFault, ServiceUnavailable
from rag_core.evaluation.model_baselines import MAX_CALL_CHARACTERS, MAX_CALLS, AgentCall, ModelBaselines
from rag_core.evaluation.questions import EvalQuestion
from rag_core.evaluation.scoring import score_answer
from rag_core.schema.knowledge import Known
from rag_core.schema.visible import visible_catalog
from rag_core.workers.writer import MAX_PASSAGE_CHARACTERS, WrittenAnswer, WrittenClaim
from tests.evidence import passage
from tests.question_world import ScriptedModel, WordSearch, open_world

BOTH = "What was the revenue of the Nordics in 2026, and why did the revenue of the Nordics fall?"
REVENUE = "SELECT sum(total) AS revenue FROM main.orders WHERE region_code = 'NOR'"
QUESTION = EvalQuestion(
    question_id="m-1",
    tier="moderate",
    text=BOTH,
    values=("3050",),
    phrases=("port strike",),
    documents=("docs/strike-report.md",),
    needs_sql=True,
)


def baselines(folder: Path, model: ScriptedModel, search: WordSearch | None = None) -> ModelBaselines:
    nodes = open_world(folder)._nodes
    worker = nodes.sql_worker()
    return ModelBaselines(
        model=model,
        search=search or WordSearch(),
        warehouse=worker.warehouse,
        guard=worker.guard,
        catalog=visible_catalog(worker.guard.policy, worker.catalog),
        known=Known(values={"main.regions.name": ("Iberia", "Nordics")}),
        run_date=date(2026, 7, 1),
    )


def call(tool: str, text: str = "") -> AgentCall:
    return AgentCall(thought="next", tool=tool, input=text)


def written(*claims: tuple[str, str], missing: str = "") -> WrittenAnswer:
    return WrittenAnswer(claims=[WrittenClaim(text=text, markers=[at]) for text, at in claims], missing=missing)


def scored(answer: Answer) -> dict[str, object]:
    return score_answer(QUESTION, answer, system="x", seconds=1.0, model="scripted").model_dump()


def test_standard_rag_writes_from_the_passages_of_one_search(tmp_path: Path) -> None:
    model = ScriptedModel(WrittenAnswer=[written(("It fell because of the port strike.", "D1"), ("It was 99.", "D1"))])
    search = WordSearch()
    answer = baselines(tmp_path, model, search).standard_rag(BOTH)
    assert search.asked == [BOTH]
    assert "Dock workers stopped work" in model.prompts[0][2]
    assert answer.text == "It fell because of the port strike. [D1] It was 99. [D1]"
    score = scored(answer)
    # What the model made up stays in the answer, and is counted.
    assert (score["claims"], score["unsupported"], score["citation_accuracy"]) == (2, 1, 0.5)
    assert (score["verdict"], score["held"], score["silent"], score["steps"]) == ("wrong", 1, True, 1)
    assert (score["model_calls"], score["tokens"], score["model"]) == (1, 110, "scripted")


def test_standard_rag_without_a_passage_asks_no_model(tmp_path: Path) -> None:
    model = ScriptedModel()
    answer = baselines(tmp_path, model).standard_rag("xyzzy")
    assert (answer.status, answer.claims, model.prompts) == ("no_evidence", (), [])


def test_what_the_model_says_is_missing_makes_an_answer_partial(tmp_path: Path) -> None:
    model = ScriptedModel(WrittenAnswer=[written(("It fell because of the port strike.", "D1"), missing="the revenue")])
    answer = baselines(tmp_path, model).standard_rag(BOTH)
    assert answer.status == "partial"
    assert answer.text.endswith("Not answered by the evidence: the revenue.")
    assert scored(answer)["silent"] is False


def test_the_flat_agent_sees_errors_and_results_and_answers(tmp_path: Path) -> None:
    model = ScriptedModel(
        AgentCall=[
            call("run_sql", "SELECT sum(totals) FROM main.orders"),
            call("run_sql", f"{REVENUE};"),
            call("search_documents", "why did the revenue of the Nordics fall"),
            call("answer"),
        ],
        WrittenAnswer=[written(("Revenue was 3,050.", "S1"), ("It fell because of the port strike.", "D1"))],
    )
    answer = baselines(tmp_path, model).flat_agent(BOTH)
    users = [user for _, _, user in model.prompts]
    assert "totals" not in users[0]
    assert "It failed" in users[1]
    assert "total" in users[1].rpartition("Names that exist")[2]
    assert "[S1] 1 rows" in users[2]
    assert "3050" in users[2].replace(",", "")
    assert "[D1] Strike report" in users[3]
    assert users[-1].endswith("Write the answer now.")
    assert all("orders(" in user and "secrets" not in user for user in users)
    assert len({user[: user.index(BOTH)] for user in users}) == 1  # the part that an endpoint keeps
    score = scored(answer)
    assert (score["verdict"], score["source_recall"], score["unsupported"]) == ("right", 1.0, 0)
    assert (score["steps"], score["model_calls"], answer.query_type) == (3, 5, "both")


def test_no_policy_no_metric_and_no_repair_stands_behind_the_agent(tmp_path: Path) -> None:
    model = ScriptedModel(
        AgentCall=[call("run_sql", "SELECT name FROM main.secrets"), call("run_sql", "SELEC 1"), call("answer")],
        WrittenAnswer=[written(("The name is hidden.", "S1"))],
    )
    answer = baselines(tmp_path, model).flat_agent("What was the revenue of the Nordics in 2026?")
    assert answer.sql == ()
    assert (answer.status, answer.citations, answer.verdict.citation_accuracy) == ("answered", (), 0.0)
    assert [entry.detail["fault"] for entry in answer.trace][1] == "syntax"


def test_a_call_made_twice_is_not_made_again_and_the_calls_end(tmp_path: Path) -> None:
    model = ScriptedModel(AgentCall=[call("run_sql", REVENUE)] * MAX_CALLS, WrittenAnswer=[written()])
    answer = baselines(tmp_path, model).flat_agent(BOTH)
    assert len(answer.sql) == 1
    assert model.prompts[-1][2].count("You made this call before") == MAX_CALLS - 1
    assert (answer.status, answer.usage.model_calls) == ("no_evidence", MAX_CALLS + 1)


def test_a_passage_found_again_is_told_once(tmp_path: Path) -> None:
    model = ScriptedModel(
        AgentCall=[
            call("search_documents", "service metrics resolution"),
            call("search_documents", "metrics kept at full resolution"),
            call("search_documents", "   "),
            call("search_documents", "xyzzy"),
            call("answer"),
        ],
        WrittenAnswer=[written(("Service metrics are kept for 90 days.", "D1"))],
    )
    answer = baselines(tmp_path, model).flat_agent("How long are service metrics kept?")
    last = model.prompts[-1][2]
    assert len(answer.documents) == len({one.chunk_id for one in answer.documents}) == 2
    assert last.count("[D1] ") == 1
    assert "Also found, see above: D1, D2" in last
    assert "superseded" in last
    assert "It has no input" in last
    assert "No document is close to this" in last


def test_what_has_no_room_is_cut_off_and_its_fence_closed(tmp_path: Path) -> None:
    long = [
        passage(f"strike report {'word ' * 400}", title=f"Report {n}", marker="").model_copy(update={"chunk_id": n})
        for n in range(8)
    ]
    asked = [call("search_documents", f"strike report {n}") for n in range(MAX_CALLS)]
    wide = WordSearch(long)
    wide.search = lambda query, **_: SearchOutcome(  # type: ignore[method-assign]
        query=query,
        null_signal=False,
        passages=tuple(one.model_copy(update={"chunk_id": hash((query, one.chunk_id))}) for one in long),
    )
    model = ScriptedModel(AgentCall=asked, WrittenAnswer=[written()])
    baselines(tmp_path, model, wide).flat_agent(BOTH)
    last = model.prompts[-1][2]
    assert 8 * MAX_PASSAGE_CHARACTERS < len(last) < MAX_CALL_CHARACTERS + 4_000
    assert "(there is no room for the rest)" in last
    assert last.rstrip().endswith("Write the answer now.")


class Spent(ModelFault):
    usage = Usage(model_calls=3, prompt_tokens=30, completion_tokens=3)


@pytest.mark.parametrize(
    ("replies", "calls"),
    [
        ({"AgentCall": [Spent("no JSON")]}, 3),
        ({"AgentCall": [call("run_sql", REVENUE), ModelFault("status 400")]}, 2),
        ({"AgentCall": [call("answer")], "WrittenAnswer": [Spent("no JSON")]}, 4),
    ],
)
def test_output_that_cannot_be_used_is_the_systems_failure(
    tmp_path: Path, replies: dict[str, list[BaseModel | Exception]], calls: int
) -> None:
    answer = baselines(tmp_path, ScriptedModel(**replies)).flat_agent(BOTH)
    assert (answer.status, answer.usage.model_calls) == ("failed", calls)
    assert (scored(answer)["verdict"], scored(answer)["silent"]) == ("withheld", False)


def test_output_that_cannot_be_used_is_the_failure_of_standard_rag_too(tmp_path: Path) -> None:
    answer = baselines(tmp_path, ScriptedModel(WrittenAnswer=[Spent("no JSON")])).standard_rag(BOTH)
    assert (answer.status, answer.usage.model_calls, answer.documents[0].marker) == ("failed", 3, "D1")


@pytest.mark.parametrize("error", [ServiceUnavailable("no answer"), BudgetExhausted("spent")])
@pytest.mark.parametrize("system", [ModelBaselines.standard_rag, ModelBaselines.flat_agent])
def test_a_service_that_does_not_answer_ends_the_run(
    tmp_path: Path, error: Exception, system: Callable[[ModelBaselines, str], Answer]
) -> None:
    made = baselines(tmp_path, ScriptedModel(AgentCall=[error], WrittenAnswer=[error]))
    with pytest.raises(type(error)):
        system(made, BOTH)
