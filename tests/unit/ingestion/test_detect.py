"""Encodings: what bytes say, what a page declares, and what letters make likely."""

from __future__ import annotations

import pytest

from ingestion.formats.detect import decode_text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("# Café\n\nÜber straße naïve, déjà vu, señor, Ærø und Ångström. ", "latin-1"),
        ("Ça coûte 5 € – c’est «vrai» à 20 °C, ½ ©. ", "cp1252"),
        ("Zażółć gęślą jaźń. To jest tekst po polsku, który ma litery. ", "cp1250"),
        ("Příliš žluťoučký kůň úpěl ďábelské ódy. ", "cp1250"),
        ("Türkçe bir metin: ığdır, şeker, çığ. ", "cp1254"),  # noqa: RUF001 - Turkish
        ("Это русский текст о серверах и базах данных, который читают инженеры. ", "cp1251"),  # noqa: RUF001 - Russian
        ("これは日本語のテキストです。文字コードを調べます。", "shift_jis"),
    ],
)
def test_letters_tell_the_encoding(text: str, encoding: str) -> None:
    whole = text * 4
    decoded, warnings = decode_text(whole.encode(encoding))
    assert decoded == whole
    assert "not UTF-8" in warnings[0]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_utf_16_without_a_mark_is_read(encoding: str) -> None:
    text = "# Disk full\n\nWords of a runbook, exported without a mark.\n"
    assert decode_text(text.encode(encoding)) == (text, (f"the text is not UTF-8; read as {encoding}",))


@pytest.mark.parametrize(
    "head",
    [
        '<html><head><meta charset="{}"></head>',
        '<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset={}">',
        '<?xml version="1.0" encoding="{}"?><html>',
    ],
)
@pytest.mark.parametrize(
    ("text", "encoding"), [("Привет", "windows-1251"), ("日本", "Shift_JIS"), ("日本", "iso-2022-jp")]
)
def test_a_page_is_read_in_the_encoding_it_declares(head: str, text: str, encoding: str) -> None:
    page = head.format(encoding) + f"<p>{text}</p>"
    assert decode_text(page.encode(encoding)) == (page, ())


def test_utf_8_counts_more_than_a_wrong_declaration() -> None:
    page = '<html><meta charset="iso-8859-1"><p>Zoë</p>'
    assert decode_text(page.encode()) == (page, ())


def test_an_unknown_declaration_counts_nothing() -> None:
    page = '<html><meta charset="x-none"><p>Zoë, née Müller, über die Straße im Café. Ganz schön viel.</p>'
    assert decode_text(page.encode("latin-1"))[0] == page


def test_surrogates_written_as_utf_8_are_joined_or_left_to_be_removed() -> None:
    assert decode_text(b"ab \xed\xa0\xbd\xed\xb8\x80 \xc3\xa9") == ("ab \U0001f600 é", ())
    assert decode_text(b"text \xed\xa0\x80 more") == ("text \ud800 more", ())
