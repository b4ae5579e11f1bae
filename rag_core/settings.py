"""All settings, built once and passed down. Nothing else reads the environment."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from rag_core.errors import ConfigurationError


def _check_day(text: str) -> str:
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"{text!r} is not a date of the form YYYY-MM-DD") from None


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{name!r} is not a time zone: use a name such as Europe/Stockholm or UTC") from None
    return name


class StoreSettings(BaseModel):
    """PostgreSQL with pgvector for documents, plans, audit and reports. No DSN: the embedded server."""

    dsn: SecretStr | None = None


class WarehouseSettings(BaseModel):
    """The warehouse that questions are asked of, read only. No DSN: the sample on the embedded server."""

    dsn: SecretStr | None = None
    policy: Path = Path("config/schema_policy.yaml")
    semantic_model: Path = Path("config/semantic_model.yaml")
    timezone: Annotated[str, AfterValidator(_check_zone)] = "UTC"
    principals: dict[str, SecretStr] = Field(
        default={}, description="URLs with the own credentials of principals, where the database has no SET ROLE"
    )
    max_concurrent_statements: int = Field(default=4, ge=1)
    statements_per_minute: int | None = Field(default=None, ge=1)


class ChatModelSettings(BaseModel):
    """Any OpenAI-compatible endpoint. Without a model the core answers what it can prove.

    Rate limits and budgets hold over all processes of one store; a run is a batch run, a day one of UTC.
    """

    base_url: str | None = None
    model: str | None = None
    api_key: SecretStr | None = None
    router_model: str | None = None
    timeout_seconds: float = 120.0
    context_tokens: int = 8192
    max_output_tokens: int = 700
    grammar: Literal["off", "auto", "llama.cpp", "vllm"] = "auto"
    candidates: int = Field(default=1, ge=1, le=5)
    price_per_million_prompt: float | None = None
    price_per_million_completion: float | None = None
    prices: Path = Path("config/model_prices.yaml")
    requests_per_minute: int | None = Field(default=None, gt=0)
    tokens_per_minute: int | None = Field(default=None, gt=0)
    run_tokens: int | None = Field(default=None, ge=0)
    run_cost_usd: float | None = Field(default=None, ge=0)
    day_tokens: int | None = Field(default=None, ge=0)
    day_cost_usd: float | None = Field(default=None, ge=0)


class EmbeddingSettings(BaseModel):
    """A model from an installed package (`packaged:NAME`) or a hub name."""

    model: str = "packaged:all-minilm-l6-v2"
    batch_size: int = 32


class IngestionSettings(BaseModel):
    """Where ingestion finds its rules and, for the scheduled run, its documents; passwords to try on locked files."""

    config: Path = Path("config/ingestion.yaml")
    sources: list[Path] = []
    passwords: list[SecretStr] = []


class BatchSettings(BaseModel):
    """Where the batch files and expectation files lie, and the bounds of one question."""

    folder: Path = Path("config/batches")
    question_seconds: float = 120.0
    question_steps: int = 30


class ReportSettings(BaseModel):
    """Where the result tables are copied to beside the store: a warehouse of any kind, with credentials to write."""

    mirror_dsn: SecretStr | None = None
    mirror_schema: str = Field(default="nightshift_reports", pattern=r"^[a-z][a-z0-9_]{0,62}$")


class NotifySettings(BaseModel):
    """How people are told of runs: a webhook for all batches that want one, and Airflow's connection for mail."""

    webhook_url: SecretStr | None = None
    webhook_secret: SecretStr | None = None
    smtp_connection: str = "smtp_default"


class AlertSettings(BaseModel):
    """How owners are told of schema changes: any of mail, the webhook of `notify`, and a callback `module:function`.

    Mail goes to the addresses of the event's owner in `owner_mail`, else to `mail_to`.
    """

    channels: list[Literal["mail", "webhook", "callback"]] = []
    callback: str | None = None
    mail_host: str | None = None
    mail_port: int = 25
    mail_security: Literal["none", "starttls", "tls"] = "none"
    mail_username: str | None = None
    mail_password: SecretStr | None = None
    mail_from: str = "nightshift@localhost"
    mail_to: list[str] = []
    owner_mail: dict[str, list[str]] = {}


class AirflowSettings(BaseModel):
    """The Airflow that `nightshift` starts on loopback."""

    host: str = "127.0.0.1"
    port: int = Field(default=8080, ge=1, le=65_535)
    username: str = "admin"
    password: SecretStr | None = None


class Settings(BaseSettings):
    """Settings from `NIGHTSHIFT_*` (groups joined by `__`), from `.env`, or their defaults, in this order."""

    model_config = SettingsConfigDict(
        env_prefix="NIGHTSHIFT_",
        env_nested_delimiter="__",
        env_file=".env",
        extra="ignore",
        # A variable that is set and empty, as compose files make them, is no value.
        env_ignore_empty=True,
        hide_input_in_errors=True,
    )

    home: Path = Path(".nightshift")
    today: Annotated[str, AfterValidator(_check_day)] | None = Field(
        default=None, description="Fixed run date (YYYY-MM-DD) instead of the clock's"
    )
    store: StoreSettings = StoreSettings()
    warehouse: WarehouseSettings = WarehouseSettings()
    llm: ChatModelSettings = ChatModelSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    ingestion: IngestionSettings = IngestionSettings()
    batch: BatchSettings = BatchSettings()
    airflow: AirflowSettings = AirflowSettings()
    notify: NotifySettings = NotifySettings()
    reports: ReportSettings = ReportSettings()
    alerts: AlertSettings = AlertSettings()
    openai_api_key: SecretStr | None = Field(default=None, validation_alias=AliasChoices("OPENAI_API_KEY"))

    @property
    def embedded_store(self) -> bool:
        """Whether the store is the embedded server."""
        return self.store.dsn is None

    @property
    def embedded_warehouse(self) -> bool:
        """Whether the warehouse is the sample on the embedded server."""
        return self.warehouse.dsn is None

    @property
    def chat_model_configured(self) -> bool:
        """Whether a chat model may be called: a model name, or a bare OpenAI key."""
        return self.llm.model is not None or self.openai_api_key is not None


def load_settings(**overrides: Any) -> Settings:
    """Reads the environment once.

    Raises ConfigurationError with one line that names the setting; values are never repeated, they may be secrets.
    """
    try:
        settings = Settings(**overrides)
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        name = "NIGHTSHIFT_" + "__".join(str(part) for part in first["loc"]).upper()
        raise ConfigurationError(f"setting {name}: {first['msg'].removeprefix('Value error, ')}") from None
    return settings.model_copy(update={"home": settings.home.expanduser().absolute()})
