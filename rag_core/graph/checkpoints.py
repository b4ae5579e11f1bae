"""Checkpoints of questions in the store, by langgraph-checkpoint-postgres, with our own values as JSON.

LangGraph's serializer keeps Pydantic values by their Python fields and fails on integers above 64 bits; ours keeps each
record as its own JSON, which is what the staged answers are too, so that cells come back as they were. Only records of
this package are ever built from a checkpoint: whoever writes into the table cannot name another class.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import psycopg
from langgraph.checkpoint.base import CheckpointTuple
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer
from langgraph.types import Send
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


class RecordSerializer(JsonPlusSerializer):
    """Values that hold our records as JSON; everything else as LangGraph does, with its own safe types alone."""

    def __init__(self) -> None:
        super().__init__(allowed_msgpack_modules=None)

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        """The kind and the bytes of a value."""
        if obj is None or isinstance(obj, bytes | bytearray):
            return super().dumps_typed(obj)
        try:
            return KIND, json.dumps(_encode(obj), allow_nan=True).encode()
        except TypeError:
            return super().dumps_typed(obj)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        """The value of a kind and bytes; raises ValueError for a record that is none of ours."""
        if data[0] == KIND:
            return _decode(json.loads(data[1]))
        return super().loads_typed(data)


def _encode(value: Any) -> Any:
    """A JSON value; raises TypeError for what is neither a record of ours nor made of plain values."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Record):
        name = type(value).__name__
        if name not in _record_types():
            raise TypeError(f"{name} is not kept in checkpoints")
        return {"$": "record", "type": name, "value": value.model_dump_json()}
    if isinstance(value, Send):
        return {"$": "send", "node": value.node, "value": _encode(value.arg)}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"$": "dict", "value": {key: _encode(item) for key, item in value.items()}}
    if isinstance(value, tuple) and type(value) is tuple:
        return {"$": "tuple", "value": [_encode(item) for item in value]}
    if isinstance(value, list):
        return {"$": "list", "value": [_encode(item) for item in value]}
    raise TypeError(f"{type(value).__name__} is not kept in checkpoints")


def _decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind, inner = value["$"], value["value"]
    if kind == "record":
        record = _record_types().get(value["type"])
        if record is None:
            raise ValueError(f"a checkpoint names {value['type']}, which is none of its records")
        return record.model_validate_json(inner)
    if kind == "send":
        return Send(value["node"], _decode(inner))
    if kind == "dict":
        return {key: _decode(item) for key, item in inner.items()}
    items = [_decode(item) for item in inner]
    return tuple(items) if kind == "tuple" else items


class StoreSaver(PostgresSaver):
    """The saver over a pool, with the asynchronous methods that `ainvoke` asks for, done in threads."""

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """As `get_tuple`."""
        return await asyncio.to_thread(self.get_tuple, config)

    async def alist(self, config: RunnableConfig | None, **more: Any) -> AsyncIterator[CheckpointTuple]:
        """As `list`."""
        for found in await asyncio.to_thread(lambda: list(self.list(config, **more))):
            yield found

    async def aput(self, config: RunnableConfig, checkpoint: Any, metadata: Any, new_versions: Any) -> RunnableConfig:
        """As `put`."""
        return await asyncio.to_thread(self.put, config, checkpoint, metadata, new_versions)

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """As `put_writes`."""
        await asyncio.to_thread(self.put_writes, config, writes, task_id, task_path)

    async def adelete_thread(self, thread_id: str) -> None:
        """As `delete_thread`."""
        await asyncio.to_thread(self.delete_thread, thread_id)


class Checkpoints:
    """Checkpoints in one store. Safe to use from several threads; close it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._pool: ConnectionPool[psycopg.Connection[DictRow]] | None = None
        self._saver: StoreSaver | None = None

    @property
    def saver(self) -> StoreSaver:
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
            saver = StoreSaver(self._pool, serde=RecordSerializer())
            if row is None or row[0] < len(saver.MIGRATIONS) - 1:
                saver.setup()
            self._saver = saver
        return self._saver

    def forget(self, thread_id: str) -> None:
        """Removes the checkpoints of a question that has its answer."""
        self.saver.delete_thread(thread_id)

    def forget_run(self, run_id: str) -> None:
        """Removes the checkpoints of all questions of a run."""
        with self._store.connection() as connection:
            prefix = {"prefix": thread_of(run_id, "")}
            connection.execute(statement("checkpoints/delete_run_checkpoints"), prefix)
            connection.execute(statement("checkpoints/delete_run_checkpoint_blobs"), prefix)
            connection.execute(statement("checkpoints/delete_run_checkpoint_writes"), prefix)

    def prune(self, before: datetime) -> int:
        """Removes what nobody has gone on with since `before`; returns the number of questions."""
        with self._store.connection() as connection:
            old = connection.execute(statement("checkpoints/list_old_threads"), {"before": before}).fetchall()
        for (thread_id,) in old:
            self.forget(thread_id)
        return len(old)

    def close(self) -> None:
        """Closes every connection."""
        if self._pool is not None:
            self._pool.close()
        self._pool = self._saver = None


def _use_schema(connection: psycopg.Connection[DictRow]) -> None:
    connection.execute(statement("checkpoints/set_search_path"))


def thread_of(run_id: str, question_id: str) -> str:
    """The name under which a question of a run is kept."""
    return f"{run_id}:{question_id}"
