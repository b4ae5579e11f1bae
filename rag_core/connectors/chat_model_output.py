"""What a reply has to be, as the endpoint is told, and the object in what came. Pure."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel, ValidationError


def schema_of(output: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema that goes to the endpoint: strict form, every property required and none besides."""
    schema = output.model_json_schema()
    for part in [schema, *schema.get("$defs", {}).values()]:
        if part.get("type") == "object":
            part["additionalProperties"] = False
            part["required"] = list(part.get("properties", {}))
            for declared in part.get("properties", {}).values():
                declared.pop("default", None)
    schema["title"] = output.__name__
    schema.setdefault("description", (output.__doc__ or output.__name__).strip().splitlines()[0])
    return schema


def object_in(text: str) -> Any:
    """The JSON object in a reply, which may stand in a fence or behind words."""
    start, end = text.find("{"), text.rfind("}")
    if start < 0 or end < start:
        raise ValueError("it holds no JSON object")
    try:
        return json.loads(text[start : end + 1], strict=False)
    except json.JSONDecodeError as error:
        raise ValueError(f"it is not valid JSON ({error.msg})") from error


def first_problem(error: ValidationError | ValueError) -> str:
    """What is wrong with a reply, in one line that a model can act on."""
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(str(part) for part in first['loc']) or 'object'}: {first['msg']}"
    return str(error)
