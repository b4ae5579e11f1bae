"""The composition root: builds every adapter, each when it is first used, and hands them on.

Imports stand inside the properties on purpose: a command that only lists plans must not pay for torch or LangGraph.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from rag_core.connectors.dsn import libpq_dsn, parse_dsn
from rag_core.connectors.sql_files import files_root
from rag_core.connectors.store import Store
from rag_core.errors import ConfigurationError
from rag_core.settings import Settings, load_settings

if TYPE_CHECKING:
    from rag_core.batch.gate import SchemaGate
    from rag_core.batch.runner import BatchRunner
    from rag_core.connectors.base import ChatModel, Embedder, TableWriter, Warehouse
    from rag_core.connectors.chat_model_ledger import ModelCallLedger
    from rag_core.datamodel.catalog import Catalog
    from rag_core.datamodel.report import BatchOutcome
    from rag_core.graph.build import Orchestrator
    from rag_core.graph.checkpoints import Checkpoints
    from rag_core.policy.rules import Policy
    from rag_core.policy.sql_guard import SqlGuard
    from rag_core.reports.mirror import ReportMirror
    from rag_core.retrieval.search import HybridSearch
    from rag_core.schema.alerts import Channel
    from rag_core.schema.cache import CatalogCache
    from rag_core.schema.profiles import Profiler
    from rag_core.semantics.model import SemanticModel
    from rag_core.semantics.values import ValueIndex

# The last day of the sample's data is the day before: relative times in its questions refer to this day.
SAMPLE_AS_OF = date(2026, 7, 1)


class Services:
    """Everything that one process uses. Close it, or use it as a context manager."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._guard: tuple[Catalog, SqlGuard] | None = None
        self._principals: dict[str, Services] = {}
        self._login_warehouse: Warehouse | None = None
        self._writer: TableWriter | None = None

    def __enter__(self) -> Services:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Gives back every connection that was opened."""
        for other in self._principals.values():
            asked = other.__dict__.pop("warehouse", None)
            if asked is not None:
                asked.close()
        self._principals.clear()
        if self._writer is not None:
            self._writer.close()
            self._writer = None
        for name in ("warehouse", "checkpoints", "store"):
            opened = self.__dict__.pop(name, None)
            if opened is not None:
                opened.close()

    def asking_as(self, principal: str | None) -> Services:
        """Services whose questions reach the warehouse as `principal`; None is the login itself.

        Store, documents and models are shared; the schema, the values of dimensions and the guard are the principal's
        own, as its grants decide what is there. Close only the services that this was asked of.
        """
        if principal is None:
            return self
        if principal not in self._principals:
            other = Services(self.settings)
            for name in (
                *("store_dsn", "store", "policy", "semantic_model", "embedder", "search"),
                *("chat_model", "router_model", "ledger", "checkpoints"),
            ):
                other.__dict__[name] = getattr(self, name)
            other.__dict__["warehouse"] = self._warehouse_of(principal, other)
            other._login_warehouse = self.warehouse
            other.__dict__["warehouse_identity"] = self._identity_of(principal)
            self._principals[principal] = other
        return self._principals[principal]

    def _warehouse_of(self, principal: str, other: Services) -> Warehouse:
        from rag_core.policy.judged import judged  # noqa: PLC0415

        own = self.settings.warehouse.principals.get(principal)
        if own is not None:
            return other._open_warehouse(own.get_secret_value())
        return judged(self.warehouse.for_principal(principal), lambda: other.guard)

    def _identity_of(self, principal: str) -> str:
        from rag_core.connectors.dsn import masked_dsn  # noqa: PLC0415

        own = self.settings.warehouse.principals.get(principal)
        return f"{masked_dsn(own.get_secret_value()) if own is not None else self.warehouse_identity} as {principal}"

    def config_path(self, path: Path) -> Path:
        """A file of the configuration: as given, else relative to the working folder, else the shipped one."""
        if path.is_absolute() or path.exists():
            return path
        return files_root() / path

    def run_date(self, wanted: str | None = None) -> date:
        """The date that relative times refer to: as asked, as set, the sample's, else today in the time zone set."""
        text = wanted or self.settings.today
        if text:
            try:
                return date.fromisoformat(text)
            except ValueError:
                raise ConfigurationError(f"not a date of the form YYYY-MM-DD: {text}") from None
        if self.settings.embedded_warehouse:
            return SAMPLE_AS_OF
        try:
            zone = ZoneInfo(self.settings.warehouse.timezone)
        except (ZoneInfoNotFoundError, ValueError):
            raise ConfigurationError(
                f"NIGHTSHIFT_WAREHOUSE__TIMEZONE is not a time zone: {self.settings.warehouse.timezone}"
            ) from None
        return datetime.now(zone).date()

    @cached_property
    def store_dsn(self) -> str:
        """The store's URL in libpq's form."""
        from rag_core.provision import embedded_store_dsn  # noqa: PLC0415 - starts the embedded server

        if self.settings.store.dsn is None:
            return embedded_store_dsn(self.settings)
        url = parse_dsn(self.settings.store.dsn.get_secret_value(), setting="NIGHTSHIFT_STORE__DSN")
        return libpq_dsn(url)

    @cached_property
    def warehouse_dsn(self) -> str:
        """The warehouse's SQLAlchemy URL."""
        from rag_core.provision import embedded_warehouse_dsn  # noqa: PLC0415 - starts the embedded server

        if self.settings.warehouse.dsn is None:
            return embedded_warehouse_dsn(self.settings)
        return self.settings.warehouse.dsn.get_secret_value()

    @cached_property
    def store(self) -> Store:
        """Connections to the store."""
        return Store(self.store_dsn)

    @cached_property
    def warehouse(self) -> Warehouse:
        """The warehouse, by the adapter that its URL names."""
        return self._open_warehouse(self.warehouse_dsn)

    @cached_property
    def warehouse_identity(self) -> str:
        """Who the warehouse is asked as, without secrets: two that may be shown different rows differ in it."""
        from rag_core.connectors.dsn import masked_dsn  # noqa: PLC0415

        return masked_dsn(self.warehouse_dsn)

    def _open_warehouse(self, dsn: str) -> Warehouse:
        from rag_core.connectors.gate import StatementLimits  # noqa: PLC0415
        from rag_core.connectors.shared_turns import SharedTurns  # noqa: PLC0415
        from rag_core.connectors.warehouses import open_warehouse  # noqa: PLC0415 - drivers
        from rag_core.policy.judged import judged  # noqa: PLC0415

        given = self.settings.warehouse
        limits = StatementLimits(max_concurrent=given.max_concurrent_statements, per_minute=given.statements_per_minute)
        opened = open_warehouse(
            dsn, timezone=given.timezone, limits=limits, turns=lambda name, rate: SharedTurns(self.store, name, rate)
        )
        return judged(opened, lambda: self.guard)

    @cached_property
    def policy(self) -> Policy:
        """The warehouse policy."""
        from rag_core.policy.rules import load_policy  # noqa: PLC0415

        return load_policy(self.config_path(self.settings.warehouse.policy))

    @cached_property
    def catalog_cache(self) -> CatalogCache:
        """The warehouse's schema, cached."""
        from rag_core.schema.cache import CatalogCache  # noqa: PLC0415

        return CatalogCache(self.warehouse)

    @property
    def guard(self) -> SqlGuard:
        """The SQL guard over the current catalog; made anew when the catalog was refreshed."""
        from rag_core.policy.sql_guard import SqlGuard  # noqa: PLC0415

        catalog = self.catalog_cache.current()
        if self._guard is None or self._guard[0] is not catalog:
            self._guard = (catalog, SqlGuard(self.policy, catalog, approved_joins=self._approved_joins(catalog)))
        return self._guard[1]

    def _approved_joins(self, catalog: Catalog) -> tuple[tuple[str, str], ...]:
        from rag_core.schema.join_probe import read_join_decisions  # noqa: PLC0415

        if not self.policy.joins.need_approval:
            return ()
        decisions = read_join_decisions(self.store, catalog)
        return tuple(sorted(pair for pair, verdict in decisions.items() if verdict == "approved"))

    @cached_property
    def semantic_model(self) -> SemanticModel:
        """Metrics and dimensions."""
        from rag_core.semantics.model import load_semantic_model  # noqa: PLC0415

        return load_semantic_model(self.config_path(self.settings.warehouse.semantic_model))

    @cached_property
    def values(self) -> ValueIndex:
        """Values of the dimensions, read through the guard."""
        from rag_core.semantics.values import read_values  # noqa: PLC0415

        return read_values(self.semantic_model, self.warehouse, self.guard)

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model; its weights load with the first text."""
        return self._open_embedder(self.settings.embedding.model)

    @cached_property
    def search(self) -> HybridSearch:
        """Search over the documents."""
        from rag_core.retrieval.search import HybridSearch  # noqa: PLC0415

        return HybridSearch(self.store, self.embedder, today=self.run_date(), open_embedder=self._open_embedder)

    def _open_embedder(self, setting: str) -> Embedder:
        from rag_core.connectors.embedder import load_embedder  # noqa: PLC0415 - torch

        return load_embedder(setting, batch_size=self.settings.embedding.batch_size)

    @cached_property
    def chat_model(self) -> ChatModel | None:
        """The chat model, or None where none is configured."""
        return self._open_chat_model(self.settings.llm.model) if self.settings.chat_model_configured else None

    @cached_property
    def router_model(self) -> ChatModel | None:
        """The cheaper model that routes, or None where none is configured."""
        name = self.settings.llm.router_model
        return self._open_chat_model(name) if self.settings.chat_model_configured and name is not None else None

    def _open_chat_model(self, name: str | None) -> ChatModel:
        from rag_core.connectors.chat_model import OpenAIChatModel  # noqa: PLC0415 - langchain
        from rag_core.connectors.chat_model_prices import load_prices  # noqa: PLC0415

        return OpenAIChatModel(
            self.settings.llm,
            openai_api_key=self.settings.openai_api_key,
            model=name,
            ledger=self.ledger,
            prices=load_prices(self.config_path(self.settings.llm.prices)),
        )

    @cached_property
    def ledger(self) -> ModelCallLedger:
        """Accounts of the chat models' calls, with their budgets and rate limits."""
        from rag_core.connectors.chat_model_ledger import CallLimits, ModelCallLedger  # noqa: PLC0415

        given = self.settings.llm.model_dump(include=set(CallLimits.model_fields))
        return ModelCallLedger(self.store, CallLimits(**given))

    @cached_property
    def checkpoints(self) -> Checkpoints:
        """Where the state of a batch's question is kept after each node."""
        from rag_core.graph.checkpoints import Checkpoints  # noqa: PLC0415

        return Checkpoints(self.store)

    @cached_property
    def orchestrator(self) -> Orchestrator:
        """The graph that answers questions."""
        from rag_core.graph.build import Orchestrator  # noqa: PLC0415 - langgraph

        per_minute = self.settings.warehouse.statements_per_minute
        return Orchestrator(
            warehouse=self.warehouse,
            guard=self.guard,
            catalog_cache=self.catalog_cache,
            semantic_model=self.semantic_model,
            values=self.values,
            search=self.search,
            chat_model=self.chat_model,
            router_model=self.router_model,
            store=self.store,
            embedder=self.embedder,
            question_seconds=self.settings.batch.question_seconds,
            question_steps=self.settings.batch.question_steps,
            checkpoints=self.checkpoints if self.chat_model is not None else None,
            identity=self.warehouse_identity,
            # Half of a minute's statements are left to the question.
            looks=None if per_minute is None else per_minute // 4,
            watched=self._login_warehouse,
            candidates=self.settings.llm.candidates,
            keep_searches=True,
        )

    @cached_property
    def batch_runner(self) -> BatchRunner:
        """Runs batches."""
        from rag_core.batch.runner import BatchRunner  # noqa: PLC0415

        return BatchRunner(
            store=self.store,
            orchestrator=lambda principal: self.asking_as(principal).orchestrator,
            reports_folder=self.settings.home / "reports",
            schema_gate=lambda: self.schema_gate,
            side_by_side=self.settings.warehouse.max_concurrent_statements,
        )

    @cached_property
    def report_mirror(self) -> ReportMirror | None:
        """Copies published runs to a warehouse; None where none is set."""
        from rag_core.connectors.table_writers import open_table_writer  # noqa: PLC0415 - drivers
        from rag_core.reports.mirror import ReportMirror  # noqa: PLC0415

        dsn = self.settings.reports.mirror_dsn
        if dsn is None:
            return None
        self._writer = open_table_writer(dsn.get_secret_value(), setting="NIGHTSHIFT_REPORTS__MIRROR_DSN")
        return ReportMirror(self.store, self._writer, self.settings.reports.mirror_schema)

    def copy_reports(self, outcome: BatchOutcome) -> None:
        """Copies a run that was published to the warehouse of the reports, where one is set; safe to repeat."""
        if self.report_mirror is not None:
            self.report_mirror.copy_outcome(outcome)

    @cached_property
    def schema_gate(self) -> SchemaGate:
        """Holds questions back that a breaking schema change touches."""
        from rag_core.batch.gate import SchemaGate  # noqa: PLC0415
        from rag_core.semantics.lineage import model_lineage  # noqa: PLC0415

        return SchemaGate(
            self.warehouse, self.store, rules=self.policy.drift, lineage=lambda: model_lineage(self.semantic_model)
        )

    @property
    def profiler(self) -> Profiler:
        """Reads what columns hold, through the guard over the current schema."""
        from rag_core.schema.profiles import Profiler  # noqa: PLC0415

        return Profiler(self.warehouse, lambda sql: self.guard.check(sql))

    def alert_channels(self, context: Mapping[str, Any] | None = None) -> dict[str, Channel]:
        """The configured channels of drift alerts by name; a callback gets `context` with each alert.

        Raises ConfigurationError where a channel lacks a setting.
        """
        from rag_core.schema.alerts import MailServer, callback, mail, webhook  # noqa: PLC0415

        wanted, notify = self.settings.alerts, self.settings.notify
        channels: dict[str, Channel] = {}
        for name in dict.fromkeys(wanted.channels):
            if name == "webhook":
                if notify.webhook_url is None:
                    raise ConfigurationError("the channel webhook needs NIGHTSHIFT_NOTIFY__WEBHOOK_URL")
                secret = notify.webhook_secret.get_secret_value() if notify.webhook_secret is not None else None
                channels[name] = webhook(notify.webhook_url.get_secret_value(), secret=secret)
            elif name == "mail":
                if wanted.mail_host is None:
                    raise ConfigurationError("the channel mail needs NIGHTSHIFT_ALERTS__MAIL_HOST")
                server = MailServer(
                    host=wanted.mail_host,
                    sender=wanted.mail_from,
                    port=wanted.mail_port,
                    security=wanted.mail_security,
                    username=wanted.mail_username,
                    password=wanted.mail_password.get_secret_value() if wanted.mail_password is not None else None,
                )
                channels[name] = mail(server, default=wanted.mail_to, by_owner=wanted.owner_mail)
            else:
                if wanted.callback is None:
                    raise ConfigurationError("the channel callback needs NIGHTSHIFT_ALERTS__CALLBACK")
                channels[name] = callback(wanted.callback, context)
        return channels


def open_services(settings: Settings | None = None) -> Services:
    """Services for one process, with settings from the environment unless given."""
    return Services(settings or load_settings())
