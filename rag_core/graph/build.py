"""Builds the graph of a question with LangGraph, and answers questions with it."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol, cast

from rag_core.connectors.base import ChatModel, Embedder, PassageSearch, Warehouse
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.catalog import Catalog
from rag_core.errors import ConfigurationError, NightshiftError, ServiceUnavailable
from rag_core.graph.conclude import failed_answer
from rag_core.graph.nodes import Nodes
from rag_core.graph.state import QuestionState, Request
from rag_core.plans.keeper import PlanKeeper
from rag_core.plans.store import PlanStore
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.mend import Mended, SchemaMender
from rag_core.schema.visible import visible_catalog
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.lineage import model_lineage
from rag_core.semantics.values import ValueIndex
from rag_core.workers.planner import Planner
from rag_core.workers.sql_worker import SqlWorker

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from rag_core.connectors.store import Store

logger = logging.getLogger(__name__)

# LangGraph counts supersteps; a worker's visit takes four with its routing and validation.
SUPERSTEPS_PER_STEP = 4
FIXED_SUPERSTEPS = 20


class SchemaSource(Protocol):
    """The warehouse's schema, kept for a while."""

    def current(self) -> Catalog:
        """The schema as last read."""
        ...

    def refresh(self) -> Catalog:
        """The schema, read anew."""
        ...


class Orchestrator:
    """Answers questions: plans, asks warehouse and documents, validates, says what is carried by evidence.

    Args:
        warehouse: the read-only warehouse.
        guard: the SQL guard; it is made anew with its policy where the schema is read anew.
        catalog_cache: the warehouse's schema.
        semantic_model: metrics, dimensions and verified queries.
        values: values of the dimensions.
        search: search over the documents.
        chat_model: None answers what can be proved without one.
        router_model: a cheaper model for planning; None takes `chat_model`.
        store: where plans are kept; None keeps none.
        embedder: helps to choose the sentences that answer; None chooses by words alone.
        question_seconds: time budget of one question, in seconds.
        question_steps: most visits to workers in one question.
    """

    def __init__(
        self,
        *,
        warehouse: Warehouse,
        guard: SqlGuard,
        catalog_cache: SchemaSource,
        semantic_model: SemanticModel,
        values: ValueIndex,
        search: PassageSearch,
        chat_model: ChatModel | None = None,
        router_model: ChatModel | None = None,
        store: Store | None = None,
        embedder: Embedder | None = None,
        question_seconds: float = 120.0,
        question_steps: int = 30,
    ) -> None:
        self._warehouse = warehouse
        self._guard = guard
        self._catalog_cache = catalog_cache
        self._semantic_model = semantic_model
        self._chat_model = chat_model
        self._keeper = self._make_keeper(store)
        self._mender = self._make_mender(store)
        self._steps = question_steps
        self._visible: tuple[Catalog, Catalog] | None = None
        self._planner = Planner(semantic_model, values, chat_model=chat_model, router_model=router_model)
        self._nodes = Nodes(
            planner=self._planner,
            sql_worker=self._sql_worker,
            refresh_schema=self._refresh_schema,
            search=search,
            embedder=embedder,
            question_seconds=question_seconds,
            question_steps=question_steps,
        )
        self._app: CompiledStateGraph[Any, Any, Any, Any] | None = None

    def _make_keeper(self, store: Store | None) -> PlanKeeper | None:
        if store is None:
            return None
        return PlanKeeper(
            store=PlanStore(store),
            catalog=self._catalog_cache.current,
            policy=lambda: self._guard.policy,
            semantic_model=self._semantic_model,
            chat_model=self._chat_model.model_id if self._chat_model is not None else "",
        )

    def _make_mender(self, store: Store | None) -> SchemaMender | None:
        if store is None:
            return None
        return SchemaMender(
            self._warehouse,
            store,
            self._catalog_cache,
            rules=self._guard.policy.drift,
            lineage=lambda: model_lineage(self._semantic_model),
        )

    def _mend(self, sql: str, name: str) -> tuple[Mended, SqlGuard]:
        assert self._mender is not None
        mended = self._mender.mend(sql, name)
        catalog = self._catalog_cache.current()
        if catalog is not self._guard.catalog:
            self._renew_guard(catalog)
        return mended, self._guard

    def _sql_worker(self) -> SqlWorker:
        return SqlWorker(
            warehouse=self._warehouse,
            guard=self._guard,
            catalog=self._visible_catalog(),
            semantic_model=self._semantic_model,
            chat_model=self._chat_model,
            mend=self._mend if self._mender is not None else None,
        )

    def _visible_catalog(self) -> Catalog:
        catalog = self._catalog_cache.current()
        if self._visible is None or self._visible[0] is not catalog:
            self._visible = (catalog, visible_catalog(self._guard.policy, catalog))
        return self._visible[1]

    def _refresh_schema(self) -> None:
        self._renew_guard(self._catalog_cache.refresh())

    def _renew_guard(self, catalog: Catalog) -> None:
        self._guard = SqlGuard(self._guard.policy, catalog)

    def get_compiled_app(self) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph: `invoke` and `ainvoke` take `{"request": Request(...)}`; the answer is in `answer`."""
        if self._app is None:
            self._app = compile_graph(self._nodes)
        return self._app

    def answer(
        self,
        question: str,
        *,
        run_date: date,
        question_id: str | None = None,
        parameters: Mapping[str, Any] | None = None,
        strategy: str = "auto",
        run_id: str = "",
    ) -> Answer:
        """The answer to one question.

        Args:
            question: in plain words; `{name}` in it is replaced by the parameter of that name.
            run_date: the day that relative times refer to.
            question_id: of a standing question.
            parameters: values for the question's placeholders.
            strategy: `auto`, or the one that may be used.
            run_id: of the batch run.

        A question that cannot be answered is an Answer whose status and text say why. Raises only ServiceUnavailable
        and ConfigurationError: what no question of the run could survive.
        """
        text = fill_parameters(question, parameters or {})
        request = Request(
            question=text,
            run_date=run_date,
            question_id=question_id,
            parameters=dict(parameters or {}),
            strategy=strategy,
            run_id=run_id,
        )
        self.get_compiled_app()
        try:
            return self._answer(request)
        except (ServiceUnavailable, ConfigurationError):
            raise
        except NightshiftError as error:
            return failed_answer(request, str(error))
        except Exception as error:
            # One question must not end the batch; the log has the traceback.
            logger.exception("question %s failed", question_id or text[:80])
            return failed_answer(request, f"an internal error ({type(error).__name__}), see the log")

    def _answer(self, request: Request) -> Answer:
        """Replays a kept plan that holds, else plans anew and keeps what answered."""
        started = time.perf_counter()
        keeper, kept = self._keeper, None
        if keeper is not None and request.strategy in ("auto", "replay"):
            plan, kept = keeper.recall(request.question, request.run_date)
            if plan is not None and kept is not None:
                answer = self._run({"request": request, "plan": plan})["answer"]
                keeper.record(answer, replayed=True, milliseconds=_since(started))
                if answer.status != "failed":
                    return answer
                keeper.give_up(kept, answer.text)
        if request.strategy == "replay":
            return failed_answer(request, "no kept plan holds for this question")
        state = self._run({"request": request})
        answer = state["answer"]
        if keeper is not None and keeper.keep(state["plan"], answer):
            keeper.record(answer, replayed=False, milliseconds=_since(started))
        return answer

    def _run(self, state: QuestionState) -> QuestionState:
        limit = FIXED_SUPERSTEPS + SUPERSTEPS_PER_STEP * self._steps
        final: QuestionState = cast(QuestionState, self.get_compiled_app().invoke(state, {"recursion_limit": limit}))
        return final


def _since(started: float) -> float:
    return round((time.perf_counter() - started) * 1000, 3)


def fill_parameters(question: str, parameters: Mapping[str, Any]) -> str:
    """The question with `{name}` replaced; raises ConfigurationError for a placeholder without a value."""
    text = question
    for name in sorted(parameters):
        text = text.replace("{" + name + "}", str(parameters[name]))
    return text


def compile_graph(nodes: Nodes) -> CompiledStateGraph[Any, Any, Any, Any]:
    """plan, supervise, workers side by side, validate_evidence, (reflect), synthesize, evaluate, explain."""
    from langgraph.graph import END, START, StateGraph  # noqa: PLC0415 - heavy
    from langgraph.types import Send  # noqa: PLC0415 - heavy

    def dispatch(state: QuestionState) -> Sequence[Any] | str:
        tasks = nodes.route(state)
        if not tasks:
            return "validate_evidence"
        return [Send("sql_worker" if task["step"].kind == "sql" else "vector_worker", task) for task in tasks]

    def after_plan(state: QuestionState) -> str:
        return "supervise" if state["plan"].steps else "explain"

    graph: Any = StateGraph(QuestionState)
    for name, action in (
        ("plan", nodes.plan),
        ("supervise", nodes.supervise),
        ("sql_worker", nodes.run_sql),
        ("vector_worker", nodes.run_search),
        ("validate_evidence", nodes.validate_evidence),
        ("reflect", nodes.reflect),
        ("synthesize", nodes.synthesize),
        ("evaluate", nodes.evaluate),
        ("explain", nodes.explain),
    ):
        graph.add_node(name, action)
    graph.add_edge(START, "plan")
    graph.add_conditional_edges("plan", after_plan, ["supervise", "explain"])
    graph.add_conditional_edges("supervise", dispatch, ["sql_worker", "vector_worker", "validate_evidence"])
    graph.add_edge("sql_worker", "validate_evidence")
    graph.add_edge("vector_worker", "validate_evidence")
    graph.add_conditional_edges("validate_evidence", nodes.after_validation, ["reflect", "supervise", "synthesize"])
    graph.add_conditional_edges("reflect", nodes.after_reflection, ["supervise", "synthesize"])
    graph.add_edge("synthesize", "evaluate")
    graph.add_conditional_edges("evaluate", nodes.after_evaluation, ["synthesize", "explain"])
    graph.add_edge("explain", END)
    compiled: CompiledStateGraph[Any, Any, Any, Any] = graph.compile(name="nightshift-question")
    return compiled


def create_orchestrator(**parts: Any) -> Orchestrator:
    """An orchestrator from its parts, as `Orchestrator` takes them; `.get_compiled_app()` is the runnable."""
    return Orchestrator(**parts)
