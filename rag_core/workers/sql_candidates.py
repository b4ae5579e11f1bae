"""Several statements of a model for one task, judged by what they bring: what most of them agree on is taken. Pure.

Drawing costs calls, and a small model's first statement is its best one more often than not. So only a doubtful first
one is followed by others, and one that they do not outvote stays.
"""

from __future__ import annotations

from collections.abc import Sequence

from rag_core.workers.outcome import Fault, StepOutcome
from rag_core.workers.result_match import same_result
from rag_core.workers.sql_repair.judgement import suspicious
from rag_core.workers.sql_repair.mender import is_mendable
from rag_core.workers.sql_settle import MENDED_EMPTY

# Below this a model is not sure of its own statement.
SURE = 0.5
# Of an agreement of all: a doubtful question stays one.
AGREED = 0.8
# Of the first statement's own confidence, where the others bring something else.
OUTVOTED = 0.5
NO_AGREEMENT = "no_agreement"
# Warm enough for other joins and filters, and not for other languages.
TEMPERATURE = 0.7


def doubtful(outcome: StepOutcome) -> bool:
    """Whether other statements are worth their calls: it failed for how it was written, was mended, or says little."""
    if outcome.fault is not None:
        return is_mendable(outcome.fault) or outcome.fault.code == MENDED_EMPTY
    found = outcome.sql
    return found is not None and bool(outcome.repaired or found.confidence < SURE or suspicious(found.result))


def settled(drawn: Sequence[StepOutcome], most: int) -> bool:
    """Whether more statements, `most` in all, could not change what is taken."""
    groups = _groups(drawn)
    return bool(groups) and len(groups[0]) > most / 2


def choose(drawn: Sequence[StepOutcome]) -> StepOutcome:
    """The outcome taken, of the first statement and those drawn after it, with confidence by agreement.

    At least two have to bring the same, and more than bring anything else. Without such a majority the first one stays,
    with half of its confidence, and is no answer where it had failed.
    """
    first, groups = drawn[0], _groups(drawn)
    counted = {"candidates": len(drawn)}
    agreed = [group for group in groups if len(group) > 1]
    if not agreed or (len(groups) > 1 and len(groups[0]) == len(groups[1])):
        return _alone(first, len(drawn))
    best = agreed[0]
    # Of statements that bring the same, one that ran as it was written is the better evidence.
    taken = next((item for item in best if not item.repaired), best[0])
    assert taken.sql is not None
    sure = round(AGREED * len(best) / len(drawn), 2)
    evidence = taken.sql.model_copy(update={"confidence": min(sure, taken.sql.confidence) if taken.repaired else sure})
    return taken.model_copy(update={"sql": evidence, "agreeing": len(best), **counted})


def _alone(first: StepOutcome, count: int) -> StepOutcome:
    if first.sql is None:
        assert first.fault is not None
        message = f"no two of {count} statements brought the same; the first one: {first.fault.message}"
        fault = Fault(fault_class="impossible", code=NO_AGREEMENT, message=message, sql=first.fault.sql)
        return first.model_copy(update={"fault": fault, "candidates": count})
    evidence = first.sql.model_copy(update={"confidence": round(OUTVOTED * first.sql.confidence, 3)})
    return first.model_copy(update={"sql": evidence, "candidates": count, "agreeing": 1})


def _groups(drawn: Sequence[StepOutcome]) -> list[list[StepOutcome]]:
    """Outcomes that brought something, those with the same result together, the largest group first."""
    groups: list[list[StepOutcome]] = []
    for outcome in drawn:
        if outcome.sql is None:
            continue
        for group in groups:
            known = group[0].sql
            if known is not None and same_result(known.result, outcome.sql.result):
                group.append(outcome)
                break
        else:
            groups.append([outcome])
    return sorted(groups, key=lambda group: -len(group))
