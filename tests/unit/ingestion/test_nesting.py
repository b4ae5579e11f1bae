"""Tags nested deeper than a recursive reader survives: left out, and nothing of the text with them."""

from __future__ import annotations

import re

import pytest

from ingestion.formats.nesting import MOST_STRUCTURES, MOST_WRAPPERS, flatten_html

INNER = "<p>The kraken &amp; its &#100;en</p><table><tr><td>a<td>b</table>"


def depth(markup: str) -> int:
    """The most elements that are open at once, without those that end by themselves."""
    most = open_now = 0
    for end in re.findall(r"<(/?)(?!p\b|td\b|tr\b|li\b)[a-z]", markup):
        open_now += -1 if end else 1
        most = max(most, open_now)
    return most


@pytest.mark.parametrize(
    "page",
    [
        "",
        "<!DOCTYPE html><html><body>" + "<div>" * 50 + INNER + "</div>" * 50,
        "<ul><li>one" * MOST_STRUCTURES,
        "<p>" * 9_000 + "<br>" * 9_000 + "<li>" * 9_000,
        "if a < b and <namespace> is set",
        "<DIV>" * MOST_WRAPPERS + INNER,
    ],
)
def test_a_page_that_is_not_deep_is_left_as_it_is(page: str) -> None:
    assert flatten_html(page) == page


@pytest.mark.parametrize("name", ["div", "span", "blockquote", "font", "x-panel", "section"])
@pytest.mark.parametrize("times", [MOST_WRAPPERS + 1, 5_000, 100_000])
def test_wrappers_are_left_out_beyond_a_depth_and_what_they_hold_is_not(name: str, times: int) -> None:
    flat = flatten_html(
        f"<html><body>{f'<{name} class=a>' * times}{INNER}{f'</{name}>' * times}<p>After</p></body></html>"
    )
    assert INNER in flat
    assert flat.endswith("<p>After</p></body></html>")
    assert depth(flat) <= MOST_WRAPPERS + MOST_STRUCTURES


@pytest.mark.parametrize("opened", ["<table><tr><td>x", "<ul><li>x", "<ol><li>x", "<dl><dd>x"])
def test_tables_and_lists_within_one_another_keep_their_words(opened: str) -> None:
    name = opened[1:].split(">")[0]
    flat = flatten_html(opened * 2_000 + "kraken" + f"</{name}>" * 2_000)
    assert flat.count("x") == 2_000
    assert "kraken" in flat
    assert flat.count(f"<{name}>") == flat.count(f"</{name}>") == MOST_STRUCTURES


def test_texts_of_blocks_that_are_left_out_stay_apart() -> None:
    flat = flatten_html("<div>" * 200 + "".join(f"<div>part{number}</div>" for number in range(3)) + "</div>" * 200)
    assert re.findall(r"part\d|<p></p>", flat) == [
        "<p></p>", "part0", "<p></p>", "part1", "<p></p>", "part2", "<p></p>",
    ]  # fmt: skip
    inline = flatten_html("<span>" * 200 + "one <span>wo</span>rd" + "</span>" * 200)
    assert "one word" in re.sub("<[^>]*>", "", inline)
    assert "<p></p>" not in inline


def test_headings_and_code_are_kept_however_deep() -> None:
    flat = flatten_html("<div>" * 3_000 + "<h2>Steps</h2><pre>a | b\n  c</pre>" + "</div>" * 3_000)
    assert "<h2>Steps</h2><pre>a | b\n  c</pre>" in flat


def test_tags_that_were_never_opened_or_closed_lose_no_text() -> None:
    flat = flatten_html("</div></b>" + "<font>word " * 2_000 + "</i></table>end<!-- hidden -->")
    assert flat.count("word") == 2_000
    assert "end" in flat
    assert "hidden" not in flat


def test_a_tag_that_ends_itself_holds_nothing() -> None:
    flat = flatten_html("<div>" * 200 + "a<div/>b<br/>c" + "</div>" * 200 + "<p>after</p>")
    assert "a<div/>b<br/>c" in flat
    assert flat.count("<div>") == flat.count("</div>") == MOST_WRAPPERS


def test_scripts_are_not_read_as_tags() -> None:
    script = "<script>if (a</b) { document.write('<div>') }</script>"
    assert script in flatten_html("<body>" + script + "<div>" * 500 + "x")
