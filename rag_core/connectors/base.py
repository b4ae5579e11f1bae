"""The ports of the core. Adapters live beside this module; `rag_core.wiring` alone builds them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, Self, TypeVar

from pydantic import BaseModel

from rag_core.datamodel.answer import Usage
from rag_core.datamodel.base import Record
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.evidence import SearchOutcome
from rag_core.datamodel.query import GuardedSql, QueryResult

Output = TypeVar("Output", bound=BaseModel)


class QueryCost(Record):
    """What the database's planner expects of a statement: rows out and cost in its own unit, None where unknown."""

    rows: float | None = None
    cost: float | None = None


class Warehouse(Protocol):
    """A read-only warehouse. Implementations are safe to use from several threads."""

    @property
    def dialect(self) -> str:
        """sqlglot's name of the SQL dialect: postgres, redshift, snowflake, bigquery or duckdb."""
        ...

    def snapshot(self) -> Catalog:
        """Reads the whole schema in bulk catalog queries. Raises ServiceUnavailable."""
        ...

    def explain(self, query: GuardedSql) -> QueryCost:
        """Lets the database plan the statement without running it. Raises QueryFault, ServiceUnavailable."""
        ...

    def execute(self, query: GuardedSql) -> QueryResult:
        """Runs the statement in one read-only transaction under its limits. Raises QueryFault, ServiceUnavailable."""
        ...

    def for_principal(self, principal: str | None) -> Self:
        """The same warehouse asked as another role, so that the database's own grants and row policies decide.

        It shares connections and limits with this one, and closing it closes nothing. None is the login's own role.
        Raises ConfigurationError where the database has no roles to take on.
        """
        ...

    def close(self) -> None:
        """Gives back every connection."""
        ...


class Embedder(Protocol):
    """An embedding model. Vectors are L2-normalised, so that the dot product is the cosine."""

    @property
    def model_id(self) -> str:
        """Name and version, as stored with an index."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens that one text may have, without the special tokens."""
        ...

    def token_spans(self, text: str) -> list[tuple[int, int]]:
        """Character span [start, end) of each token of the text, in order."""
        ...

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One vector a text, in order."""
        ...


class PassageSearch(Protocol):
    """Search over the document index."""

    def search(
        self,
        query: str,
        *,
        top: int = 8,
        filters: Mapping[str, str] | None = None,
        mode: str = "hybrid",
        recency_half_life_days: float | None = None,
    ) -> SearchOutcome:
        """The best passages for a text in plain words.

        Args:
            query: any text; it is never parsed as a query language.
            top: number of passages wanted.
            filters: equality on document metadata, applied before ranking.
            mode: hybrid, dense or bm25.
            recency_half_life_days: age at which a document counts half.
        """
        ...


class Decoding(NamedTuple):
    """How a reply is drawn, beside its prompt.

    `draw` 0 is the likeliest reply; another number draws another one at `temperature`, the same for the same number.
    `grammar` gives the whole reply's grammar in GBNF, empty for none; it is asked only where the endpoint decodes under
    one, and elsewhere what it rules out has to be looked for in the reply.
    """

    draw: int = 0
    temperature: float = 0.0
    grammar: Callable[[], str] | None = None


PLAIN = Decoding()


class ChatModel(Protocol):
    """A chat model with structured output."""

    @property
    def model_id(self) -> str:
        """Name of the model, as stored with each answer."""
        ...

    def complete(
        self, system: str, user: str, output: type[Output], decoding: Decoding = PLAIN
    ) -> tuple[Output, Usage]:
        """One call whose reply is an `output`, at temperature 0 unless `decoding` says otherwise.

        Raises ModelFault where the reply cannot be read as one, ServiceUnavailable where the endpoint does not answer,
        BudgetExhausted where the budget is spent.
        """
        ...


JsonObject = Mapping[str, Any]


class TableWriter(Protocol):
    """Runs statements of one dialect; `close` ends the session."""

    @property
    def dialect(self) -> str:
        """Name of the dialect, as sqlglot knows it."""
        ...

    def run(self, statements: Sequence[str], *, atomic: bool = False) -> None:
        """Runs the statements in order; `atomic` ones all or none. Raises ServiceUnavailable with one line."""
        ...

    def close(self) -> None:
        """Ends the session."""
        ...
