"""Properties of a document out of closed lists, from a chat model: the last means, after the document and the rules.

Only what is still missing is asked for, and only a value of the list is taken; the document's text reaches the model as
data between marks that it cannot contain.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from pydantic import BaseModel, Field, create_model

from ingestion.config import EnrichmentRules
from ingestion.documents import ConvertedDocument, SourceFile
from rag_core.connectors.base import ChatModel
from rag_core.errors import BudgetExhausted, ConfigurationError, ModelFault, ServiceUnavailable
from rag_core.prompts.loader import fence, load_prompt

logger = logging.getLogger(__name__)

UNKNOWN = "unknown"
# An endpoint that does not answer is not asked again for each of thousands of documents.
MOST_REFUSALS = 3


def vocabularies(rules: EnrichmentRules) -> dict[str, tuple[str, ...]]:
    """The lists that the model chooses from, by property; empty where it is asked for nothing.

    A list that the file leaves empty is that of the rules: the document types, or the known subjects for a service.
    """
    own = {
        "document_type": tuple(rule.document_type for rule in rules.types),
        "service": rules.known_subjects,
        "subject": rules.known_subjects,
    }
    wanted = {name: values or own.get(name, ()) for name, values in rules.model.properties.items()}
    return {name: tuple(dict.fromkeys(values)) for name, values in wanted.items() if values}


def model_version(rules: EnrichmentRules, chat_model: ChatModel | None) -> str:
    """Names model and prompt where the rules ask for one and it is there, else empty: part of a document's key."""
    if chat_model is None or not vocabularies(rules):
        return ""
    return f"{chat_model.model_id} {load_prompt('describe_document').version}"


@dataclass(slots=True)
class Describer:
    """Asks a chat model about documents. `calls` and `tokens` count what that cost."""

    rules: EnrichmentRules
    chat_model: ChatModel
    calls: int = 0
    tokens: int = 0
    _refusals: int = 0

    def describe(self, document: ConvertedDocument, file: SourceFile) -> tuple[ConvertedDocument, bool]:
        """The document with what the model added, and whether the model was asked as wanted.

        Never raises for what the model says or does: a warning of the document tells it. False means that the endpoint
        did not answer, so that a later run should ask again.
        """
        missing = {name: values for name, values in vocabularies(self.rules).items() if name not in document.metadata}
        if not missing or not document.blocks:
            return document, True
        if self._refusals >= MOST_REFUSALS:
            return _warned(document, missing, "the chat model is not reachable"), False
        try:
            chosen = self._ask(document, file, missing)
        except ModelFault as fault:
            return _warned(document, missing, str(fault)), True
        except (ServiceUnavailable, ConfigurationError, BudgetExhausted) as fault:
            self._refusals += 1
            logger.warning("%s: %s", file.relative_path, fault)
            return _warned(document, missing, str(fault)), False
        self._refusals = 0
        taken = {name: value for name, value in chosen.items() if value in missing.get(name, ())}
        return replace(
            document,
            metadata=document.metadata | taken,
            origins=document.origins | dict.fromkeys(taken, "model"),
        ), True

    def _ask(
        self, document: ConvertedDocument, file: SourceFile, missing: Mapping[str, tuple[str, ...]]
    ) -> dict[str, str]:
        prompt = load_prompt("describe_document")
        lists = "\n".join(f"- {name}: {', '.join([*values, UNKNOWN])}" for name, values in missing.items())
        text = "\n\n".join([document.title, *(block.text for block in document.blocks)])
        user = prompt.render(
            {
                "properties": lists,
                "path": fence("path", file.relative_path),
                "document": fence("document", text[: self.rules.model.max_characters]),
            }
        )
        reply, usage = self.chat_model.complete(prompt.system, user, _reply_type(tuple(sorted(missing.items()))))
        self.calls += usage.model_calls
        self.tokens += usage.prompt_tokens + usage.completion_tokens
        return {name: value.strip() for name, value in reply.model_dump().items() if isinstance(value, str)}


@cache
def _reply_type(wanted: tuple[tuple[str, tuple[str, ...]], ...]) -> type[BaseModel]:
    """The reply's shape. The lists stand in its JSON schema only: another value is dropped, it is not an error."""
    fields: dict[str, Any] = {
        name: (str, Field(json_schema_extra={"enum": [*values, UNKNOWN]})) for name, values in wanted
    }
    made: type[BaseModel] = create_model("DocumentProperties", __doc__="Properties of a document.", **fields)
    return made


def _warned(document: ConvertedDocument, missing: Mapping[str, Any], reason: str) -> ConvertedDocument:
    warning = f"the chat model was asked for {', '.join(missing)} and gave nothing: {reason}"
    return replace(document, warnings=(*document.warnings, warning))
