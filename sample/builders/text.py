"""Text formats: Markdown with and without frontmatter, HTML, YAML."""

from __future__ import annotations

import io
from html import escape
from typing import Any

from ruamel.yaml import YAML

from sample.builders.blocks import (
    Code,
    Heading,
    Listing,
    Paragraph,
    Table,
    group_sections,
    markdown_parser,
    plain,
)
from sample.builders.source import Source


def write_markdown(source: Source) -> bytes:
    return f"---\n{_dump(source.public_meta)}---\n\n{source.body}".encode()


def write_plain_markdown(source: Source) -> bytes:
    return source.body.encode()


def write_html(source: Source) -> bytes:
    names = {
        "date": source.date.isoformat(),
        "author": source.owner,
        "description": source.meta.get("subject", ""),
    }
    names |= {key: source.meta[key] for key in ("document_type", "status", "superseded_by") if key in source.meta}
    tags = "\n".join(
        f'  <meta name="{escape(name)}" content="{escape(str(value))}">' for name, value in names.items() if value
    )
    first = next(iter(source.blocks), None)
    titled = source.body.lstrip().startswith("# ")
    title = "" if titled else f"<h1>{escape(source.title)}</h1>\n"
    lead = f'<p class="byline">{escape(source.byline)}</p>\n' if first is not None else ""
    body = markdown_parser().render(source.body)
    head, closed, rest = body.partition("</h1>\n") if titled else ("", "", body)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <title>{escape(source.title)} | Larkspur Instruments</title>
{tags}
</head>
<body>
<nav>
<a href="/">Larkspur intranet</a> <a href="/documents">All documents</a> <a href="/search">Search</a>
</nav>
<main>
<article>
{title}{head}{closed}{lead}{rest}</article>
</main>
<footer>
<p>Larkspur Instruments, internal use only. Questions about this page go to {escape(source.owner)}.</p>
</footer>
</body>
</html>
""".encode()


def write_yaml(source: Source) -> bytes:
    """A body that is one fenced YAML block is kept as it is; any other becomes sections."""
    blocks = source.blocks
    if len(blocks) == 1 and isinstance(blocks[0], Code):
        return f"{_dump(source.public_meta)}{blocks[0].text}\n".encode()
    sections: list[dict[str, Any]] = []
    for section in group_sections(blocks):
        entry: dict[str, Any] = {"heading": plain(section.heading.runs)} if section.heading else {}
        for block in section.blocks:
            match block:
                case Paragraph(runs):
                    entry["text"] = "\n".join(filter(None, [entry.get("text"), plain(runs)]))
                case Listing():
                    entry.setdefault("items", []).extend(plain(runs) for _, runs in block.items)
                case Table():
                    names = [plain(cell) for cell in block.header]
                    entry.setdefault("rows", []).extend(
                        dict(zip(names, [plain(cell) for cell in row], strict=True)) for row in block.rows
                    )
                case Code():
                    entry.setdefault("code", []).append(block.text)
                case Heading():
                    pass
        sections.append(entry)
    return _dump({"title": source.title} | source.public_meta | {"sections": sections}).encode()


def _dump(value: dict[str, Any]) -> str:
    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 1000
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(value, stream)
    return stream.getvalue()
