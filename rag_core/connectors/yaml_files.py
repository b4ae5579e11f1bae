"""Reads a YAML file of the configuration into a frozen model, with errors that name file, line and key."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_core.errors import ConfigurationError

Model = TypeVar("Model", bound=BaseModel)


def read_yaml(path: Path) -> Any:
    """The file's content with source positions; raises ConfigurationError with one line."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: there is no such file") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: cannot be read ({type(error).__name__})") from error
    try:
        return YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise ConfigurationError(f"{path}:{line}: not YAML: {error.problem}") from None
    except YAMLError as error:
        raise ConfigurationError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def load_model(path: Path, model: type[Model], *, extra: dict[str, Any] | None = None) -> Model:
    """The file as `model`.

    Args:
        path: the YAML file.
        model: what it must be; unknown keys are errors where the model forbids them.
        extra: values that the file does not hold, such as the name taken from the file's stem.

    Raises ConfigurationError with one line: file, line, key and what is wrong with it.
    """
    content = read_yaml(path)
    if not isinstance(content, CommentedMap):
        raise ConfigurationError(f"{path}: must be a mapping of keys and values")
    try:
        return model.model_validate({**plain(content), **(extra or {})})
    except ValidationError as error:
        # A misspelt key is reported as a missing one too; the key that stands in the file is the one to mend.
        found = sorted(error.errors(include_url=False), key=lambda item: item["type"] != "extra_forbidden")
        first = found[0]
        location = [part for part in first["loc"] if not (isinstance(part, str) and part.startswith("function-"))]
        key = ".".join(str(part) for part in location)
        raise ConfigurationError(f"{path}:{line_of(content, location)}: {key}: {first['msg']}") from None


def line_of(content: Any, location: list[Any]) -> int:
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


def plain(value: Any) -> Any:
    """The content without the parser's own types, so that nothing of them travels on."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, bool) or value is None:
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value
