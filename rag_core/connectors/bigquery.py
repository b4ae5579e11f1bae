"""BigQuery as a warehouse. Its client is imported when the warehouse is first used."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from itertools import islice
from typing import Any

from sqlalchemy.engine import URL

from rag_core.connectors.adapter import Fetched, WarehouseAdapter
from rag_core.connectors.base import QueryCost
from rag_core.connectors.catalogs.bigquery import read_catalog
from rag_core.connectors.deadline import Deadline
from rag_core.connectors.gate import StatementLimits
from rag_core.connectors.one_query import one_query
from rag_core.connectors.rows import fetch_capped
from rag_core.datamodel.catalog import Catalog
from rag_core.datamodel.query import GuardedSql, Limits, ResultColumn
from rag_core.errors import ConfigurationError, QueryFault, ServiceUnavailable

MAXIMUM_BYTES_BILLED = 10 * 1024**3
MESSAGE_LENGTH = 400
CATALOG_LIMITS = Limits(max_rows=1_000_000, timeout_seconds=300)
_BY_WORDS = (
    ("Unrecognized name", "unknown_column"),
    ("not found inside", "unknown_column"),
    ("is ambiguous", "ambiguous_column"),
    ("Not found: Table", "unknown_table"),
    ("Not found: Dataset", "unknown_table"),
    ("bytes billed", "too_large"),
    ("Syntax error", "syntax"),
    ("neither grouped nor aggregated", "syntax"),
    ("No matching signature", "type"),
    ("Function not found", "type"),
)


def import_client() -> Any:
    """The module of BigQuery's client. Raises ConfigurationError where it is not installed."""
    try:
        from google.cloud import bigquery  # noqa: PLC0415 - heavy
    except ModuleNotFoundError:
        raise ConfigurationError(
            "BigQuery's client is not installed: pip install 'nightshift-analytics[bigquery]'"
        ) from None
    return bigquery


def open_client(bigquery: Any, project: str, options: Mapping[str, str]) -> Any:
    """A client for a project; `options` are those of the URL: location, api_endpoint, credentials_path."""
    arguments: dict[str, Any] = {"project": project, "location": options.get("location")}
    endpoint = options.get("api_endpoint")
    if endpoint is not None:
        # Another endpoint is a stand-in or a proxy that logs in by itself.
        anonymous = import_module("google.auth.credentials").AnonymousCredentials()
        arguments |= {"client_options": {"api_endpoint": endpoint}, "credentials": anonymous}
    path = options.get("credentials_path")
    if path is not None:
        return bigquery.Client.from_service_account_json(path, **arguments)
    return bigquery.Client(**arguments)


class BigQueryWarehouse(WarehouseAdapter):
    """A BigQuery project, read by query jobs.

    A query job of one SELECT changes nothing; the guard lets nothing else through. Each job has a bound on the bytes
    that it may bill, a timeout, the session time zone, and the label `app: nightshift`.

    Args:
        url: bigquery://project/dataset, with `location`, `credentials_path`, `maximum_bytes_billed` (bytes) and
            `api_endpoint` as parameters.
        timezone: time zone of each job.
        principal: not known to BigQuery, whose credentials are the principal.
        limits: how much is asked at a time.
    """

    def __init__(
        self, url: URL, *, timezone: str = "UTC", principal: str | None = None, limits: StatementLimits | None = None
    ) -> None:
        self._check_principal(principal)
        super().__init__(timezone=timezone, principal=None, limits=limits)
        if not url.host:
            raise ConfigurationError("NIGHTSHIFT_WAREHOUSE__DSN must name a project, as in bigquery://project/dataset")
        self._project = url.host
        self._dataset = url.database or None
        self._options = {key: value for key, value in url.query.items() if isinstance(value, str)}
        self._bytes_billed = self._options.get("maximum_bytes_billed", str(MAXIMUM_BYTES_BILLED))
        if not self._bytes_billed.isdigit():
            raise ConfigurationError("maximum_bytes_billed in NIGHTSHIFT_WAREHOUSE__DSN must be a number of bytes")
        self._client: Any = None
        self._lock = threading.Lock()

    @property
    def dialect(self) -> str:
        """`bigquery`."""
        return "bigquery"

    # ------------------------------------------------------------------ inside

    def _check_principal(self, principal: str | None) -> None:
        if principal is not None:
            raise ConfigurationError(
                "BigQuery has no SET ROLE: give the principal's own credentials (NIGHTSHIFT_WAREHOUSE__PRINCIPALS)"
            )

    def _read_catalog(self) -> Catalog:
        """Reads the URL's dataset, or all datasets of the project."""
        bigquery = self._connect()
        with self._translated(bigquery, CATALOG_LIMITS, None):
            datasets = [self._dataset] if self._dataset else sorted(d.dataset_id for d in self._client.list_datasets())

        def run(sql: str) -> list[dict[str, Any]]:
            columns, rows, _ = self._query(sql, CATALOG_LIMITS)
            names = [column.name for column in columns]
            return [dict(zip(names, row, strict=True)) for row in rows]

        return read_catalog(self._project, datasets, self._dataset, run)

    def _plan(self, query: GuardedSql) -> QueryCost:
        """A dry run; the cost is the bytes that the statement would read."""
        text = one_query(query.text, self.dialect)
        bigquery = self._connect()
        with self._translated(bigquery, query.limits, None):
            job = self._client.query(text, job_config=self._config(bigquery, query.limits, dry_run=True))
            return QueryCost(cost=float(job.total_bytes_processed or 0))

    def _run(self, query: GuardedSql) -> Fetched:
        """Runs the statement as a job and fetches up to its limits; a job that takes too long is cancelled."""
        return self._query(one_query(query.text, self.dialect), query.limits)

    def _disconnect(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _connect(self) -> Any:
        bigquery = import_client()
        login_error = import_module("google.auth.exceptions").GoogleAuthError
        with self._lock:
            if self._client is None:
                try:
                    self._client = open_client(bigquery, self._project, self._options)
                except (login_error, OSError) as error:
                    raise ServiceUnavailable(f"cannot log in to BigQuery: {_first_line(error)}") from error
        return bigquery

    def _config(self, bigquery: Any, limits: Limits, *, dry_run: bool = False) -> Any:
        config = bigquery.QueryJobConfig(
            use_legacy_sql=False,
            dry_run=dry_run,
            maximum_bytes_billed=int(self._bytes_billed),
            job_timeout_ms=max(1, round(limits.timeout_seconds * 1000)),
            labels={"app": "nightshift"},
            connection_properties=[bigquery.ConnectionProperty("time_zone", self._timezone)],
        )
        if self._dataset:
            config.default_dataset = f"{self._project}.{self._dataset}"
        return config

    def _query(self, sql: str, limits: Limits) -> Fetched:
        bigquery = self._connect()
        job: Any = None

        def cancel() -> None:
            if job is not None:
                job.cancel()

        deadline = Deadline(limits.timeout_seconds, cancel)
        with self._translated(bigquery, limits, deadline), deadline:
            job = self._client.query(sql, job_config=self._config(bigquery, limits))
            try:
                result = job.result(max_results=limits.max_rows + 1, timeout=limits.timeout_seconds)
            except TimeoutError:
                cancel()
                raise
            found = iter(result)
            rows, truncated_by = fetch_capped(
                lambda size: [row.values() for row in islice(found, size)], limits, before_fetch=deadline.check
            )
            columns = tuple(ResultColumn(name=item.name, type=_type_name(item)) for item in result.schema)
        return Fetched(columns, rows, truncated_by)

    @contextmanager
    def _translated(self, bigquery: Any, limits: Limits, deadline: Deadline | None) -> Iterator[None]:
        """The client's errors as ours."""
        exceptions = import_module("google.api_core.exceptions")
        login_error = import_module("google.auth.exceptions").GoogleAuthError
        transport_error = import_module("requests").RequestException
        try:
            yield
        except exceptions.GoogleAPICallError as error:
            if deadline is not None and deadline.passed:
                raise deadline.fault() from error
            if isinstance(error, exceptions.ServerError | exceptions.Unauthorized):
                raise ServiceUnavailable(f"BigQuery cannot be used: {_first_line(error)}") from error
            raise QueryFault(_fault_code(exceptions, error), _first_line(error)) from error
        except (TimeoutError, exceptions.RetryError) as error:
            raise Deadline(limits.timeout_seconds, lambda: None).fault() from error
        except (login_error, transport_error) as error:
            raise ServiceUnavailable(f"BigQuery cannot be reached: {_first_line(error)}") from error


def _type_name(field: Any) -> str:
    """A field's type as BigQuery's own DDL writes it."""
    name = {"INTEGER": "INT64", "FLOAT": "FLOAT64", "BOOLEAN": "BOOL", "RECORD": "STRUCT"}.get(
        field.field_type, field.field_type
    )
    if name == "STRUCT":
        inner = ", ".join(f"{item.name} {_type_name(item)}" for item in field.fields)
        name = f"STRUCT<{inner}>"
    elif field.precision is not None:
        name = f"{name}({field.precision}, {field.scale or 0})"
    return f"ARRAY<{name}>" if field.mode == "REPEATED" else name


def _fault_code(exceptions: Any, error: Any) -> str:
    message = str(error)
    for words, code in _BY_WORDS:
        if words in message:
            return code
    if isinstance(error, exceptions.Forbidden):
        return "permission"
    if isinstance(error, exceptions.NotFound):
        return "unknown_table"
    return "transient" if isinstance(error, exceptions.TooManyRequests) else "data"


def _first_line(error: Exception) -> str:
    """What BigQuery says, without the request in front of it."""
    details = getattr(error, "errors", None) or [{}]
    told = details[0].get("message") if isinstance(details[0], dict) else None
    lines = str(told or getattr(error, "message", None) or error).strip().splitlines()
    return lines[0][:MESSAGE_LENGTH] if lines else type(error).__name__
