"""Markdown to blocks: HTML between Markdown, links by reference, words that only look like tags."""

from __future__ import annotations

import pytest

from ingestion.formats.detect import detect_text
from ingestion.formats.markdown import read_markdown, strip_erb


def texts(markdown: str) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in read_markdown(markdown)]


def test_an_html_table_is_a_table() -> None:
    markup = "<table><tr><th>Host</th><th>Role</th></tr>\n<tr><td>db-1</td><td>a | b</td></tr></table>"
    assert texts(markup) == [("table", "| Host | Role |\n| --- | --- |\n| db-1 | a \\| b |")]


def test_text_around_html_tables_stays_in_its_place() -> None:
    markup = "<div>Before<table><tr><td>1</td><td>2</td></tr></table>After</div>"
    assert texts(markup) == [("paragraph", "Before"), ("table", "| 1 | 2 |\n| --- | --- |"), ("paragraph", "After")]


def test_cells_of_a_table_within_a_table_are_kept_apart() -> None:
    markup = "<table><tr><td>out<table><tr><td>in1</td><td>in2</td></tr></table></td><td>last</td></tr></table>"
    ((kind, text),) = texts(markup)
    assert kind == "paragraph"
    assert [word for word in text.replace("|", " ").split() if word] == ["outin1", "in2", "last"]


def test_preformatted_html_is_code_with_its_language_and_indents() -> None:
    (block,) = read_markdown('<pre lang="go">\nfunc a() {\n\n    return 1 &lt; 2\n}\n</pre>')
    assert (block.kind, block.language) == ("code", "go")
    assert block.text == "func a() {\n\n    return 1 < 2\n}"


@pytest.mark.parametrize("tag", ["script", "style"])
def test_scripts_and_styles_are_no_text(tag: str) -> None:
    assert texts(f"one\n\n<{tag}>\nvar x = 1;\n</{tag}>\n\ntwo <{tag}>y</{tag}>") == [
        ("paragraph", "one"),
        ("paragraph", "two "),
    ]


@pytest.mark.parametrize(
    "text", ["Use a<b and c>d.", "if x <b or y> 2", "Set <namespace> and <your-name>.", "a <i and j> b"]
)
def test_comparisons_and_placeholders_are_text(text: str) -> None:
    assert texts(text) == [("paragraph", text)]


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('a <a href="x">link</a> b', "a link b"),
        ("<b class='c'>bold</b>", "bold"),
        ("<details open><summary>S</summary>", "S"),
        ('<img src="a.png" alt="x"/>seen', "seen"),
        ("<span data-x=1 id=y>s</span>", "s"),
    ],
)
def test_tags_with_attributes_are_taken_out(markup: str, text: str) -> None:
    assert "\n".join(text for _, text in texts(markup)).strip() == text


def test_links_by_reference_keep_their_target() -> None:
    text = "See [the runbook][rb], [RB][] and ![pic][p].\n\n- [rb] too\n\n| a |\n|---|\n| [rb] |\n\n"
    text += "`[rb]` and [other] stay; [`run`][rb] has code.\n\n```\n[rb]\n```\n\n"
    text += "[rb]: https://wiki.example/rb 'T'\n[p]: p.png\n"
    found = [text for _, text in texts(text)]
    assert found[0] == ("See [the runbook](https://wiki.example/rb), [RB](https://wiki.example/rb) and ![pic](p.png).")
    assert found[1] == "- [rb](https://wiki.example/rb) too"
    assert "[rb](https://wiki.example/rb)" in found[2]
    assert found[3] == "`[rb]` and [other] stay; [`run`](https://wiki.example/rb) has code."
    assert found[4] == "[rb]"


@pytest.mark.parametrize(
    ("markup", "told"),
    [
        ("<h1>Pump station</h1>\n\ntext", [("heading", "Pump station"), ("paragraph", "text")]),
        (
            '<div align="center">\n<h1 id="a">\n <b>Pump</b><br>station &amp; co\n</h1>\n<p>Moves water</p>\n</div>',
            [("heading", "Pump station & co"), ("paragraph", "Moves water")],
        ),
        ('<h1><img src="l.png" alt="Pump station"></h1>', [("heading", "Pump station")]),
        ("<H2>One</H2>\n<h3>Two</h3>below", [("heading", "One"), ("heading", "Two"), ("paragraph", "below")]),
        ("<h1>never closed\n\ntext", [("paragraph", "never closed"), ("paragraph", "text")]),
        ("<table><tr><td><h3>In a cell</h3></td></tr></table>", [("table", "| In a cell |\n| --- |")]),
        ("<h2></h2>\n<p>text</p>", [("paragraph", "text")]),
    ],
)
def test_headings_in_html_are_headings(markup: str, told: list[tuple[str, str]]) -> None:
    assert texts(markup) == told


def test_the_level_of_a_heading_in_html_is_its_own() -> None:
    assert [block.level for block in read_markdown("<h1>a</h1>\n<h4>b</h4>")] == [1, 4]


def test_escapes_and_code_in_headings_are_told_without_their_marks() -> None:
    assert texts("# Run \\*all\\* `a_b` of [x](y) &amp; *more*") == [("heading", "Run *all* a_b of x & more")]


def test_a_heading_without_end_is_told_as_written() -> None:
    ((kind, text),) = texts("# " + "word " * 1_000)
    assert (kind, text) == ("heading", ("word " * 1_000).strip())


@pytest.mark.parametrize(
    "text",
    [
        "[" * 400_000,
        "# " + "[" * 400_000,
        "*a " * 400_000,
        "![" * 400_000,
        "<!--" * 400_000,
        "text <!--" * 400_000,
        "--> text " + "<!--" * 400_000,
        "`" * 200_000 + " a" * 200_000,
        "[r]: x\n\n" + "`" * 200_000 + " a" * 200_000,
        "[r]: x\n\n" + "[a" * 400_000,
        "{{<" * 100_000,
        "<table>" * 100_000,
        "<h1>" * 100_000,
        "<div>" + "<tr" * 100_000 + "</div>",
        "<table>" + "<tr" * 100_000 + "<td" * 100_000 + "</table>",
        "<div>" + "<script" * 100_000,
        "<div " + "a=b " * 100_000,
        "text <a" + " a=b" * 100_000,
        "<h1>" + "<img" * 100_000 + "</h1>",
    ],
    ids=lambda text: text[:12] + "..." + text[-6:],
)
def test_hostile_text_is_read_in_a_time_that_grows_with_it(text: str) -> None:
    # In one that grows with its square, the call would take the better part of an hour.
    assert len(read_markdown(text)) <= 2


def test_hostile_templates_and_comments_are_told_apart_in_time() -> None:
    assert strip_erb("<% " * 400_000).count("<%") == 400_000
    assert detect_text("<!-- note -->\n" * 10_000 + "# Title", "a.md") == "markdown"
    assert detect_text("<p " * 100_000, "a.html") == "markdown"
