"""Turns a question into a plan: metrics where the semantic model understands it, documents for the rest.

Without a chat model everything here is deterministic: a clause that the semantic model explains completely becomes a
metric step, a clause that asks for a cause or that it does not explain becomes a search. With a chat model, the router
decides on questions that the semantic model does not explain.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from datetime import date
from typing import Literal

from pydantic import BaseModel, Field

from rag_core.connectors.base import ChatModel
from rag_core.datamodel.answer import Usage
from rag_core.datamodel.plan import MetricQuery, Plan, QueryType, SearchStep, SqlStep, Step, Strategy
from rag_core.errors import ModelFault
from rag_core.prompts.loader import fence, load_prompt
from rag_core.semantics.calendar import describe_range
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.semantics.match import Match, Matcher
from rag_core.semantics.values import ValueIndex
from rag_core.workers.asks import asks_price
from rag_core.workers.clauses import (
    Clause,
    asks_series,
    names_leader,
    nearest,
    read_clauses,
    read_whole,
    stands_alone,
    without_cause,
    without_movement,
)
from rag_core.workers.figure_asks import (
    as_moved,
    ask_back,
    is_after_figure,
    is_governed,
    is_misspelt,
    left_open,
    named_options,
    with_change,
)
from rag_core.workers.halves import halved
from rag_core.workers.handover import first_of, ranks
from rag_core.workers.reasoning import tell_readings, tell_sources

SEARCH_TOP = 8
MAX_READINGS = 2
# A dimension of one of these names holds why something happened, as the warehouse records it.
REASONS = ("reason", "cause")


class Route(BaseModel):
    """Which sources answer the question."""

    reasoning: str = Field(description="One short sentence")
    next_worker: Literal["sql_worker", "vector_worker", "both"]
    task_description_sql: str
    task_description_documents: str
    clarification: str


class Planner:
    """Plans questions over one semantic model. Safe to use from several threads.

    Args:
        semantic_model: metrics and dimensions.
        values: values of the dimensions.
        chat_model: asked where the semantic model does not explain a question; None: never.
        router_model: asked instead of `chat_model` for routing.
        cut: whether a question is cut into the parts that it asks; else it is one part.
    """

    def __init__(
        self,
        semantic_model: SemanticModel,
        values: ValueIndex,
        *,
        chat_model: ChatModel | None = None,
        router_model: ChatModel | None = None,
        cut: bool = True,
    ) -> None:
        self._cut = cut
        self.semantic_model = semantic_model
        self.chat_model = chat_model
        self._router = router_model or chat_model
        self.spoken = spoken_values(semantic_model)
        # Dimensions whose values whoever asks may not read: a word that is one of them cannot be recognised.
        self.unread = tuple(semantic_model.dimensions[name].label for name in values.not_permitted)
        self._matcher = Matcher(semantic_model, values)

    @property
    def matcher(self) -> Matcher:
        """What understands figures, for whoever cuts a question into parts; it takes seconds to build."""
        return self._matcher

    def plan(
        self, question: str, run_date: date, *, strategy: str = "auto", tables: Sequence[str] = ()
    ) -> tuple[Plan, Usage]:
        """The plan for a question and what planning it cost.

        Args:
            question: in plain words.
            run_date: the day that relative times refer to.
            strategy: `auto`, `metric` and `verified` (never a model), or `model` (the model writes the SQL).
            tables: names of the warehouse's tables, for the router.
        """
        if strategy in ("model", "decomposed") and self._router is not None:
            return self._plan_by_model(question, run_date, [], (), tables)
        whole = self._matcher.match(question, run_date)
        asked = read_clauses(question) if self._cut else (read_whole(question),)
        # "Why did customers leave?" is explained where the model has the reasons as a dimension.
        explained = len(asked) == 1 and asked[0].asks_cause
        if whole.complete and (explained or not any(clause.asks_documents for clause in asked)):
            only: list[Step] = [self._sql_step("s1", whole)]
            return self._plan(question, run_date, only, _strategy(only), read_so=whole.assumptions), Usage()
        if len(asked) == 1 and asks_price(question) and whole.ambiguous and not whole.unmatched:
            # What a thing costs stands in documents, by the word price; where it does not, the figure is asked back.
            task = asked[0].text
            price: list[Step] = [SearchStep(step_id="d1", task=task, query=f"{task} price", top=SEARCH_TOP)]
            return self._plan(question, run_date, price, "documents", clarification=ask_back(whole)), Usage()
        read_so: list[str] = []
        steps, unmatched, clarification = self._read_by_clause(question, run_date, whole, read_so)
        # What asks for documents by its own words goes there; for the rest a router knows better than a guess.
        guessed = unmatched or any(
            step.kind == "search" and not any(clause.asks_documents for clause in read_clauses(step.task))
            for step in steps
        )
        # Where figures are understood and only searches are guessed, no reply of a router would change the plan.
        settled = not unmatched and any(step.kind == "sql" for step in steps)
        if guessed and not settled and not clarification and self._router is not None and strategy == "auto":
            return self._plan_by_model(question, run_date, steps, unmatched, tables)
        plan = self._plan(
            question,
            run_date,
            steps,
            _strategy(steps),
            unmatched=unmatched,
            clarification=clarification,
            read_so=read_so,
        )
        return plan, Usage()

    # ------------------------------------------------------------------ without a model

    def _read_by_clause(
        self, question: str, run_date: date, whole: Match, read_so: list[str]
    ) -> tuple[list[Step], tuple[str, ...], str | None]:
        """Steps, words of number clauses that were not understood, and a question back to the asker.

        What was assumed of the figures is added to `read_so`.
        """
        clauses = self._clauses(question, run_date)
        steps: list[Step] = []
        searches: list[Clause] = []
        unmatched: list[str] = []
        queries: list[tuple[MetricQuery, Clause]] = []
        clarification: str | None = None
        for clause in clauses:
            match = whole if len(clauses) == 1 and not clause.asks_cause else self._matcher.match(clause.text, run_date)
            read = () if clause.asks_documents else self._read_figure(clause, match, run_date, alone=len(clauses) == 1)
            if clause.asks_cause:
                if not queries and (query := self._figure_of_cause(clause, run_date)) is not None:
                    queries.append((query, clause))
                    steps.append(self._metric_step(f"s{len(steps) + 1}", query))
                searches.append(clause)
            elif read:
                for found in read:
                    step = self._sql_step(f"s{len(steps) + 1}", found)
                    steps.append(step)
                    read_so += found.assumptions
                    if step.metric_query is not None:
                        queries.append((step.metric_query, clause))
            else:
                # A figure that is not understood beside a question for documents is left out and named; alone, the
                # documents may still hold it.
                beside = len(clauses) > 1 and (clause.asks_documents or (clause.asks_name and bool(match.unmatched)))
                # What is nearly a figure's name is no question for documents either: the right word is offered.
                series = (asks_series(clause.text) or is_misspelt(match)) and not clause.asks_documents
                beside = beside and not series
                searched = len(clauses) == 1 or beside or not (series or is_after_figure(match))
                if searched:
                    searches.append(clause)
                open_meaning = bool(match.ambiguous) or is_after_figure(match)
                if open_meaning and not match.unmatched and not clause.asks_documents:
                    clarification = clarification or ask_back(match)
                figure = series or (is_after_figure(match) and not beside)
                if (figure or is_governed(match)) and not clause.asks_documents:
                    unmatched += match.unmatched or left_open(match)
                if not searched and not match.unmatched and not match.ambiguous:
                    unmatched.append(clause.text)  # what no step answers is said, never dropped
        if clarification and len(clauses) == 1:
            return [], (), clarification  # a figure with two readings is asked back; documents would only guess at it
        steps += self._search_steps(question, searches, steps, queries, alone=len(clauses) == 1)
        return steps, tuple(dict.fromkeys(unmatched)), clarification

    def _clauses(self, question: str, run_date: date) -> tuple[Clause, ...]:
        if not self._cut:
            return (read_whole(question),)
        return halved(read_clauses(question), lambda text: self._matcher.match(text, run_date).complete)

    def _read_figure(self, clause: Clause, match: Match, run_date: date, *, alone: bool) -> tuple[Match, ...]:
        """Complete matches of a clause after a figure, empty for none.

        A word with two readings beside another question is answered in both: nobody is there at night to be asked. How
        a figure moved is the figure with the period before.
        """
        if match.complete:
            return (match,)
        options = () if alone else named_options(match, self.semantic_model)
        if options and len(options) <= MAX_READINGS:
            word = re.escape(match.ambiguous[0].text)
            text = without_movement(clause.text) if match.unmatched else clause.text
            texts = [re.sub(word, option, text, count=1, flags=re.IGNORECASE) for option in options]
            readings = [self._matcher.match(text, run_date) for text in texts]
            if all(found.complete for found in readings):
                return as_moved(readings) if match.unmatched else tuple(readings)
        if match.unmatched and (text := without_movement(clause.text)) != clause.text.strip(" ,;?."):
            figure = self._matcher.match(text, run_date)
            if figure.complete and figure.query is not None and any(span.role == "figure" for span in figure.spans):
                return as_moved([figure])
        return ()

    def _figure_of_cause(self, clause: Clause, run_date: date) -> MetricQuery | None:
        """The figure of a question after a cause: by the reasons that the warehouse records, else with its change."""
        text = without_cause(clause.text)
        for reason in REASONS:
            split = self._matcher.match(f"{text} by {reason}", run_date)
            if split.complete and split.query is not None and split.query.dimensions:
                return split.query
        figure = self._matcher.match(text, run_date)
        return with_change(figure.query) if figure.complete and figure.query is not None else None

    def _search_steps(
        self,
        question: str,
        searches: Sequence[Clause],
        steps: Sequence[Step],
        queries: Sequence[tuple[MetricQuery, Clause]],
        *,
        alone: bool,
    ) -> list[Step]:
        """A search a clause, told what the figures beside it are of; one that names a ranking's first row waits."""
        found: list[Step] = []
        for index, clause in enumerate(searches, start=1):
            beside = nearest(question, clause, [asked for _, asked in queries])
            told = (self._context(query, asked) for query, asked in queries if asked in beside)
            context = " ".join(dict.fromkeys(told))
            text = f"{clause.text} {context}".strip() if context and not stands_alone(clause.text) else clause.text
            if not context and not alone and not stands_alone(clause.text):
                text = question
            leader = next((step for step in steps if step.kind == "sql" and ranks(step)), None)
            needs: tuple[str, ...] = ()
            if leader is not None and names_leader(clause.text):
                text, needs = f"{text} {first_of(leader.step_id)}", (leader.step_id,)
            found.append(
                SearchStep(step_id=f"d{index}", task=clause.text, query=text, top=SEARCH_TOP, depends_on=needs)
            )
        return found

    def _context(self, query: MetricQuery, asked: Clause) -> str:
        """The words that a search needs to know what the figures are of: as they were asked, or labels and filters."""
        if not asked.asks_cause:
            return asked.text
        words = [self.semantic_model.label(name) for name in query.metrics]
        words += [self.spoken.get(str(value), str(value)) for item in query.filters for value in item.values]
        if query.time_range is not None and (query.time_range.start or query.time_range.end):
            words.append(describe_range(query.time_range))
        return " ".join(words)

    def _sql_step(self, step_id: str, match: Match) -> SqlStep:
        if match.verified is not None:
            return SqlStep(
                step_id=step_id,
                task=match.verified.description,
                sql=match.verified.sql,
                verified=match.verified.name,
                meanings=match.verified.meanings,
            )
        assert match.query is not None
        return self._metric_step(step_id, match.query)

    def _metric_step(self, step_id: str, query: MetricQuery) -> SqlStep:
        return SqlStep(step_id=step_id, task=describe_query(query, self.semantic_model), metric_query=query)

    # ------------------------------------------------------------------ with a model

    def _plan_by_model(
        self, question: str, run_date: date, known: Sequence[Step], unmatched: tuple[str, ...], tables: Sequence[str]
    ) -> tuple[Plan, Usage]:
        """Steps by the router; figures that the semantic model explains (in `known`) are never left to a model."""
        assert self._router is not None
        prompt = load_prompt("plan_question")
        user = prompt.render(
            {
                "run_date": run_date.isoformat(),
                "tables": ", ".join(tables) or "unknown",
                "question": fence("question", question),
            }
        )
        try:
            route, usage = self._router.complete(prompt.system, user, Route)
        except ModelFault as fault:
            # A router that cannot be read asks both sources; the evidence decides what is said.
            usage = getattr(fault, "usage", Usage(model_calls=1))
            route = Route(
                reasoning="",
                next_worker="both",
                task_description_sql="",
                task_description_documents="",
                clarification="",
            )
        steps: list[Step] = [step for step in known if step.kind == "sql"]
        if route.next_worker != "vector_worker" and (unmatched or not steps):
            steps.append(SqlStep(step_id=f"s{len(steps) + 1}", task=question))
        searches = [step for step in known if step.kind == "search"]
        # A search costs no model call: what no figure was seen in is looked up beside what a router thinks of it.
        looked_up = any(step.kind == "sql" for step in known) or bool(searches and not unmatched)
        if route.next_worker != "sql_worker" or looked_up:
            steps += searches or [SearchStep(step_id="d1", task=question, query=question, top=SEARCH_TOP)]
        plan = self._plan(question, run_date, steps, "model", unmatched=unmatched, reasoning=route.reasoning.strip())
        return plan, usage

    # ------------------------------------------------------------------ the plan itself

    def _plan(
        self,
        question: str,
        run_date: date,
        steps: Sequence[Step],
        strategy: Strategy,
        *,
        unmatched: tuple[str, ...] = (),
        clarification: str | None = None,
        reasoning: str = "",
        read_so: Sequence[str] = (),
    ) -> Plan:
        kinds = {step.kind for step in steps}
        query_type: QueryType = (
            "both" if len(kinds) == 2 else "sql" if kinds == {"sql"} else "documents" if kinds else "none"
        )
        return Plan(
            plan_id=plan_id(question, steps),
            question=question,
            run_date=run_date,
            query_type=query_type,
            complexity="simple" if len(steps) < 2 and len(read_clauses(question)) < 2 else "complex",
            strategy=strategy,
            steps=tuple(steps),
            reasoning=(reasoning or tell_sources(query_type, bool(steps))) + tell_readings(read_so),
            unmatched=unmatched,
            clarification=clarification,
        )


def spoken_values(model: SemanticModel) -> dict[str, str]:
    """Words for stored values that are codes: `mid_market` is `mid-market`, `smb` is `SMB`."""
    return {
        value: words[0]
        for dimension in model.dimensions.values()
        for value, words in sorted(dimension.values.items())
        if words and ("_" in value or value == words[0].lower())
    }


def plan_id(question: str, steps: Sequence[Step]) -> str:
    """An id that is the same for the same question and steps, whatever the run date."""

    def timeless(step: Step) -> dict[str, object]:
        value = step.model_dump(mode="json", exclude={"task", "query"})
        query = value.get("metric_query")
        if isinstance(query, dict):
            query.pop("as_of", None)
            # Plans kept before these fields existed keep their ids.
            for name in ("limit_by", "keep_empty", "place", "combine", "count_rows"):
                if query.get(name) in (None, False, [], "none"):
                    query.pop(name, None)
        if isinstance(query, dict) and isinstance(query.get("time_range"), dict):
            query["time_range"] = query["time_range"].get("label")
        return value

    key = json.dumps([question.strip().lower(), [timeless(step) for step in steps]], sort_keys=True)
    return "p" + hashlib.sha256(key.encode()).hexdigest()[:14]


def _strategy(steps: Sequence[Step]) -> Strategy:
    if any(isinstance(step, SqlStep) and step.verified for step in steps):
        return "verified"
    if any(isinstance(step, SqlStep) for step in steps):
        return "metric"
    return "documents" if steps else "none"
