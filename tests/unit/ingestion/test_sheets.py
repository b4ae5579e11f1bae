"""CSV: separators, lines before the table, and quotes that are never closed."""

from __future__ import annotations

import pytest

from ingestion.config import ConversionLimits
from ingestion.documents import Block
from ingestion.formats.sheets import read_csv


def read(text: str) -> list[Block]:
    return read_csv(text, ConversionLimits())[0]


@pytest.mark.parametrize("first", ["sep=;\n", "\ufeffsep=;\n", '"sep=;"\n', "SEP=;\n"])
def test_a_first_line_that_names_the_separator_is_obeyed(first: str) -> None:
    (table,) = read(f"{first}a,x;b\n1,5;2\n")
    assert table.text == "| a,x | b |\n| --- | --- |\n| 1,5 | 2 |"


def test_lines_before_the_table_become_text() -> None:
    text, table = read("# exported on 2024-01-02\n# by the billing team\n\nid,name\n1,a\n2,b\n")
    assert (text.kind, text.text) == ("paragraph", "# exported on 2024-01-02\n# by the billing team")
    assert table.header == "| id | name |\n| --- | --- |"


def test_rows_of_one_value_among_others_stay_in_the_table() -> None:
    (table,) = read("name\nalpha\nbeta\ngamma,delta\n")
    assert table.text.count("\n") == 4
    (table,) = read("id,name\n1,\n2,b\n")
    assert table.text.endswith("| 1 |  |\n| 2 | b |")


def test_a_quote_that_is_never_closed_swallows_no_rows() -> None:
    blocks, warnings = read_csv('a,b\n1,"never closed\n2,x\n3,y\n', ConversionLimits())
    assert blocks[0].text.split("\n")[2:] == ['| 1 | "never closed |', "| 2 | x |", "| 3 | y |"]
    assert warnings == ("a quote is opened and not closed",)


def test_closed_quotes_hold_separators_and_line_ends() -> None:
    blocks, warnings = read_csv('a,b\n1,"x, y\nz"\n2,"say ""hi"""\n', ConversionLimits())
    assert blocks[0].text.split("\n")[2:] == ["| 1 | x, y z |", '| 2 | say "hi" |']
    assert warnings == ()
