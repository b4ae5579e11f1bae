"""Every phrase that can be understood, in one tree: words of the model, stored values, words of calculation."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

from rag_core.semantics import vocabulary as say
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.fillers import IGNORED_PHRASES, PARTING, SKIPPED
from rag_core.semantics.values import ValueIndex
from rag_core.semantics.words import Word, normalise, phrase, words

Kind = Literal[
    "metric", "dimension", "adjective", "value", "ambiguous", "grain", "periodic", "group", "prep", "part",
    "and", "or", "versus", "compare", "not", "share", "running", "change", "trend", "average", "which",
    "rank", "best", "worst", "rank_verb", "note", "condition", "modifier", "companion", "split", "what",
    "unit", "total", "ignore", "time", "asks", "size", "sized", "dependence", "course", "gap", "minus", "quotient",
    "more", "ordinal",
]  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """One meaning of a phrase: a name of the model, a stored value of a dimension, or a word of calculation."""

    kind: Kind
    target: str = ""
    value: Any = None
    weak: bool = False


@dataclass
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    candidates: list[Candidate] = field(default_factory=list)


def _verb_forms(text: str) -> tuple[str, ...]:
    """Other forms of a regular verb that is given in the past: "granted" is said "grant" and "granting" too."""
    if " " in text or not text.endswith("ed") or len(text) < 6:
        return ()
    return (text[:-2], text[:-1], f"{text[:-2]}ing")


class Lexicon:
    """Looks phrases up in a question's words."""

    def __init__(self, model: SemanticModel, values: ValueIndex) -> None:
        self._root = _Node()
        self.surfaces: dict[str, str] = {}
        self._add_model(model)
        self._add_values(model, values)
        self._add_operators()

    def add(self, text: str, candidate: Candidate) -> None:
        """Adds one meaning of a phrase; the same meaning is kept once."""
        keys = phrase(text)
        if not keys:
            return
        for word in words(text):
            self.surfaces.setdefault(word.key, word.text if candidate.kind == "value" else word.text.lower())
        node = self._root
        for key in keys:
            node = node.children.setdefault(key, _Node())
        if candidate not in node.candidates:
            node.candidates.append(candidate)

    def matches(self, tokens: list[Word], start: int) -> list[tuple[int, int, tuple[Candidate, ...]]]:
        """All phrases that begin at a word: the word after each, how many words were skipped in it, its meanings.

        Words without meaning may stand inside a phrase; hyphens and slashes are not words.
        """
        found: dict[tuple[int, int], tuple[Candidate, ...]] = {}
        stack: list[tuple[int, int, _Node]] = [(start, 0, self._root)]
        while stack:
            at, skipped, node = stack.pop()
            if at >= len(tokens):
                continue
            key = tokens[at].key
            if key in ("-", "/") and node is not self._root:
                stack.append((at + 1, skipped, node))
                continue
            if key in node.children:
                following = node.children[key]
                stack.append((at + 1, skipped, following))
                if following.candidates:
                    known = found.get((at + 1, skipped), ())
                    found[at + 1, skipped] = known + tuple(item for item in following.candidates if item not in known)
            if node is not self._root and key in SKIPPED - PARTING and key not in node.children:
                stack.append((at + 1, skipped + 1, node))
        return [(end, skipped, found[end, skipped]) for end, skipped in sorted(found)]

    def _add_model(self, model: SemanticModel) -> None:
        for name, metric in model.metrics.items():
            for text in (metric.label, *metric.synonyms):
                self.add(text, Candidate("metric", name))
            for text in metric.modifiers:
                self.add(text, Candidate("modifier", name))
            for text in metric.companions:
                self.add(text, Candidate("companion", name))
                for form in _verb_forms(text):
                    self.add(form, Candidate("companion", name))
        self._add_dimensions(model)
        for text, options in model.ambiguous.items():
            self.add(text, Candidate("ambiguous", text, tuple(options)))
        for text in model.own_names:
            self.add(text, Candidate("ignore"))

    def _add_dimensions(self, model: SemanticModel) -> None:
        for name, dimension in model.dimensions.items():
            for text in (dimension.label, *dimension.synonyms):
                self.add(text, Candidate("dimension", name))
            for text in dimension.adjectives:
                self.add(text, Candidate("adjective", name))
            for text in dimension.asked_as:
                self.add(text, Candidate("asks", name))
            if dimension.ranked_by is not None:
                self._add_sizes(name, dimension.ranked_by, (dimension.label, *dimension.synonyms))

    def _add_sizes(self, name: str, metric: str, labels: Iterable[str]) -> None:
        """ "Team sizes": the figure that a dimension is ranked by, split by it."""
        for text in labels:
            self.add(f"{text} size", Candidate("metric", metric))
            self.add(f"{text} size", Candidate("sized", name))

    def _add_values(self, model: SemanticModel, values: ValueIndex) -> None:
        for name, dimension in model.dimensions.items():
            index = values.of(name)
            stored = list(index.values) if index is not None else []
            known = {str(value): value for value in stored}
            for value in stored:
                if isinstance(value, int | float) and not isinstance(value, bool):
                    continue  # a bare number says nothing about the dimension it belongs to
                self._add_value(str(value), Candidate("value", name, value))
            for text, synonyms in dimension.values.items():
                for synonym in synonyms:
                    self._add_value(synonym, Candidate("value", name, known.get(text, text)))

            for text in dimension.empty:
                self.add(text, Candidate("value", name, None))

    def _add_value(self, text: str, candidate: Candidate) -> None:
        keys = phrase(text)
        weak = len(keys) == 1 and (normalise(text) in say.WEAK_VALUES or normalise(text) in SKIPPED or len(keys[0]) < 2)
        self.add(text, Candidate("value", candidate.target, candidate.value, weak))

    def _add_operators(self) -> None:
        simple: tuple[tuple[Kind, Iterable[str]], ...] = (
            ("ignore", IGNORED_PHRASES), ("total", say.TOTAL_PHRASES), ("group", say.GROUP_PHRASES),
            ("prep", say.PREPOSITIONS), ("part", say.PART_PHRASES), ("and", say.AND_PHRASES), ("or", say.OR_PHRASES),
            ("versus", say.VERSUS_PHRASES), ("compare", say.COMPARE_PHRASES), ("not", say.NEGATIONS),
            ("share", say.SHARE_PHRASES), ("running", say.RUNNING_PHRASES), ("trend", say.TREND_PHRASES),
            ("average", say.AVERAGE_PHRASES), ("which", say.WHICH_PHRASES), ("what", ("what",)),
            ("best", say.BEST), ("worst", say.WORST), ("size", say.SIZE_PHRASES),
            ("dependence", say.DEPENDENCE_PHRASES), ("course", say.COURSE_PHRASES),
            ("rank_verb", say.RANK_VERBS), ("split", say.SPLIT_PHRASES), ("gap", say.GAP_PHRASES),
            ("minus", say.MINUS_PHRASES), ("quotient", say.QUOTIENT_PHRASES),
        )  # fmt: skip
        for kind, phrases in simple:
            for text in phrases:
                self.add(text, Candidate(kind))
        for kind, order, phrases in (
            ("rank", "descending", say.DESCENDING), ("rank", "ascending", say.ASCENDING),
            ("note", "descending", say.DESCENDING_NOTES), ("note", "ascending", say.ASCENDING_NOTES),
        ):  # fmt: skip
            for text in phrases:
                self.add(text, Candidate(kind, order))
        for text, direction in say.CHANGE_PHRASES.items():
            self.add(text, Candidate("change", value=direction))
        for text, sign in say.MORE_WORDS.items():
            self.add(text, Candidate("more", sign))
        for text, place in say.PLACES.items():
            self.add(text, Candidate("ordinal", value=place))
        for text, sign in say.COMPARISONS.items():
            self.add(text, Candidate("condition", sign))
        for text, grain in say.GRAINS.items():
            self.add(text, Candidate("grain", grain))
        for text, grain in say.GRAIN_ADJECTIVES.items():
            self.add(text, Candidate("periodic", grain))
        for text, unit in say.UNIT_PHRASES.items():
            self.add(text, Candidate("unit", unit))
