"""Checkpoints of questions in the store, by langgraph-checkpoint-postgres, with our own values as JSON.

LangGraph's serializer keeps Pydantic values by their Python fields and fails on integers above 64 bits; ours keeps each
record as its own JSON, which is what the staged answers are too, so that cells come back as they were. Only records of
this package are ever built from a checkpoint: whoever writes into the table cannot name another class.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import DictRow, dict_row
from psycopg_pool import ConnectionPool

from rag_core.connectors.sql_files import statement
from rag_core.connectors.store import Store
from rag_core.datamodel.answer import Answer, Claim, TraceEntry, Usage, Verdict
from rag_core.datamodel.base import Record
from rag_core.datamodel.evidence import Finding
from rag_core.datamodel.plan import Plan, SearchStep, SqlStep
from rag_core.graph.state import Evidence, Request, Revision
from rag_core.plans.strategies import Choice
from rag_core.workers.outcome import StepOutcome
from rag_core.workers.synthesizer import Draft

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import CheckpointTuple
    from langgraph.checkpoint.postgres import PostgresSaver

KIND = "nightshift-json"
MAX_CONNECTIONS = 4
_RECORDS: tuple[type[Record], ...] = (
    Answer,
    Choice,
    Claim,
    Draft,
    Evidence,
    Finding,
    Plan,
    Request,
    Revision,
    SearchStep,
    SqlStep,
    StepOutcome,
    TraceEntry,
    Usage,
    Verdict,
)


@cache
def _record_types() -> dict[str, type[Record]]:
    return {kind.__name__: kind for kind in _RECORDS}


class _Unkept(Exception):
    """A value that is neither a record of ours nor made of plain ones."""


def encode(value: Any) -> Any:
    """A JSON value for a value of the state, or of a task that is sent to a node."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Record):
        name = type(value).__name__
        if name not in _record_types():
            raise _Unkept(name)
        return {"$": "record", "type": name, "value": value.model_dump_json()}
    if type(value) is tuple or type(value) is list:
        return {"$": type(value).__name__, "value": [encode(item) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"$": "dict", "value": {key: encode(item) for key, item in value.items()}}
    from langgraph.types import Send  # noqa: PLC0415 - heavy

    if isinstance(value, Send):
        return {"$": "send", "node": value.node, "value": encode(value.arg)}
    raise _Unkept(type(value).__name__)


def decode(value: Any) -> Any:
    """What `encode` was given. Raises ValueError for a record that is none of ours."""
    if not isinstance(value, dict):
        return value
    kind, inner = value["$"], value["value"]
    if kind == "record":
        record = _record_types().get(value["type"])
        if record is None:
            raise ValueError(f"a checkpoint names {value['type']}, which is none of its records")
        return record.model_validate_json(inner)
    if kind == "send":
        from langgraph.types import Send  # noqa: PLC0415 - heavy

        return Send(value["node"], decode(inner))
    if kind == "dict":
        return {key: decode(item) for key, item in inner.items()}
    items = [decode(item) for item in inner]
    return tuple(items) if kind == "tuple" else items


def open_saver(pool: ConnectionPool[psycopg.Connection[DictRow]]) -> PostgresSaver:
    """LangGraph's saver over a pool, with our JSON and with the asynchronous methods that `ainvoke` asks for."""
    from langgraph.checkpoint.postgres import PostgresSaver  # noqa: PLC0415 - heavy
    from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer  # noqa: PLC0415 - heavy

    class RecordSerializer(JsonPlusSerializer):
        """Values that hold our records as JSON; everything else as LangGraph does, its own safe types alone."""

        def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
            if obj is None or isinstance(obj, bytes | bytearray):
                return super().dumps_typed(obj)
            try:
                return KIND, json.dumps(encode(obj)).encode()
            except _Unkept:
                return super().dumps_typed(obj)

        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            return decode(json.loads(data[1])) if data[0] == KIND else super().loads_typed(data)

    class StoreSaver(PostgresSaver):
        """The saver's asynchronous methods, done in threads."""

        async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
            return await asyncio.to_thread(self.get_tuple, config)

        async def alist(self, config: RunnableConfig | None, **more: Any) -> AsyncIterator[CheckpointTuple]:
            for found in await asyncio.to_thread(lambda: list(self.list(config, **more))):
                yield found

        async def aput(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> Any:
            return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

        async def aput_writes(
            self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
        ) -> None:
            await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    return StoreSaver(pool, serde=RecordSerializer(allowed_msgpack_modules=None))


class Checkpoints:
    """Checkpoints in one store. Safe to use from several threads; close it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] | None = None
        self._saver: PostgresSaver | None = None

    @property
    def saver(self) -> PostgresSaver:
        """What LangGraph saves with. Raises ServiceUnavailable where the store does not answer."""
        if self._saver is None:
            with self._store.connection() as connection:
                # The store tells in one line what is wrong with it; the pool below would try for half a minute.
                row = connection.execute(statement("checkpoints/read_version")).fetchone()
            self._pool = ConnectionPool(
                self._store.dsn,
                connection_class=psycopg.Connection[DictRow],
                kwargs={"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row},
                min_size=0,
                max_size=MAX_CONNECTIONS,
                open=True,
                configure=_use_schema,
                check=ConnectionPool.check_connection,
            )
            saver = open_saver(self._pool)
            if row is None or row[0] < len(saver.MIGRATIONS) - 1:
                saver.setup()
            self._saver = saver
        return self._saver

    def close(self) -> None:
        """Closes every connection."""
        if self._pool is not None:
            self._pool.close()
        self._pool = self._saver = None


def _use_schema(connection: psycopg.Connection[DictRow]) -> None:
    connection.execute(statement("checkpoints/set_search_path"))
