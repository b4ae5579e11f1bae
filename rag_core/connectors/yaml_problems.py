"""What is wrong with a file of the configuration, in plain words: each mistake with its line and its key. Pure."""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails
from ruamel.yaml.comments import CommentedMap, CommentedSeq

from rag_core.datamodel.base import Record

Location = tuple[int | str, ...]


class Problem(Record):
    """One mistake in a file. `line` counts from 1; `key` says where in plain words, empty for the whole file."""

    file: str
    line: int | None = None
    key: str = ""
    message: str

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


def line_of(content: Any, location: Sequence[int | str]) -> int:
    """Line (from 1) of the deepest part of `location` that the file has."""
    line = 1
    node = content
    for part in location:
        if isinstance(node, CommentedMap) and part in node:
            line = node.lc.key(part)[0] + 1
            node = node[part]
        elif isinstance(node, CommentedSeq) and isinstance(part, int) and part < len(node):
            line = node.lc.item(part)[0] + 1
            node = node[part]
        else:
            break
    return line


def list_problems(
    path: Path,
    content: Any,
    error: ValidationError,
    model: type[BaseModel],
    *,
    name_key: Callable[[Location, Any], str] | None = None,
) -> tuple[Problem, ...]:
    """Every mistake that a validation found, in the order of their lines.

    Args:
        path: the file.
        content: what `read_yaml` returned for it.
        error: what the validation of `content` as `model` raised.
        model: what the file should be.
        name_key: says a place in the file's own words; without it parts are joined by dots.
    """
    name = name_key or (lambda location, _: ".".join(str(part) for part in location))
    found: dict[tuple[Location, str], Problem] = {}
    # A misspelt key is reported as a missing one too; the key that stands in the file is the one to mend.
    misspelt = {
        (item["loc"][:-1], guess)
        for item in error.errors(include_url=False)
        if item["type"] == "extra_forbidden"
        for guess in _alike(str(item["loc"][-1]), _keys_at(model, item["loc"][:-1]))
    }
    by_place: dict[Location, list[ErrorDetails]] = {}
    for item in error.errors(include_url=False):
        if item["type"] == "missing" and (item["loc"][:-1], item["loc"][-1]) in misspelt:
            continue
        if item["type"] == "too_short" and len(item["input"]) >= item["ctx"]["min_length"]:
            continue  # what is wrong with an entry leaves the list one shorter
        by_place.setdefault(_place(content, item), []).append(item)
    for place, items in by_place.items():
        for message in _messages(items, model):
            found[place, message] = Problem(
                file=str(path), line=line_of(content, place), key=name(place, content), message=message
            )
    return tuple(sorted(found.values(), key=lambda problem: problem.line or 0))


def _place(content: Any, item: ErrorDetails) -> Location:
    """The part of an error's location that stands in the file: the library adds names of types and functions."""
    place: list[int | str] = []
    node: Any = content
    for part in item["loc"]:
        if (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        ):
            node = node[part]  # type: ignore[index]  # a mapping or a list, as was looked at
        elif item["type"] == "missing" and part == item["loc"][-1]:
            place.append(part)
            break
        else:
            break
        place.append(part)
    return tuple(place)


def _messages(items: Sequence[ErrorDetails], model: type[BaseModel]) -> Iterator[str]:
    kinds = [_KINDS[item["type"]] for item in items if item["type"] in _KINDS]
    if len(items) > 1 and len(kinds) == len(items):  # a value that may be of several kinds is of none
        yield f"must be {' or '.join(dict.fromkeys(kinds))}, not {_kind_of(items[0]['input'])}"
        return
    for item in items:
        yield _message(item, model)


_KINDS = {
    "string_type": "text",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "float_parsing": "a number",
    "decimal_type": "a number",
    "decimal_parsing": "a number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of keys and values",
    "model_type": "a mapping of keys and values",
    "date_type": "a day such as 2026-07-01",
    "date_parsing": "a day such as 2026-07-01",
    "date_from_datetime_parsing": "a day such as 2026-07-01",
    "date_from_datetime_inexact": "a day such as 2026-07-01",
}
_BOUNDS = {
    "greater_than_equal": ("at least", "ge"),
    "greater_than": ("more than", "gt"),
    "less_than_equal": ("at most", "le"),
    "less_than": ("less than", "lt"),
}


def _message(item: ErrorDetails, model: type[BaseModel]) -> str:
    kind, context, value = item["type"], item.get("ctx", {}), item["input"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return _unknown_key(str(item["loc"][-1]), _keys_at(model, item["loc"][:-1]))
    if kind in _KINDS:
        quotes = ": put it in quotes" if kind == "string_type" and not isinstance(value, dict | list) else ""
        return f"must be {_KINDS[kind]}, not {_kind_of(value)}{quotes if value is not None else ''}"
    if kind in _BOUNDS:
        words, bound = _BOUNDS[kind]
        return f"is {value} and must be {words} {context[bound]:g}"
    if kind in ("literal_error", "enum"):
        return _unknown_word(value, str(context["expected"]))
    if kind == "string_pattern_mismatch":
        return f"{_short(value)} may hold lower-case letters, digits and _ only, beginning with a letter"
    if kind == "string_too_short":
        least = context["min_length"]
        return "is empty" if not str(value).strip() else f"has {len(value)} characters and needs at least {least}"
    if kind == "string_too_long":
        return f"has {len(value)} characters; at most {context['max_length']} are allowed"
    if kind == "too_short":
        return "is empty" if not value else f"has {len(value)} entries and needs at least {context['min_length']}"
    if kind == "too_long":
        return f"has {len(value)} entries; at most {context['max_length']} are allowed"
    message = item["msg"].removeprefix("Value error, ")
    return message if kind == "value_error" else message[:1].lower() + message[1:]


def _unknown_key(key: str, known: Sequence[str]) -> str:
    near = _alike(key, known)
    return "is no key here: " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")


def _unknown_word(value: Any, expected: str) -> str:
    words = re.findall(r"'([^']*)'", expected)
    near = _alike(value, words) if isinstance(value, str) else []
    return f"must be one of {', '.join(words)}, not {_short(value)}" + (f": did you mean {near[0]}?" if near else "")


def _alike(word: str, known: Sequence[str]) -> list[str]:
    return get_close_matches(word, known, n=1, cutoff=0.7)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _kind_of(value: Any) -> str:
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return f"true or false ({str(value).lower()})"
    if isinstance(value, int | float):
        return f"the number {value}"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "a mapping of keys and values"
    return _short(value)


def _keys_at(model: type[BaseModel], location: Sequence[int | str]) -> tuple[str, ...]:
    """The keys that may stand at a place of the file, in the order of the model."""
    current: type[BaseModel] | None = model
    for part in location:
        if current is not None and isinstance(part, str) and part in current.model_fields:
            current = _model_in(current.model_fields[part].annotation)
    return tuple(current.model_fields) if current is not None else ()


def _model_in(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (Annotated, Union, types.UnionType, tuple, list):
        return next((found for part in get_args(annotation) if (found := _model_in(part)) is not None), None)
    return None
