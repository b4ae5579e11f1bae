"""Whether a warehouse speaks at all of what a question asks, by the words of its schema and its values. Pure.

A small model writes a statement for any question. Where hardly a word of a question stands in a name, a comment or a
known value, whatever it writes answers something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from rag_core.datamodel.catalog import Catalog
from rag_core.schema.card_choice import name_words
from rag_core.schema.words import name_tokens
from rag_core.semantics.definitions import SemanticModel

# Less than this share explained, and at least so many words that are not: then nothing is asked of the warehouse.
LEAST_SHARE = 0.34
LEAST_UNKNOWN = 2
# A long question may hold much besides; with so many words of the warehouse's own it is put to the model all the same.
MOST_KNOWN = 2
_STEM = 4
_DEFINED = re.compile(r"\b([A-Z][A-Z0-9]{1,})\b(?=\s*(?:\([^)]*\)\s*)?=)")
# Words of asking, counting, ordering and time, which say nothing of the subject.
_ASKING = frozenset(
    re.findall(
        r"\w+",
        """about above across after all along also amount answer any area associated at available average be been before
        below best between both but by calculate called can change common compare compared consider contain containing
        contained corresponding could count current daily date day decimal defined descending ascending difference
        different distinct does done each earliest either end ending equal every except excluding exclusive fewer find
        first five following four from get getting give given got greater group grouped had half happened happen have
        having he her high higher highest his hour if in include included including inclusive integer into it join
        joining kind known last late latest least left less list long longest look lot lower lowest made make making
        many mark match matched matching max maximum mean median min minimum minute month monthly more most much name
        named need new no not note now number occur occurred of off often old older one only or order ordered other
        out over overall own part past per percent percentage place please previous previou proportion quarter
        quarterly ratio rank recent record refer related relate represent respective respectively result return round
        rounded row same second sequence set several shortest she should show similar since single smallest so some
        sort sorted sorting specific split start starting state such sum table take taken ten than that their them
        then there these they this those three time times to today together top total totals truncate two type
        under unique until up use used using value various very via was week weekly weekend well were what whatever
        when where which while who whole whose will with within without would year yearly yet you your letter case
        insensitive wildcard exact percentage metric doing january february march april may june july august september
        october november december monday tuesday wednesday thursday friday saturday sunday third fourth fifth ago
        against through during came come always instead exclusive inclusive currently""",
    )
)
# In English at least so much of a question is words of asking; of one in another language nothing is known here.
LEAST_ASKING = 0.2


class Coverage(NamedTuple):
    """The words of a question that nothing explains, and those that something does."""

    unknown: tuple[str, ...]
    known: tuple[str, ...]
    english: bool = True

    @property
    def foreign(self) -> bool:
        """Whether the question is about something else than this warehouse; never of one that is not in English."""
        if not self.english:
            return False
        asked = len(self.known) + len(self.unknown)
        few = len(self.known) <= MOST_KNOWN and len(self.known) < LEAST_SHARE * asked
        return few and len(self.unknown) >= LEAST_UNKNOWN


def cover(question: str, catalog: Catalog, values: Mapping[str, Iterable[str]], spoken: Iterable[str] = ()) -> Coverage:
    """What of a question the schema and its known values explain.

    Args:
        question: as asked, with its instructions; what these define (`ACP = ...`) is explained by them.
        catalog: the tables that questions may see.
        values: known values by `schema.table.column`.
        spoken: what a semantic model calls things.
    """
    defined = {word.lower() for word in _DEFINED.findall(question)}
    words = name_words(re.sub(r"['\u2019]s\b", "", question))
    known, spelt = _vocabulary(catalog, values, spoken)
    # `orders` may be a table, whatever else the word is used for.
    subjects = {word for table in catalog.tables if table.readable for word in name_words(table.name)}
    asked = dict.fromkeys(
        word for word in words if (word not in _ASKING or word in subjects) and len(word) > 2 and not word.isdigit()
    )
    understood = tuple(word for word in asked if word in defined or _explained(word, known, spelt))
    every = re.findall(r"[^\W\d_]+", question)
    asking = len(every) - sum(word not in _ASKING for word in words)
    return Coverage(
        tuple(word for word in asked if word not in understood), understood, asking >= LEAST_ASKING * len(every)
    )


def _vocabulary(catalog: Catalog, values: Mapping[str, Iterable[str]], spoken: Iterable[str]) -> tuple[set[str], str]:
    known = {word for name in spoken for word in name_words(name)}
    spelt: list[str] = []
    for table in catalog.tables:
        if not table.readable:
            continue
        for name, comment in [(table.name, table.comment), *((item.name, item.comment) for item in table.columns)]:
            known |= set(name_words(name)) | set(name_tokens(name)) | set(name_words(comment or ""))
            spelt.append(re.sub(r"[^a-z]", "", name.lower()))
        for column in table.columns:
            known |= {word for label in column.enum_labels for word in name_words(label)}
    for held in values.values():
        known |= {word for value in held for word in name_words(value)}
    return known, " ".join(spelt)


def _explained(word: str, known: set[str], spelt: str) -> bool:
    if word in known:
        return True
    # `publications` and `published`, `departing` and `departure`: the beginning says what is meant.
    return len(word) >= _STEM and (word in spelt or (len(word) > _STEM and word[:_STEM] in spelt))


def spoken_names(model: SemanticModel) -> tuple[str, ...]:
    """What a semantic model calls its figures, what they are split by, and the questions that it has statements for."""
    found = [*model.ambiguous]
    for metric in model.metrics.values():
        found += [metric.label, *metric.synonyms]
    for dimension in model.dimensions.values():
        found += [dimension.label, *dimension.synonyms]
    for query in model.verified_queries.values():
        found += query.patterns
    return tuple(found)
