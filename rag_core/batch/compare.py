"""What changed between two versions of a batch. Pure."""

from __future__ import annotations

from typing import Any, Literal

from rag_core.datamodel.base import Record
from rag_core.datamodel.question import Batch

_HEAD = tuple(name for name in Batch.model_fields if name not in ("batch", "questions"))


class BatchChange(Record):
    """One difference. A changed text is a new version of the question, with a history of its own."""

    kind: Literal["added", "removed", "text_changed", "changed", "head_changed"]
    question_id: str | None = None
    field: str | None = None
    before: Any = None
    after: Any = None


def compare_batches(before: Batch, after: Batch) -> tuple[BatchChange, ...]:
    """The differences, the head first, then question by question in the order of the later version."""
    changes = [
        BatchChange(kind="head_changed", field=name, before=old, after=new)
        for name in _HEAD
        if (old := _plain(before, name)) != (new := _plain(after, name))
    ]
    known = {question.question_id: question for question in before.questions}
    for question in after.questions:
        earlier = known.pop(question.question_id, None)
        if earlier is None:
            changes.append(BatchChange(kind="added", question_id=question.question_id, after=question.text))
            continue
        for name in type(question).model_fields:
            old, new = _plain(earlier, name), _plain(question, name)
            if old != new:
                kind: Literal["text_changed", "changed"] = "text_changed" if name == "text" else "changed"
                changes.append(
                    BatchChange(kind=kind, question_id=question.question_id, field=name, before=old, after=new)
                )
    changes += [
        BatchChange(kind="removed", question_id=question.question_id, before=question.text)
        for question in known.values()
    ]
    return tuple(changes)


def _plain(value: Record, name: str) -> Any:
    return value.model_dump(mode="json", include={name})[name]
