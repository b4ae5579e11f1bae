"""Reads a YAML file of the configuration into a frozen model, with errors that name file, line and key."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rag_core.connectors.yaml_problems import Problem, list_problems
from rag_core.errors import ConfigurationError

Model = TypeVar("Model", bound=BaseModel)


class YamlFault(ConfigurationError):
    """A file that cannot be read as YAML at all, with where and why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(str(problem))
        self.problem = problem


def read_yaml(path: Path) -> Any:
    """The file's content with source positions; raises YamlFault with one line."""
    file = str(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise YamlFault(Problem(file=file, message="there is no such file")) from None
    except UnicodeDecodeError:
        raise YamlFault(Problem(file=file, message="is not text in UTF-8")) from None
    except OSError as error:
        raise YamlFault(Problem(file=file, message=f"cannot be read ({error.strerror})")) from error
    try:
        return YAML(typ="rt").load(text)
    except MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark is not None else 1
        raise YamlFault(Problem(file=file, line=line, message=f"not YAML: {error.problem}")) from None
    except YAMLError as error:
        raise YamlFault(Problem(file=file, message=f"not YAML: {' '.join(str(error).split())}")) from None


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
        raise ConfigurationError(first_of(list_problems(path, content, error, model))) from None


def first_of(problems: Sequence[Problem]) -> str:
    """The first of some problems in one line, with how many more there are."""
    more = f" (and {len(problems) - 1} more)" if len(problems) > 1 else ""
    return f"{problems[0]}{more}"


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
