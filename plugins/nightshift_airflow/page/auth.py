"""Who may see and do what: Airflow's own session and permissions decide, route by route.

Reading needs a session that Airflow accepts and the right to read runs; a batch's answers and plans need the right to
read that batch's DAG, schema changes and documents the right to read the DAG that finds or ingests them. Changing
something needs the right that the same deed needs in Airflow: asking is starting the DAG `ask_questions`, a document's
retry starting `ingest_documents`; decisions need the right to edit the DAG they concern.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NoReturn

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import AccessView, DagAccessEntity, DagDetails
from airflow.api_fastapi.core_api.security import get_user
from airflow.models.dag import DagModel
from fastapi import Depends, HTTPException, Request, status
from starlette.concurrency import run_in_threadpool

from nightshift_airflow.page.csrf import check_csrf
from rag_core.batch.manual import MANUAL_BATCH

ASK_DAG = "ask_questions"
INGEST_DAG = "ingest_documents"
DRIFT_DAG = "detect_schema_drift"

Method = Literal["GET", "POST", "PUT"]


@dataclass(frozen=True)
class Person:
    """The user that Airflow knows, with what Airflow lets him do."""

    name: str
    user: Any

    def may(self, method: Method, dag_id: str | None = None, entity: Any = None) -> bool:
        """Whether Airflow permits this on a DAG, or on DAGs in general."""
        team = DagModel.get_team_name(dag_id) if dag_id else None
        details = DagDetails(id=dag_id, team_name=team) if dag_id else None
        allowed = get_auth_manager().is_authorized_dag(
            method=method, access_entity=entity, details=details, user=self.user
        )
        return bool(allowed)

    def may_read_batch(self, batch: str) -> bool:
        """Whether the runs and answers of a batch may be seen."""
        return self.may("GET", dag_of(batch))

    def may_review(self, batch: str) -> bool:
        """Whether answers of a batch that were kept back may be released or rejected."""
        return self.may("PUT", dag_of(batch))

    @property
    def may_ask(self) -> bool:
        """Whether a question may be asked."""
        return self.may("POST", ASK_DAG, DagAccessEntity.RUN)

    @property
    def may_decide_plans(self) -> bool:
        """Whether plans may be approved, rejected and planned anew."""
        return self.may("PUT")

    @property
    def may_decide_drift(self) -> bool:
        """Whether changes of the schema may be accepted, rejected and mapped."""
        return self.may("PUT", DRIFT_DAG)

    @property
    def may_read_drift(self) -> bool:
        """Whether changes of the schema may be seen."""
        return self.may("GET", DRIFT_DAG)

    @property
    def may_read_documents(self) -> bool:
        """Whether documents may be listed, read and searched."""
        return self.may("GET", INGEST_DAG)

    def may_read_plan(self, question_id: str | None, homes: Mapping[str, frozenset[str]]) -> bool:
        """Whether a plan may be seen: that of a standing question with all batches that ask it, else as asked by hand.

        `homes` has the batches of each standing question, by its id.
        """
        return all(self.may_read_batch(batch) for batch in homes.get(question_id or "", (MANUAL_BATCH,)))

    @property
    def may_retry_documents(self) -> bool:
        """Whether documents may be processed again."""
        return self.may("POST", INGEST_DAG, DagAccessEntity.RUN)


def dag_of(batch: str) -> str:
    """The DAG whose permissions hold for a batch."""
    return ASK_DAG if batch == MANUAL_BATCH else f"batch_{batch}"


def find_reader(user: Annotated[Any, Depends(get_user)]) -> Person:
    """The person behind a request; 401 without a session, 403 where Airflow lets him read neither site nor runs."""
    person = Person(name=str(user.get_name()), user=user)
    website = get_auth_manager().is_authorized_view(access_view=AccessView.WEBSITE, user=user)
    if not website or not person.may("GET", entity=DagAccessEntity.RUN):
        raise HTTPException(status.HTTP_403_FORBIDDEN, "Your role in Airflow does not permit this.")
    return person


Reader = Annotated[Person, Depends(find_reader)]


def _reading(permitted: Callable[[Person], bool]) -> Callable[..., Any]:
    async def check(person: Reader) -> Person:
        if not await run_in_threadpool(permitted, person):
            refuse()
        return person

    return check


def _acting(permitted: Callable[[Person], bool]) -> Callable[..., Any]:
    async def check(request: Request, person: Reader) -> Person:
        if not await run_in_threadpool(permitted, person):
            refuse()
        await check_csrf(request, person.name)
        return person

    return check


def refuse() -> NoReturn:
    """Ends the request: the role does not permit it."""
    raise HTTPException(status.HTTP_403_FORBIDDEN, "Your role in Airflow does not permit this.")


DriftReader = Annotated[Person, Depends(_reading(lambda person: person.may_read_drift))]
DocumentReader = Annotated[Person, Depends(_reading(lambda person: person.may_read_documents))]
Asker = Annotated[Person, Depends(_acting(lambda person: person.may_ask))]
PlanDecider = Annotated[Person, Depends(_acting(lambda person: person.may_decide_plans))]
DriftDecider = Annotated[Person, Depends(_acting(lambda person: person.may_decide_drift))]
# Which batch is concerned is known only when the run was read: the route asks `may_review` itself.
Reviewer = Annotated[Person, Depends(_acting(lambda person: person.may("PUT")))]
DocumentRetrier = Annotated[Person, Depends(_acting(lambda person: person.may_retry_documents))]
