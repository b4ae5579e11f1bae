"""YAML and JSON to searchable sections by key path.

Docling has no YAML reader. Configuration keeps each top-level key as written, with its comments, and below it one line
a leaf with its whole key path, so that `spec.replicas` is found as such. YAML that holds prose, and JSON, become
readable sections: objects with a name are headed by it, long texts are paragraphs, a list of flat objects is a table.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from ingestion.documents import Block
from ingestion.errors import ConversionFault
from ingestion.formats.tables import table_block
from ingestion.frontmatter import FrontmatterFault, node_value

Read = tuple[list[Block], dict[str, Any], tuple[str, ...]]
"""Blocks, metadata that the document states of itself, and warnings."""

_STATED = ("title", "name", "kind", "service", "subject", "owner", "version", "date", "description", "status")
_MAX_LEAVES = 200_000
_DEEPEST_HEADING = 3
_DOCUMENT_START = re.compile(r"^---(?!\S)", re.MULTILINE)
_COMMENT_LINE = re.compile(r"^(?:---)?[ \t]*(#.*)", re.MULTILINE)
# Keys that say nothing about their text; under any other key the key is told with it.
_TEXT_KEYS = frozenset({"text", "body", "content", "description", "summary", "paragraph", "abstract"})


def read_yaml(text: str) -> Read:
    """Sections of each YAML document in the text; a text that is no YAML is kept whole as code, with a warning."""
    try:
        composed = [node for node in YAML(typ="safe", pure=True).compose_all(text) if node is not None]
        told = [(node, value) for node in composed if (value := node_value(node)) is not None]
    except (YAMLError, FrontmatterFault, ValueError, RecursionError) as error:
        return [Block("code", text.rstrip("\n"), language="yaml")], {}, (f"not valid YAML: {_problem(error)}",)
    parts = _parts(text, told)
    blocks = list(_comments(text)) if not parts else []
    prose = _is_prose(parts, text)
    for number, part in enumerate(parts, start=1):
        level = 1
        if len(parts) > 1:
            blocks.append(Block("heading", _document_name(part.value, number), level=1))
            level = 2
        first = _line_start(text, part.node.start_mark.index)
        lead = first if prose else _with_comments_above(text, first, part.start)
        blocks.extend(_comments(text[part.start : lead]))
        blocks.extend(_sections("", part.value, level) if prose else _yaml_sections(part, text, level))
        blocks.extend(_comments(text[_leaf_spans(part.node)[-1][1] if prose else part.node.end_mark.index : part.end]))
    return blocks, _stated(parts[0].value) if len(parts) == 1 else {}, ()


@dataclass(frozen=True, slots=True)
class _Part:
    """A YAML document of a text, its value, and where it starts and ends, comments around it included."""

    node: Node
    value: Any
    start: int
    end: int


def _parts(text: str, told: Sequence[tuple[Node, Any]]) -> list[_Part]:
    """The documents that hold a value. What documents without one say in comments goes to the next."""
    parts: list[_Part] = []
    start = 0
    for number, (node, value) in enumerate(told, start=1):
        end = len(text)
        if number < len(told):
            rule = _DOCUMENT_START.search(text, node.end_mark.index, told[number][0].start_mark.index)
            end = rule.start() if rule else node.end_mark.index
        parts.append(_Part(node, value, start, end))
        start = end
    return parts


def _comments(between: str) -> Iterator[Block]:
    """The comments of a text that holds nothing else but marks of where documents start and end."""
    lines = [match.group(1).rstrip() for match in _COMMENT_LINE.finditer(between)]
    if lines:
        yield Block("code", "\n".join(lines), language="yaml")


def _leaf_spans(node: Node) -> list[tuple[int, int]]:
    """Where the keys and values of a node that are no collections start and end, in order. An empty one has one."""
    spans: list[tuple[int, int]] = []
    seen: set[int] = set()
    pending = [node]
    while pending:
        each = pending.pop()
        if id(each) in seen:
            continue  # an alias
        seen.add(id(each))
        if isinstance(each, MappingNode):
            pending.extend(inner for pair in each.value for inner in pair)
        elif isinstance(each, SequenceNode):
            pending.extend(each.value)
        if isinstance(each, ScalarNode) or not each.value:
            spans.append((each.start_mark.index, each.end_mark.index))
    return sorted(spans)


def _problem(error: Exception) -> str:
    if isinstance(error, MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem}"
    return (str(error).splitlines() or ["it cannot be parsed"])[0]


def _is_prose(parts: Sequence[_Part], text: str) -> bool:
    """Whether much of a YAML text is sentences (values of six words or more): a third, or an eighth under a title.

    One with comments among its keys is configuration, and is kept as written.
    """
    told = sum(len(leaf) for part in parts for _, leaf in leaves("", part.value) if leaf.count(" ") >= 5)
    titled = any(isinstance(part.value, Mapping) and isinstance(part.value.get("title"), str) for part in parts)
    return told * (8 if titled else 3) > len(text) and not any(_is_commented(part.node, text) for part in parts)


def _is_commented(node: Node, text: str) -> bool:
    spans = _leaf_spans(node)
    return any("#" in text[before[1] : after[0]] for before, after in pairwise(spans))


def _document_name(value: Any, number: int) -> str:
    if isinstance(value, Mapping):
        metadata = value.get("metadata")
        name = value.get("name") or (metadata.get("name") if isinstance(metadata, Mapping) else None)
        words = [str(word) for word in (value.get("kind"), name) if isinstance(word, str | int)]
        if words:
            return " ".join(words)
    return f"Document {number}"


def _stated(value: Any) -> dict[str, Any]:
    """Plain top-level values that describe the document: all short ones where it calls itself a document by a title
    or a type, else those under names that commonly do.
    """
    if not isinstance(value, Mapping):
        return {}
    plain = {key: item for key, item in value.items() if isinstance(item, str | int) and len(str(item)) <= 200}
    if "title" in plain or "document_type" in plain:
        return plain
    return {key: plain[key] for key in _STATED if key in plain}


def _yaml_sections(part: _Part, text: str, level: int) -> Iterator[Block]:
    node, value = part.node, part.value
    if not isinstance(node, MappingNode) or not isinstance(value, Mapping):
        lead = _with_comments_above(text, _line_start(text, node.start_mark.index), part.start)
        above = text[lead : _line_start(text, node.start_mark.index)]
        yield Block("code", above + _slice(text, node.start_mark.index, node.end_mark.index), language="yaml")
        if isinstance(value, Mapping | list):
            yield from _leaf_block("", value)
        return
    plain_from: int | None = None
    starts: list[int] = []
    for key, _ in node.value:
        floor = starts[-1] if starts else part.start
        starts.append(_with_comments_above(text, _line_start(text, key.start_mark.index), floor))
    for (key, item), start, end in zip(node.value, starts, [*starts[1:], node.end_mark.index], strict=True):
        nested = isinstance(item, MappingNode | SequenceNode) and bool(item.value)
        if not nested:
            plain_from = start if plain_from is None else plain_from
            continue
        if plain_from is not None:
            yield Block("code", _slice(text, plain_from, start), language="yaml")
            plain_from = None
        yield Block("heading", str(key.value), level=level)
        yield Block("code", _slice(text, start, end), language="yaml")
        # What `<<` takes in stands among the keys themselves.
        yield from _leaf_block(str(key.value), value.get(str(key.value), {}))
    if plain_from is not None:
        yield Block("code", _slice(text, plain_from, node.end_mark.index), language="yaml")


def _with_comments_above(text: str, start: int, floor: int) -> int:
    """Where the comment lines begin that stand right above the line at `start`, at its margin, not before `floor`."""
    while start > floor:
        above = _line_start(text, start - 1)
        if above < floor or not text.startswith("#", above):
            break
        start = above
    return start


def _line_start(text: str, index: int) -> int:
    return text.rfind("\n", 0, index) + 1


def _slice(text: str, start: int, end: int) -> str:
    return text[start:end].strip("\n").rstrip()


def _leaf_block(path: str, value: Any) -> Iterator[Block]:
    lines = [f"{name}: {leaf}" for name, leaf in leaves(path, value)]
    if lines:
        yield Block("list", "\n".join(f"- {line}" for line in lines))


def leaves(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Key path and text of each leaf, in order: `spec.ports[0].name`."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from leaves(f"{path}.{key}" if path else str(key), item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        if all(not isinstance(item, Mapping | list) for item in value):
            yield path, ", ".join(_leaf(item) for item in value) or "[]"
            return
        for number, item in enumerate(value):
            yield from leaves(f"{path}[{number}]", item)
    else:
        yield path, _leaf(value)


def _leaf(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(str(value).split())


def read_json(text: str) -> Read:
    """Sections of a JSON value, or of JSON Lines. Numbers keep their spelling. Text that is neither becomes code."""
    repeated: set[str] = set()
    try:
        value = _loads(text, repeated)
    except RecursionError:
        return [Block("code", text.strip(), language="json")], {}, ("not read as JSON: it is nested too deeply",)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            value = [_loads(line, repeated) for line in lines]
        except (ValueError, RecursionError):
            return [Block("code", text.strip(), language="json")], {}, (f"not valid JSON: {error}",)
    blocks = list(_sections("", value, 1)) if value not in ([], {}) else []
    return blocks, _stated(value), tuple(sorted(repeated))


class _Number(str):
    """A number as it is spelt: 1.10 stays 1.10."""

    __slots__ = ()


def _loads(text: str, repeated: set[str]) -> Any:
    """A JSON value. A key that an object has twice keeps both values, the second under `key (2)`, with a warning."""

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        counts: Counter[str] = Counter()
        for key, value in pairs:
            counts[key] += 1
            if counts[key] > 1:
                repeated.add(f"the key {key!r} occurs twice in one object")
            found[key if counts[key] == 1 else f"{key} ({counts[key]})"] = value
        return found

    return json.loads(text, parse_float=_Number, parse_int=_Number, parse_constant=_Number, object_pairs_hook=mapping)


def _sections(path: str, value: Any, level: int) -> Iterator[Block]:
    if isinstance(value, list):
        yield from _list_sections(path, value, level)
        return
    if not isinstance(value, Mapping):
        yield from _leaf_block(path or "value", value)
        return
    flat = {key: item for key, item in value.items() if not isinstance(item, Mapping | list) or not item}
    prefix = f"{path}." if path else ""
    texts = [key for key, item in flat.items() if str(key).lower() in _TEXT_KEYS and _is_text(item)]
    lines = [f"- {prefix}{key}: {_leaf(item)}" for key, item in flat.items() if key not in texts]
    if lines:
        yield Block("list", "\n".join(lines))
    for key, item in value.items():
        if key in flat:
            if key in texts:
                yield Block("paragraph", str(item).strip())
        elif isinstance(item, list) and all(not isinstance(entry, Mapping | list) for entry in item):
            yield from _plain_list(prefix + str(key), item)
        elif level <= _DEEPEST_HEADING:
            yield Block("heading", str(key), level=level)
            yield from _sections(prefix + str(key), item, level + 1)
        else:
            yield from _leaf_block(prefix + str(key), item)


def _list_sections(path: str, items: list[Any], level: int) -> Iterator[Block]:
    table = _table_of(items)
    if table is not None:
        yield table
    elif any(isinstance(item, Mapping | list) for item in items):
        for number, item in enumerate(items):
            inner = f"{path}[{number}]"
            yield Block("heading", _name_of(item) or f"{path or 'item'} {number + 1}", level=min(level, 6))
            yield from _sections(inner, _without_name(item), level + 1)
    else:
        yield from _plain_list(path, items)


def _plain_list(path: str, items: list[Any]) -> Iterator[Block]:
    if any(_is_text(item) for item in items):
        yield Block("list", "\n".join(f"- {_leaf(item)}" for item in items))
    else:
        yield from _leaf_block(path or "value", items)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip().count(" ") >= 5


_NAMES = ("title", "heading", "name", "id")


def _name_of(item: Any) -> str:
    if not isinstance(item, Mapping):
        return ""
    return next((str(item[key]) for key in _NAMES if isinstance(item.get(key), str) and item[key]), "")


def _without_name(item: Any) -> Any:
    """An object without the title or heading that is already told as the heading of its section."""
    if not isinstance(item, Mapping):
        return item
    return {key: entry for key, entry in item.items() if key not in ("title", "heading") or entry != _name_of(item)}


def _table_of(items: list[Any]) -> Block | None:
    """A list of two or more objects without nesting is a table; its columns are their keys in order of appearance."""
    if len(items) < 2 or not all(isinstance(item, Mapping) and item for item in items):
        return None
    if any(isinstance(cell, Mapping | list) for item in items for cell in item.values()):
        return None
    columns = list(dict.fromkeys(key for item in items for key in item))
    if len(columns) > 60:
        return None
    rows = [[_leaf(item[column]) if column in item else "" for column in columns] for item in items]
    return table_block([columns, *rows])


def check_size(blocks: Sequence[Block], max_leaves: int = _MAX_LEAVES) -> None:
    """Raises ConversionFault (too_large) where a structured file unfolds into too many lines."""
    lines = sum(block.text.count("\n") + 1 for block in blocks)
    if lines > max_leaves:
        raise ConversionFault("too_large", f"{lines} key paths, the limit is {max_leaves}")
