"""Builds the graph of a question with LangGraph, and answers questions with it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

from rag_core.connectors.base import ChatModel, Embedder, PassageSearch, Warehouse
from rag_core.connectors.chat_model_context import calling
from rag_core.datamodel.answer import Answer
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.plan import Plan
from rag_core.errors import BudgetExhausted, ConfigurationError, NightshiftError, ServiceUnavailable
from rag_core.graph.caches import AnswerCache, CachedWarehouse, CountedSearch, NoDocuments, RunCache, replaying
from rag_core.graph.compile import cancellable, check_cancelled, compile_graph
from rag_core.graph.conclude import failed_answer, without_model
from rag_core.graph.decompose import Decomposer
from rag_core.graph.drive import drive
from rag_core.graph.kept_searches import SearchRunner
from rag_core.graph.nodes import Nodes
from rag_core.graph.parts import SchemaSource, fill_parameters
from rag_core.graph.resume import run_checkpointed
from rag_core.graph.state import QuestionState, Request
from rag_core.graph.strategist import Strategist
from rag_core.graph.uses import strategy_use
from rag_core.plans.keeper import PlanKeeper
from rag_core.plans.store import PlanStore
from rag_core.plans.strategies import Choice, StrategyStore
from rag_core.policy.rules import Policy, load_policy
from rag_core.policy.sql_guard import SqlGuard
from rag_core.schema.cache import CatalogCache
from rag_core.schema.knowledge import SchemaKnowledge
from rag_core.schema.mend import Mended, SchemaMender
from rag_core.schema.visible import visible_catalog
from rag_core.semantics.definitions import SemanticModel
from rag_core.semantics.lineage import model_lineage
from rag_core.semantics.model import load_semantic_model
from rag_core.semantics.values import ValueIndex, read_values
from rag_core.workers.planner import Planner
from rag_core.workers.sql_worker import SqlWorker

if TYPE_CHECKING:
    from langgraph.graph.state import CompiledStateGraph

    from rag_core.connectors.store import Store
    from rag_core.graph.checkpoints import Checkpoints

logger = logging.getLogger(__name__)

# LangGraph counts supersteps; a worker's visit takes four with its routing and validation.
SUPERSTEPS_PER_STEP = 4
FIXED_SUPERSTEPS = 20
MAX_RETRIES = 2

Replay = Literal["drafts", "approved"]


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
        checkpoints: where a batch question's state is kept after each node, to go on after a kill; None keeps none.
        replay: which kept plans are replayed: `drafts` too, or `approved` ones only.
        max_retries: how often a failed step is tried again, at most twice; 0 writes no answer again either.
        decompose: whether a question is answered in the parts that it has.
        identity: who the warehouse is asked as, without secrets; what is looked up in it is then kept in the store.
        looks: most statements for looking up values, and as many for joins; None for no bound.
        watched: the warehouse whose schema is checked, where `warehouse` is asked as somebody else than the login.
        candidates: statements that the model may write for one step, where the first one is doubtful.
        keep_searches: whether outcomes of searches are kept in the store, whose own index `search` must then be over.
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
        checkpoints: Checkpoints | None = None,
        replay: Replay = "drafts",
        max_retries: int = MAX_RETRIES,
        decompose: bool = True,
        identity: str | None = None,
        looks: int | None = None,
        watched: Warehouse | None = None,
        candidates: int = 1,
        keep_searches: bool = False,
    ) -> None:
        cache = RunCache()
        self._answers = AnswerCache(cache)
        self._warehouse = CachedWarehouse(warehouse, cache)
        self._guard, self._catalog_cache, self._semantic_model = guard, catalog_cache, semantic_model
        self._chat_model, self._candidates = chat_model, candidates
        self._keeper = self._make_keeper(store)
        self._mender = self._make_mender(store, warehouse, watched)
        self._limit, self._seconds = FIXED_SUPERSTEPS + SUPERSTEPS_PER_STEP * question_steps, question_seconds
        self._checkpoints = checkpoints
        self._replay: Replay = replay
        self._visible: tuple[Catalog, Catalog] | None = None
        # Not through the run's cache: hundreds of small looks would drive the answers out of it.
        self._knowledge = SchemaKnowledge(
            warehouse, store, policy=lambda: self._guard.policy, identity=identity, looks=looks
        )
        self._planner = Planner(semantic_model, values, chat_model=chat_model, router_model=router_model, cut=decompose)
        self._strategist = Strategist(
            planner=self._planner,
            decomposer=Decomposer(self._planner.matcher, semantic_model, values) if decompose else None,
            statistics=StrategyStore(store).summarise if store is not None else tuple,
        )
        self._nodes = Nodes(
            planner=self._planner,
            strategist=self._strategist,
            sql_worker=self._sql_worker,
            refresh_schema=lambda: self._renew_guard(catalog_cache.refresh()),
            search=SearchRunner(CountedSearch(search), embedder, store if keep_searches else None),
            question_seconds=question_seconds,
            question_steps=question_steps,
            max_retries=max_retries,
        )
        self._app: CompiledStateGraph[Any, Any, Any, Any] | None = None
        self._kept_app: CompiledStateGraph[Any, Any, Any, Any] | None = None

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

    def _make_mender(self, store: Store | None, warehouse: Warehouse, watched: Warehouse | None) -> SchemaMender | None:
        if store is None:
            return None
        return SchemaMender(
            warehouse,
            store,
            self._catalog_cache,
            rules=self._guard.policy.drift,
            lineage=lambda: model_lineage(self._semantic_model),
            watched=watched,
        )

    def _mend(self, sql: str, name: str) -> tuple[Mended, SqlGuard]:
        assert self._mender is not None
        mended = self._mender.mend(sql, name)
        self._renew_guard(self._catalog_cache.current())
        return mended, self._guard

    def _sql_worker(self) -> SqlWorker:
        return SqlWorker(
            warehouse=self._warehouse,
            guard=self._guard,
            catalog=self._visible_catalog(),
            semantic_model=self._semantic_model,
            chat_model=self._chat_model,
            mend=self._mend if self._mender is not None else None,
            check_joins=lambda query: self._knowledge.require(query, self._visible_catalog(), self._guard.check),
            check_names=self._mender.require_names if self._mender is not None else None,
            known=lambda: self._knowledge.known(self._visible_catalog(), self._guard.check),
            candidates=self._candidates,
        )

    def _visible_catalog(self) -> Catalog:
        catalog = self._catalog_cache.current()
        if self._visible is None or self._visible[0] is not catalog:
            self._visible = (catalog, visible_catalog(self._guard.policy, catalog))
        return self._visible[1]

    def _renew_guard(self, catalog: Catalog) -> None:
        if catalog is not self._guard.catalog:
            self._guard = SqlGuard(self._guard.policy, catalog)

    def get_compiled_app(self, *, checkpointed: bool = False) -> CompiledStateGraph[Any, Any, Any, Any]:
        """The compiled graph: `invoke` and `ainvoke` take `{"request": Request(...)}`; the answer is in `answer`.

        With `checkpointed` its state is kept after each node, and the configuration must name a `thread_id`. Raises
        ConfigurationError where the orchestrator has no checkpoints.
        """
        if checkpointed:
            if self._checkpoints is None:
                raise ConfigurationError("an orchestrator without `checkpoints` keeps no state")
            if self._kept_app is None:
                self._kept_app = compile_graph(self._nodes, self._checkpoints.saver)
            return self._kept_app
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
        replay: Replay | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """The answer to one question.

        Args:
            question: in plain words; `{name}` in it is replaced by the parameter of that name.
            run_date: the day that relative times refer to.
            question_id: of a standing question.
            parameters: values for the question's placeholders.
            strategy: `auto`, or the one that may be used.
            run_id: of the batch run. With a question id it names the question's checkpoints.
            replay: which kept plans are replayed; None as the orchestrator does.
            cancel: once it is set, the question ends before its next node, as failed.

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
        try:
            with calling(run_id=run_id, question_id=question_id or ""), cancellable(cancel):
                return self._answer_once(request, replay or self._replay)
        except (ServiceUnavailable, ConfigurationError):
            raise
        except NightshiftError as error:
            return failed_answer(request, str(error))
        except Exception as error:
            # One question must not end the batch; the log has the traceback.
            logger.exception("question %s failed", question_id or text[:80])
            return failed_answer(request, f"an internal error ({type(error).__name__}), see the log")

    def need_no_model(
        self, questions: Sequence[tuple[str, Mapping[str, Any]]], *, replay: Replay | None = None
    ) -> list[bool]:
        """Of each question with its parameters whether a kept plan answers it, or there is no chat model at all.

        A plan whose replay fails is made anew, which may ask the model after all.
        """
        if self._chat_model is None or self._keeper is None:
            return [self._chat_model is None] * len(questions)
        texts = [fill_parameters(text, parameters) for text, parameters in questions]
        return self._keeper.have_plans(texts, approved_only=(replay or self._replay) == "approved")

    def _answer_once(self, request: Request, replay: Replay) -> Answer:
        """The answer that this run has given to the same question over the same inputs, else a new one."""
        known = self._answers.get(request, self._fingerprints)
        if known is not None:
            return known
        state = self._answer(request, replay)
        if "plan" in state:
            self._answers.put(request, state["plan"], state["answer"], self._fingerprints)
        return state["answer"]

    def _fingerprints(self, plan: Plan, tables: tuple[str, ...]) -> dict[str, str] | None:
        return self._keeper.fingerprints(plan, tables) if self._keeper is not None else None

    def _answer(self, request: Request, replay: Replay) -> QuestionState:
        """Replays a kept plan that holds, else plans anew and keeps what answered."""
        started = time.perf_counter()
        keeper, kept = self._keeper, None
        if keeper is not None and request.strategy in ("auto", "replay"):
            approved_only = replay == "approved"
            plan, kept = keeper.recall(request.question, request.run_date, approved_only=approved_only)
            if plan is not None and kept is not None:
                with replaying():
                    state = drive(self._nodes, {"request": request, "plan": plan}, limit=self._limit)
                self._record(state, self._strategist.replayed(kept.plan), started, approved=kept.state == "approved")
                if state["answer"].status != "failed":
                    return state
                check_cancelled()
                keeper.give_up(kept, state["answer"].text)
        if request.strategy == "replay":
            return {"answer": failed_answer(request, "no kept plan holds for this question")}
        state = self._plan_anew(request)
        self._record(state, state["choice"], started)
        return state

    def _plan_anew(self, request: Request) -> QuestionState:
        try:
            return self._run({"request": request}, self._thread(request))
        except BudgetExhausted as error:
            # What needs no model is answered all the same; of the rest it is said why it is not.
            free = self._run({"request": request.model_copy(update={"strategy": "metric"})})
            free["answer"] = without_model(free["answer"], str(error))
            return free

    def _record(self, state: QuestionState, choice: Choice, started: float, *, approved: bool | None = None) -> None:
        """Keeps a plan that has answered, and writes down how it was chosen; `approved` None: it was no replay."""
        keeper = self._keeper
        if keeper is None:
            return
        answer, milliseconds = state["answer"], round((time.perf_counter() - started) * 1000, 3)
        replayed = approved is not None
        kept = replayed or keeper.keep(state["plan"], answer, dict(state.get("unbound", ())))
        use = strategy_use(state, choice, milliseconds)
        keeper.record(
            answer, replayed=replayed, milliseconds=milliseconds, use=use, kept=kept, with_text=bool(approved)
        )

    def _thread(self, request: Request) -> str | None:
        """The name of the question's checkpoints; None where no model may be called or nobody could go on with it."""
        if self._checkpoints is None or self._chat_model is None or not (request.run_id and request.question_id):
            return None
        return f"{request.run_id}:{request.question_id}"

    def _run(self, state: QuestionState, thread: str | None = None) -> QuestionState:
        if thread is None:
            app = self.get_compiled_app()
            return cast(QuestionState, app.invoke(cast(Any, state), {"recursion_limit": self._limit}))
        kept = self.get_compiled_app(checkpointed=True)
        return run_checkpointed(kept, state, thread=thread, limit=self._limit, seconds=self._seconds)


def create_orchestrator(
    *,
    warehouse: Warehouse,
    semantic_model: SemanticModel | Path,
    policy: Policy | Path | None = None,
    store: Store | None = None,
    embedder: Embedder | None = None,
    chat_model: ChatModel | None = None,
    max_retries: int = MAX_RETRIES,
    guard: SqlGuard | None = None,
    catalog_cache: SchemaSource | None = None,
    values: ValueIndex | None = None,
    search: PassageSearch | None = None,
    **more: Any,
) -> Orchestrator:
    """An orchestrator from what a program has at hand; `.get_compiled_app()` is the runnable.

    Args:
        warehouse: a connector, as `connectors.warehouses.open_warehouse` gives it.
        semantic_model: metrics and dimensions, or their file.
        policy: the warehouse policy, or its file; needed where no guard is given.
        store: where plans, the log of strategies and, with an embedder, the document index are; None keeps nothing.
        embedder: the model of the document index.
        chat_model: None answers what can be proved without one.
        max_retries: how often a failed step is tried again, at most twice.
        guard, catalog_cache, values, search: parts that are made of the above where they are not given.
        more: what `Orchestrator` takes besides.

    Raises ConfigurationError for a file that cannot be used, ServiceUnavailable where the warehouse does not answer.
    """
    from rag_core.retrieval.search import HybridSearch  # noqa: PLC0415 - heavy

    model = load_semantic_model(semantic_model) if isinstance(semantic_model, Path) else semantic_model
    cache = catalog_cache or CatalogCache(warehouse)
    if guard is None:
        if policy is None:
            raise ConfigurationError("an orchestrator needs a policy: pass `policy` or `guard`")
        guard = SqlGuard(load_policy(policy) if isinstance(policy, Path) else policy, cache.current())
    if search is None:
        search = HybridSearch(store, embedder) if store is not None and embedder is not None else NoDocuments()
    return Orchestrator(
        warehouse=warehouse,
        guard=guard,
        catalog_cache=cache,
        semantic_model=model,
        values=values if values is not None else read_values(model, warehouse, guard),
        search=search,
        chat_model=chat_model,
        store=store,
        embedder=embedder,
        max_retries=max_retries,
        **more,
    )
