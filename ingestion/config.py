"""The rules of ingestion, as people write them in `config/ingestion.yaml`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_core.errors import ConfigurationError


def _compilable(pattern: str) -> str:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"not a regular expression: {pattern!r} ({error})") from None
    return pattern


Pattern = Annotated[str, AfterValidator(_compilable)]
"""A regular expression, matched without regard to case."""


class RuleModel(BaseModel):
    """A frozen part of the rules that forbids unknown keys, so that a misspelt one is an error and not a silence."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SourceRules(RuleModel):
    """Which files count as documents. Globs are matched against the path below the root, with `/`."""

    exclude: tuple[str, ...] = ()
    hidden: bool = False
    max_bytes: int = Field(default=100 * 1024 * 1024, gt=0)
    extensions: tuple[str, ...] = (
        "md", "markdown", "mdx", "erb", "html", "htm", "xhtml", "docx", "docm", "dotx", "dotm", "pptx", "pptm",
        "potx", "potm", "ppsx", "ppsm", "xlsx", "xlsm", "xltx", "xltm", "csv", "tsv",
        "yaml", "yml", "json", "jsonl", "ndjson", "txt", "text", "log", "rst", "adoc", "pdf",
    )  # fmt: skip


class ConversionLimits(RuleModel):
    """Bounds of one document's conversion.

    `max_inflated_bytes` bounds what an Office archive may unpack to, `max_rows` the rows of a sheet or CSV file with
    values, `max_cells` the cells of one document, `max_characters` its text, `seconds` and `memory_megabytes` the
    worker process that converts it. `layout_models` is the folder of Docling's models for PDF, used where the `layout`
    extra is installed.
    """

    max_inflated_bytes: int = Field(default=256 * 1024 * 1024, gt=0)
    max_rows: int = Field(default=50_000, gt=0)
    max_columns: int = Field(default=1_000, gt=0)
    max_cells: int = Field(default=1_000_000, gt=0)
    max_pages: int = Field(default=2_000, gt=0)
    max_characters: int = Field(default=20_000_000, gt=0)
    seconds: float = Field(default=120.0, gt=0)
    memory_megabytes: int = Field(default=2_048, ge=1_024)
    layout_models: Path | None = None


class ChunkRules(RuleModel):
    """Size of a chunk and of the overlap between neighbours, in the embedding model's tokens."""

    max_tokens: int = Field(default=600, ge=32)
    overlap: int = Field(default=100, ge=0)


class TypeRule(RuleModel):
    """Evidence for one document type.

    Each part that matches adds its weight: `paths` are globs, `titles`, `headings` and `phrases` regular expressions.
    `headings` and `phrases` count once for each of their patterns that occurs; `against` takes the title's weight away
    where a pattern is found in the title, and once more where it is found in the path.
    """

    document_type: str
    paths: tuple[str, ...] = ()
    titles: tuple[Pattern, ...] = ()
    headings: tuple[Pattern, ...] = ()
    phrases: tuple[Pattern, ...] = ()
    against: tuple[Pattern, ...] = ()


class PropertyRule(RuleModel):
    """Where a property stands in a document: `keys` of its metadata, then `lines`, the first group of which is it."""

    property: str
    keys: tuple[str, ...] = ()
    lines: tuple[Pattern, ...] = ()


class ModelRules(RuleModel):
    """What a chat model is asked for where neither the document nor a rule says it; nothing unless `properties` is set.

    `properties` maps a property to the values that it may have; an empty list for `document_type` means the types of
    the rules, for `service` and `subject` the known subjects. Of a document it sees the first `max_characters`.
    """

    properties: dict[str, tuple[str, ...]] = {}
    max_characters: int = Field(default=4_000, ge=200)


class EnrichmentRules(RuleModel):
    """How documents get their metadata.

    `aliases` maps words that authors use to the type meant. `known_subjects` are services or subjects to look for in
    title and path, a list that each organisation writes for itself. `path_subjects` are globs whose `{subject}` part
    names the subject. A type needs `threshold` points.
    """

    types: tuple[TypeRule, ...] = ()
    aliases: dict[str, str] = {}
    properties: tuple[PropertyRule, ...] = ()
    known_subjects: tuple[str, ...] = ()
    path_subjects: tuple[str, ...] = ()
    threshold: float = 2.0
    path_weight: float = 2.0
    title_weight: float = 3.0
    heading_weight: float = 1.0
    phrase_weight: float = 1.0
    model: ModelRules = ModelRules()


class IngestionRules(RuleModel):
    """All of `config/ingestion.yaml`."""

    sources: SourceRules = SourceRules()
    conversion: ConversionLimits = ConversionLimits()
    chunks: ChunkRules = ChunkRules()
    enrichment: EnrichmentRules = EnrichmentRules()


def load_rules(path: Path) -> IngestionRules:
    """Reads the rules. Raises ConfigurationError with one line that names the file, the place and what is wrong."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({type(error).__name__})") from None
    try:
        raw = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigurationError(f"{path}: line {line}: {error.problem}") from None
    except YAMLError as error:
        raise ConfigurationError(f"{path}: {str(error).splitlines()[0]}") from None
    if raw is None:
        return IngestionRules()
    if not isinstance(raw, dict):
        raise ConfigurationError(f"{path}: must be a mapping of sections, e.g. `sources:`")
    try:
        return IngestionRules.model_validate(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ConfigurationError(f"{path}: {place}: {first['msg']}") from None
