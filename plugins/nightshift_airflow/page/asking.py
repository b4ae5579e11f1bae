"""One question asked now: a run of its own, unpublished, whose answer is staged like that of a batch."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from nightshift_airflow.page.services import PageServices
from rag_core.batch.manual import batch_from_lines
from rag_core.batch.records import AnswerRecord, close_run
from rag_core.batch.runner import BatchRunner
from rag_core.errors import ConfigurationError, NightshiftError
from rag_core.reports.audit import append_event

logger = logging.getLogger(__name__)

# Imports of the first question, a line of others before it, and its own bound.
PATIENCE = timedelta(minutes=10)


def ask(page: PageServices, text: str, *, by: str, run_date: str | None = None) -> tuple[str, str]:
    """Takes a question and has it answered in the background; returns the ids of its run and of the question.

    Raises ConfigurationError with one line where it is no question, ServiceUnavailable where too many wait.
    """
    line = " ".join(text.split())
    if not line:
        raise ConfigurationError("the question is empty")
    batch = batch_from_lines(line).model_copy(update={"owner": by})
    services = page.services
    day = services.run_date(run_date or None)
    # Without the gate of batches, which looks at the whole schema before a run: `nightshift ask` has none either.
    runner = BatchRunner(
        store=page.store,
        orchestrator=lambda principal: services.asking_as(principal).orchestrator,
        reports_folder=services.settings.home / "reports",
    )
    started = runner.start(batch, day, publish=False)
    question = batch.questions[0]
    with page.store.connection() as connection:
        append_event(
            connection, actor=by, action="question.asked", target=started.run_id, detail={"question": question.text}
        )

    def work() -> None:
        try:
            page.build(lambda made: made.orchestrator)
            runner.answer(started.run_id, [question.question_id])
        except NightshiftError as error:
            close_run(page.store, started.run_id, error=str(error))
        except Exception as error:  # whatever went wrong, the page must not wait for ever
            logger.exception("the question of run %s was not answered", started.run_id)
            close_run(page.store, started.run_id, error=f"the question could not be answered ({type(error).__name__})")
        else:
            close_run(page.store, started.run_id)

    try:
        page.submit(started.run_id, work)
    except NightshiftError as error:
        close_run(page.store, started.run_id, error=str(error))
        raise
    return started.run_id, question.question_id


def is_pending(page: PageServices, record: AnswerRecord, now: datetime) -> bool:
    """Whether an answer may still come: the run goes on, here or in another process that has not had its time."""
    if record.answer is not None or record.head.state != "running":
        return False
    return page.is_waiting(record.head.run_id) or now - record.head.started_at < PATIENCE
