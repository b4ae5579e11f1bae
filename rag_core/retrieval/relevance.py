"""The null signal: whether anything in the index answers at all, judged on raw scores.

Fused scores only order what was found and say nothing of whether it fits: the best of a thousand wrong passages is
always first. The best cosine tells questions of the index's domain from foreign ones, except for names and codes, which
an embedding model does not know; those show in the words that a passage shares with the question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from rag_core.retrieval.bm25 import inverse_document_frequency

# Calibrated on the packaged model with `nightshift eval retrieval --calibrate` (docs/evaluation.md).
DEFAULT_THRESHOLD = 0.45
DEFAULT_COVERAGE_WEIGHT = 0.25
# A passage that holds this share of what the question's words weigh holds all that matters.
ALL_WORDS = 0.9
# A code that stands in no more chunks than these (or in half a percent of them) is rare.
RARE_CHUNKS = 5
# Chunks that the breadth of the evidence is taken over.
BROAD = 20
# Share of the words, by weight, that has to be covered where there are no vectors.
WORDS_ALONE = 0.5


@dataclass(frozen=True, slots=True)
class NullLimits:
    """An answer is possible where the cosine + `coverage_weight` * best coverage reaches `threshold`.

    `breadth_share` of the cosine is the mean of the BROAD nearest chunks, the rest the nearest one's: a question of the
    domain is near to many texts of a large collection, a foreign one by chance to few. In a small collection, where one
    document may be all there is to a subject, it is 0.
    """

    threshold: float = DEFAULT_THRESHOLD
    coverage_weight: float = DEFAULT_COVERAGE_WEIGHT
    breadth_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """The strongest raw evidence for a question: `cosine` of the nearest window, `coverage` of its words.

    `breadth`: mean cosine of the BROAD nearest chunks. `named`: a passage holds a rare name or code that the question
    asks for.
    """

    cosine: float
    coverage: float
    named: bool = False
    breadth: float = 0.0

    def score(self, limits: NullLimits) -> float:
        """The figure that the threshold is for."""
        near = (1 - limits.breadth_share) * self.cosine + limits.breadth_share * self.breadth
        return near + limits.coverage_weight * self.coverage


def term_weights(terms: Mapping[str, float], frequencies: Mapping[str, int], chunks: int) -> dict[str, float]:
    """idf of each term of a query; a term that no chunk holds has the highest there is."""
    return {term: inverse_document_frequency(max(chunks, 1), frequencies.get(term, 0)) for term in terms}


def coverage(weights: Mapping[str, float], present: Collection[str]) -> float:
    """Share of the query's terms, weighted by idf, that one passage holds: 1 where it holds all of them."""
    total = sum(weights[term] for term in sorted(weights))
    matched = sum(weights[term] for term in sorted(weights) if term in present)
    return matched / total if total else 0.0


def rare_names(frequencies: Mapping[str, int], chunks: int) -> set[str]:
    """Terms of a question that are codes (letters with digits or punctuation) and stand in few chunks of the index."""
    few = max(RARE_CHUNKS, chunks // 200)
    return {term for term, count in frequencies.items() if 0 < count <= few and len(term) >= 4 and _is_code(term)}


def _is_code(term: str) -> bool:
    return not term.isalpha() and any(character.isalpha() for character in term)


def judge(evidence: Evidence, limits: NullLimits, *, found: bool, dense: bool, words: bool = True) -> str:
    """Why nothing answers, in words; empty where something may.

    Without vectors (`dense` False) the words decide alone. A question without words (`words` False), such as an emoji,
    has a vector too, which is near to whatever else the model has no token for.
    """
    if not words:
        return "the question holds no words"
    if not found:
        return "no passage fits the words or the filters"
    if evidence.named or evidence.coverage >= ALL_WORDS:
        return ""
    if not dense:
        if evidence.coverage >= WORDS_ALONE:
            return ""
        return f"the best passage holds {evidence.coverage:.0%} of what the words weigh, {WORDS_ALONE:.0%} are needed"
    score = evidence.score(limits)
    if score >= limits.threshold:
        return ""
    return (
        f"the nearest passage is too far from the question (score {score:.2f}, {limits.threshold:.2f} are needed: "
        f"cosine {evidence.cosine:.2f}, words covered {evidence.coverage:.0%})"
    )


def calibrate(domain: Sequence[Evidence], foreign: Sequence[Evidence]) -> tuple[NullLimits, float, float]:
    """Limits that tell questions of the domain from foreign ones best.

    Returns (limits, share of domain questions answered, share of foreign ones refused). The larger the smaller of both
    shares the better; among equals the threshold in the middle of its range, at the smallest share and weight.
    """
    if not domain or not foreign:
        raise ValueError("calibration needs questions of the domain and foreign ones")
    best: tuple[float, float] = (-1.0, -1.0)
    chosen: list[NullLimits] = []
    for share, weight, step in product((0.0, 0.25, 0.5, 0.75, 1.0), (0.1, 0.15, 0.2, 0.25, 0.3, 0.4), range(20, 81)):
        limits = NullLimits(step / 100, weight, share)
        answered, refused = _shares(domain, foreign, limits)
        value = (min(answered, refused), answered + refused)
        if value > best:
            best, chosen = value, []
        if value == best:
            chosen.append(limits)
    first = chosen[0].breadth_share, chosen[0].coverage_weight
    same = [limits for limits in chosen if (limits.breadth_share, limits.coverage_weight) == first]
    limits = same[len(same) // 2]
    return limits, *_shares(domain, foreign, limits)


def _shares(domain: Sequence[Evidence], foreign: Sequence[Evidence], limits: NullLimits) -> tuple[float, float]:
    answered = sum(each.score(limits) >= limits.threshold for each in domain) / len(domain)
    refused = sum(each.score(limits) < limits.threshold for each in foreign) / len(foreign)
    return answered, refused
