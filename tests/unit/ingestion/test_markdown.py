"""Markdown to blocks: HTML between Markdown, links by reference, words that only look like tags."""

from __future__ import annotations

import pytest

from ingestion.formats.markdown import read_markdown


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
