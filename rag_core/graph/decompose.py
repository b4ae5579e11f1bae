"""Cuts a question whose second part speaks of the first one's result into ordered steps, without a chat model. Pure.

"Which region had the highest revenue in 2025 and how many customers does it have?": the first part is a ranking that
names a region, `it` is that region. The second part is read with a stand-in, a real value of the dimension, in the
place of `it`; what was understood with the stand-in holds for whatever value the first part brings. A part that cannot
be read so is left to the planner.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from rag_core.datamodel.plan import Binding, Grain, MetricQuery, SearchStep, SqlStep, Step, TimeRange
from rag_core.semantics.calendar import describe_range, floor, step
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.describe import describe_query
from rag_core.semantics.match import Matcher
from rag_core.semantics.values import ValueIndex
from rag_core.workers.clauses import Clause, read_clauses
from rag_core.workers.handover import first_of

SEARCH_TOP = 8
STAND_INS = 3

_POSSESSIVE = re.compile(r"\b(?:its|their|this one's|that one's)\s+", re.IGNORECASE)
_PLACE = re.compile(r"\b(?:(?:in|from|for|of|at|by|with) (?:it|them|there)|there)\b", re.IGNORECASE)
_THING = re.compile(
    r"\b(?:it|they|them|"
    r"(?:that|this|those|these) (?:customers?|regions?|countr(?:y|ies)|products?|services?|teams?|channels?|segments?|"
    r"famil(?:y|ies)|competitors?|managers?|ones?)|the (?:first|top|same) (?:one|region|country|customer|product|"
    r"service|team|channel|segment))\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r"\b(?:(?:in|during|for|of|on) )?(?:that|this|the same) (?:day|week|month|quarter|year)\b|"
    r"\b(?:in|during) it\b|\bthen\b|\bat that time\b",
    re.IGNORECASE,
)
# "Are there" and "were there" ask whether something is; only another place makes `there` a place.
_EXISTS = re.compile(r"\b(?:is|are|was|were|have been|has been) there\b", re.IGNORECASE)


class Decomposer:
    """Decomposes questions over one semantic model. Safe to use from several threads."""

    def __init__(self, matcher: Matcher, model: SemanticModel, values: ValueIndex) -> None:
        self._matcher = matcher
        self._model = model
        self._values = values

    def decompose(self, question: str, run_date: date) -> tuple[Step, ...] | None:
        """The ordered steps; None where the question has no part that depends on another, or one is not understood."""
        clauses = read_clauses(question)
        if len(clauses) < 2:
            return None
        steps: list[Step] = []
        leaders: list[SqlStep] = []
        depends = False
        for clause in clauses:
            made, bound = self._step(clause, run_date, leaders, steps)
            if made is None:
                return None
            depends = depends or bound
            steps.append(made)
            if isinstance(made, SqlStep) and made.metric_query is not None and _leads(made.metric_query):
                leaders.append(made)
        return tuple(steps) if depends else None

    def _step(
        self, clause: Clause, run_date: date, leaders: Sequence[SqlStep], steps: Sequence[Step]
    ) -> tuple[Step | None, bool]:
        """The step of a clause, and whether it takes something from an earlier one."""
        number = sum(1 for item in steps if item.kind == ("search" if clause.asks_documents else "sql")) + 1
        for leader in reversed(leaders):
            assert leader.metric_query is not None
            query = leader.metric_query
            if clause.asks_documents:
                text = _replace_thing(clause.text, first_of(leader.step_id))
                if text is not None and query.dimensions:
                    made = SearchStep(
                        step_id=f"d{number}",
                        task=clause.text,
                        query=text,
                        top=SEARCH_TOP,
                        depends_on=(leader.step_id,),
                    )
                    return made, True
                continue
            found = self._bound(clause.text, leader, run_date, f"s{number}")
            if found is not None:
                return found, True
        if clause.asks_documents or _speaks_of_another(clause.text):
            return None, False
        match = self._matcher.match(clause.text, run_date)
        if not match.complete or match.query is None:
            return None, False
        task = describe_query(match.query, self._model)
        return SqlStep(step_id=f"s{number}", task=task, metric_query=match.query), False

    def _bound(self, text: str, leader: SqlStep, run_date: date, step_id: str) -> SqlStep | None:
        query = leader.metric_query
        assert query is not None
        if query.grain is not None and not query.dimensions:
            return self._bound_in_time(text, leader.step_id, query.grain, run_date, step_id)
        if len(query.dimensions) != 1 or query.grain is not None:
            return None
        dimension = query.dimensions[0]
        for stand_in in self._stand_ins(dimension):
            asked = _replace_thing(text, stand_in)
            if asked is None:
                return None
            match = self._matcher.match(asked, run_date)
            if not match.complete or match.query is None:
                continue
            on = [item for item in match.query.filters if item.dimension == dimension]
            if len(on) != 1 or on[0].negated or [str(value) for value in on[0].values] != [stand_in]:
                continue
            many = query.limit != 1
            found = match.query
            if many and not found.dimensions and found.grain is None:
                found = found.model_copy(update={"dimensions": (dimension,)})  # each of them is asked of
            return SqlStep(
                step_id=step_id,
                task=text,
                metric_query=found,
                depends_on=(leader.step_id,),
                bindings=(Binding(step_id=leader.step_id, kind="names" if many else "name", dimension=dimension),),
            )
        return None

    def _bound_in_time(self, text: str, leader_id: str, grain: Grain, run_date: date, step_id: str) -> SqlStep | None:
        start = step(floor(run_date, grain), grain, -2)
        stand_in = _range_words(start, grain)
        asked, count = _THEN.subn(f"in {stand_in}", text, count=1)
        if not count:
            return None
        match = self._matcher.match(asked, run_date)
        found = match.query
        if not match.complete or found is None or found.time_range is None:
            return None
        if found.time_range.end != step(start, grain, 1):
            return None
        return SqlStep(
            step_id=step_id,
            task=text,
            metric_query=found,
            depends_on=(leader_id,),
            bindings=(Binding(step_id=leader_id, kind="period", grain=grain),),
        )

    def _stand_ins(self, dimension: str) -> list[str]:
        known = self._values.of(dimension)
        if known is None:
            return []
        # Longer names are less often words of the language or values of another dimension too.
        texts = sorted((str(value) for value in known.values), key=lambda text: (-min(len(text), 12), text))
        return texts[:STAND_INS]


def _leads(query: MetricQuery) -> bool:
    """Whether a result names what a later part can speak of: a ranking, by a dimension or by periods."""
    return query.order is not None and query.limit is not None and (bool(query.dimensions) or query.grain is not None)


def _replace_thing(text: str, name: str) -> str | None:
    """The text with a name for the word that speaks of an earlier result; None where there is no such word."""
    shown = _EXISTS.sub(lambda match: match.group().replace("there", "\0"), text)
    if _POSSESSIVE.search(shown):
        replaced = f"{_POSSESSIVE.sub('the ', shown, count=1)} of {name}"
    elif _PLACE.search(shown):
        replaced = _PLACE.sub(lambda _: f"of {name}", shown, count=1)
    elif _THING.search(shown):
        replaced = _THING.sub(lambda _: name, shown, count=1)
    else:
        return None
    return replaced.replace("\0", "there")


def _speaks_of_another(text: str) -> bool:
    return _replace_thing(text, "x") is not None or _THEN.search(text) is not None


def _range_words(start: date, grain: Grain) -> str:
    return describe_range(TimeRange(start=start, end=step(start, grain, 1)))
