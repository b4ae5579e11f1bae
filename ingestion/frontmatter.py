"""Splitting frontmatter, YAML or Hugo's TOML, from a text before it is converted.

Converters take frontmatter for a heading between two rules and lose it. Here it is parsed as YAML 1.2 with plain
scalars kept as written wherever a YAML parser would change them: a date stays `2024-01-02`, a version stays `1.10`,
`on: yes` stays `yes`. Only `true`, `false`, `null` and whole numbers without a leading zero become JSON values. TOML's
dates and fractions stay as written likewise.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from datetime import date, datetime, time
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

_OPENING = re.compile(r"\A---[ \t]*\n")
_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+(?=---[ \t]*\n)")
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*$", re.MULTILINE)
_TOML_OPENING = re.compile(r"\A\+\+\+[ \t]*\n")
_TOML_CLOSING = re.compile(r"^\+\+\+[ \t]*$", re.MULTILINE)
_TOML_KEY_LINE = re.compile(r"^[ \t]*(?:[\w\-.\"']+[ \t]*=|\[)", re.MULTILINE)
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")
_KEY_LINE = re.compile(r"^[^\s#\-:][^:\n]*:(?:\s|$)", re.MULTILINE)
_PROPERTY = re.compile(r"[a-z][\w.\-]*\Z")
_INTEGER = re.compile(r"-?(?:0|[1-9]\d{0,14})\Z")
_WORDS = {"true": True, "false": False, "True": True, "False": False, "null": None, "~": None, "": None}
_MAX_DEPTH = 40
# Aliases of aliases would otherwise unfold a few lines into millions of values.
_MAX_VALUES = 200_000


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """A text without its frontmatter. `metadata` holds JSON values; it is empty where the frontmatter is broken, and
    `warnings` then name the line of the file. `broken` is such a block as written, in its `notation`: no metadata, but
    its words count.
    """

    metadata: dict[str, Any] = field(default_factory=dict)
    body: str = ""
    warnings: tuple[str, ...] = ()
    broken: str = ""
    notation: Literal["yaml", "toml"] = "yaml"


def split_frontmatter(text: str) -> Frontmatter:
    """Splits a text into metadata and body.

    Frontmatter is a block between `---` on the first line and the next `---` (or `...`) line, the block holding at
    least one `key:` line or nothing at all. Anything else, such as rules in the body, is left untouched. A byte order
    mark is dropped and line ends become `\\n`. Blank lines may come before it where it then is a faultless mapping
    of names in small letters (`Note: ...` between two rules is text). A block of TOML stands between two `+++` lines.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    blank = _BLANK_LINES.match(text)
    if blank is not None:
        split = split_frontmatter(text[blank.end() :])
        stated = bool(split.metadata) and all(_PROPERTY.match(key) for key in split.metadata)
        return split if stated else Frontmatter(body=text)
    toml = _TOML_OPENING.match(text)
    opening = toml or _OPENING.match(text)
    closing = (_TOML_CLOSING if toml else _CLOSING).search(text, opening.end()) if opening else None
    if opening is None or closing is None:
        return Frontmatter(body=text)
    block = text[opening.end() : closing.start()]
    body = text[closing.end() :].removeprefix("\n")
    if block.strip() and not (_TOML_KEY_LINE if toml else _KEY_LINE).search(block):
        return Frontmatter(body=text)
    notation: Literal["yaml", "toml"] = "toml" if toml else "yaml"
    try:
        metadata = _parse_toml(block) if toml else parse_mapping(block)
    except FrontmatterFault as fault:
        warning = f"frontmatter ignored: line {fault.line + 1}: {fault.problem}"
        return Frontmatter(body=body, warnings=(warning,), broken=block.strip("\n"), notation=notation)
    return Frontmatter(metadata, body, notation=notation)


class FrontmatterFault(ValueError):
    """A block is no YAML mapping. `line` counts from 1 within the block."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def parse_mapping(block: str) -> dict[str, Any]:
    """A YAML mapping as JSON values, plain scalars kept as written. Raises FrontmatterFault."""
    value = parse_yaml(block)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise FrontmatterFault(1, "is not a mapping of keys to values")
    return value


def _parse_toml(block: str) -> dict[str, Any]:
    try:
        return {key: _toml_value(value) for key, value in tomllib.loads(block, parse_float=str).items()}
    except tomllib.TOMLDecodeError as error:
        place = _TOML_PLACE.search(str(error))
        line = int(place[1]) if place and place[1] else block.rstrip("\n").count("\n") + 1
        raise FrontmatterFault(line, _TOML_PLACE.sub("", str(error))) from None
    except (ValueError, RecursionError) as error:
        raise FrontmatterFault(1, (str(error).splitlines() or ["is not TOML"])[0]) from None


def _toml_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _toml_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_toml_value(item) for item in value]
    return value.isoformat() if isinstance(value, datetime | date | time) else value


def parse_yaml(text: str) -> Any:
    """One YAML document as JSON values. Raises FrontmatterFault with the line and what is wrong there."""
    tab = re.search(r"^ *\t+ *\S", text, re.MULTILINE)
    try:
        # Not `rt`: to keep the line ends of folded texts, it puts a control character where each of them was.
        node = YAML(typ="safe", pure=True).compose(text)
        return None if node is None else node_value(node)
    except MarkedYAMLError as error:
        if tab is not None:
            line = text.count("\n", 0, tab.start()) + 1
            raise FrontmatterFault(line, "a tab indents the line; YAML wants spaces") from None
        quoted = error.context is not None and "quoted scalar" in error.context
        mark = error.context_mark if quoted and error.context_mark else error.problem_mark or error.context_mark
        if quoted:
            raise FrontmatterFault(mark.line + 1 if mark else 1, "a quote is opened and not closed") from None
        raise FrontmatterFault(mark.line + 1 if mark else 1, str(error.problem or "is not YAML")) from None
    except (YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, FrontmatterFault):
            raise
        raise FrontmatterFault(1, str(error).splitlines()[0] if str(error) else "is not YAML") from None


def node_value(node: Node) -> Any:
    """A composed YAML node as JSON values; aliases are resolved within a bound. Raises FrontmatterFault."""
    return _value(node, 0, [_MAX_VALUES])


def _value(node: Node, depth: int, budget: list[int]) -> Any:
    line = node.start_mark.line + 1
    budget[0] -= 1
    if depth > _MAX_DEPTH or budget[0] < 0:
        raise FrontmatterFault(line, "is nested too deeply or holds too many values")
    if isinstance(node, ScalarNode):
        return _scalar(node)
    if isinstance(node, SequenceNode):
        return [_value(item, depth + 1, budget) for item in node.value]
    if isinstance(node, MappingNode):
        mapping: dict[str, Any] = {}
        taken: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key_line = key_node.start_mark.line + 1
            if not isinstance(key_node, ScalarNode):
                raise FrontmatterFault(key_line, "a key must be plain text")
            key = str(key_node.value)
            if key == "<<" and key_node.style is None:
                # YAML 1.1 merge keys: what a mapping says itself counts more, then the first of several that it takes.
                merged = _value(value_node, depth + 1, budget)
                for other in merged if isinstance(merged, list) else [merged]:
                    taken = other | taken if isinstance(other, dict) else taken
                continue
            if key in mapping:
                raise FrontmatterFault(key_line, f"the key {key!r} occurs twice")
            mapping[key] = _value(value_node, depth + 1, budget)
        return taken | mapping
    raise FrontmatterFault(line, "holds a value of an unknown kind")


def _scalar(node: ScalarNode) -> Any:
    text = str(node.value)
    if node.style is not None:
        return text
    if text in _WORDS:
        return _WORDS[text]
    return int(text) if _INTEGER.match(text) else text
