"""The 200 questions over the sample company, composed from its planted facts. Pure.

Simple (60): 30 facts of the warehouse and 30 of the documents, evenly spaced over the file. Moderate (80): the 38 facts
that need both, and 42 pairs of a warehouse and a document fact, asked one after the other. Complex (60): a fact that
needs both followed by a document fact (38), and two warehouse facts followed by a document fact (22). The same files
give the same questions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

from rag_core.datamodel.base import Record

Tier = Literal["simple", "moderate", "complex"]
Fact = Mapping[str, Any]
Item = TypeVar("Item")
SIZES: dict[Tier, int] = {"simple": 60, "moderate": 80, "complex": 60}


class EvalQuestion(Record):
    """A question with its truth: values that results must hold, phrases that the text must hold, documents to cite."""

    question_id: str
    tier: Tier
    text: str
    values: tuple[Any, ...] = ()
    phrases: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    needs_sql: bool = False

    @property
    def points(self) -> int:
        """How many points the truth has; a result that is needed without stated values is one."""
        return len(self.values) + len(self.phrases) + int(self.needs_sql and not self.values)


def compose_questions(facts: Mapping[str, Sequence[Fact]]) -> list[EvalQuestion]:
    """All questions by tier, from the lists that `sample.facts.load_facts` reads."""
    warehouse = [fact for fact in facts["warehouse"] if "question" in fact]
    documents = [fact for fact in facts["documents"] if "must_contain" in fact]
    combined = [fact for fact in facts["combined"] if "must_contain" in fact]
    simple = [[fact] for fact in (*_spaced(warehouse, 30), *_spaced(documents, 30))]
    pairs = SIZES["moderate"] - len(combined)
    others = _spaced(documents, pairs + len(combined), offset=1)
    moderate = [[fact] for fact in combined]
    moderate += [list(pair) for pair in zip(_spaced(warehouse, pairs, offset=1), others[:pairs], strict=True)]
    complex_ = [[fact, other] for fact, other in zip(combined, others[pairs:], strict=True)]
    rest = SIZES["complex"] - len(complex_)
    triples = zip(
        _spaced(warehouse, rest),
        _spaced(warehouse[::-1], rest, offset=1),
        _spaced(documents, rest, offset=2),
        strict=True,
    )
    complex_ += [list(triple) for triple in triples]
    return [
        question
        for tier, groups in zip(SIZES, (simple, moderate, complex_), strict=True)
        for question in (_compose(tier, group) for group in groups)
    ]


def draw_evenly(questions: Sequence[EvalQuestion], limit: int) -> list[EvalQuestion]:
    """At most so many questions of each tier at even distances, so that each kind that a tier is made of is drawn."""
    tiers = [[question for question in questions if question.tier == tier] for tier in SIZES]
    return [question for tier in tiers for question in _spaced(tier, min(limit, len(tier)))]


def _spaced(items: Sequence[Item], count: int, *, offset: int = 0) -> list[Item]:
    """So many items at even distances."""
    return [items[(offset + index * len(items) // count) % len(items)] for index in range(count)]


def _compose(tier: Tier, facts: Sequence[Fact]) -> EvalQuestion:
    values: list[Any] = []
    phrases: list[str] = []
    documents: list[str] = []
    needs_sql = False
    for fact in facts:
        if fact["kind"] in ("sql", "warehouse"):
            needs_sql = True
            values += [value for row in fact["answer"] for value in row.values() if value is not None]
        else:
            phrases += fact["must_contain"]
            needs = fact.get("needs") or {}
            needs_sql = needs_sql or "warehouse" in needs
            documents += needs.get("documents", [])
            documents += [place["path"] for place in fact.get("where") or [] if isinstance(place, Mapping)]
    return EvalQuestion(
        question_id=f"{tier[0]}-{'-'.join(str(fact['id']) for fact in facts)}",
        tier=tier,
        text=" ".join(_ended(str(fact["question"])) for fact in facts),
        values=tuple(str(value) for value in values),
        phrases=tuple(dict.fromkeys(phrases)),
        documents=tuple(dict.fromkeys(documents)),
        needs_sql=needs_sql,
    )


def _ended(question: str) -> str:
    return question if question.rstrip().endswith(("?", ".")) else f"{question}."
