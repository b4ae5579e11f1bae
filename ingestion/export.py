"""A converted document as Markdown with its enriched metadata as YAML frontmatter."""

from __future__ import annotations

from typing import Any

import yaml

from ingestion.documents import Block, ConvertedDocument


def enriched_markdown(document: ConvertedDocument) -> str:
    """The document's blocks below a frontmatter of its metadata; keys in alphabetical order, `title` first."""
    body = "\n\n".join(_block_text(block) for block in document.blocks)
    return f"---\n{_frontmatter(document.title, document.metadata)}---\n\n{body}\n"


def _block_text(block: Block) -> str:
    if block.kind == "heading":
        return f"{'#' * max(1, min(block.level, 6))} {block.text}"
    if block.kind == "code":
        fence = "```"
        while fence in block.text:
            fence += "`"
        return f"{fence}{block.language}\n{block.text}\n{fence}"
    return block.text


def _frontmatter(title: str, metadata: dict[str, Any]) -> str:
    ordered: dict[str, Any] = {"title": _quoted(title)}
    for key in sorted(metadata):
        if key != "title":
            ordered[key] = _quoted(metadata[key])
    return yaml.dump(ordered, Dumper=_Writer, default_flow_style=False, allow_unicode=True, width=4096, sort_keys=False)


class _Quoted(str):
    """Text in double quotes, so that "1.10", "yes" or "2024-01-02" are read as the text that they are."""


class _Writer(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """libyaml's writer where it is there: it takes a tenth of the time of one in Python."""


_Writer.add_representer(
    _Quoted, lambda writer, text: writer.represent_scalar("tag:yaml.org,2002:str", str(text), style='"')
)


def _quoted(value: Any) -> Any:
    if isinstance(value, str):
        return _Quoted(value)
    if isinstance(value, list | tuple):
        return [_quoted(item) for item in value]
    if isinstance(value, dict):
        return {str(key): _quoted(item) for key, item in value.items()}
    return value
