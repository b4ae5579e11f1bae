"""Conversion of text formats and sheets, by content: what comes out, and in which state."""

from __future__ import annotations

import datetime
import io
import json
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import openpyxl
import pytest
from openpyxl.styles import Font

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import Block, ConvertedDocument, SourceFile

LIMITS = ConversionLimits()


def read(tmp_path: Path, name: str, content: str | bytes, limits: ConversionLimits = LIMITS) -> ConvertedDocument:
    path = tmp_path / name
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(data)
    return convert(SourceFile("docs", tmp_path, path, name, len(data), "0" * 64), limits=limits)


def kinds(document: ConvertedDocument) -> list[str]:
    return [block.kind for block in document.blocks]


def block(document: ConvertedDocument, kind: str) -> Block:
    return next(item for item in document.blocks if item.kind == kind)


def book(sheets: Mapping[str, Sequence[Sequence[object]]]) -> openpyxl.Workbook:
    workbook = openpyxl.Workbook()
    del workbook["Sheet"]
    for title, rows in sheets.items():
        sheet = workbook.create_sheet(title)
        for row in rows:
            sheet.append(list(row))
    return workbook


def bytes_of(workbook: openpyxl.Workbook) -> bytes:
    stream = io.BytesIO()
    workbook.save(stream)
    return stream.getvalue()


# Markdown


def test_frontmatter_becomes_metadata_and_rules_stay_out_of_it(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "---\ntitle: Disk full\nservice: api\n---\n# Heading\n\none\n\n---\n\ntwo\n")
    assert document.metadata == {"title": "Disk full", "service": "api"}
    assert document.origins == {"title": "frontmatter", "service": "frontmatter"}
    assert document.title == "Disk full"
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("heading", "Heading"),
        ("paragraph", "one"),
        ("paragraph", "two"),
    ]


def test_code_is_verbatim_with_its_language_and_pipes_stay_pipes(tmp_path: Path) -> None:
    text = (
        "```bash\ncat /var/log/x | grep -v '&amp;' |  wc -l\n```\n\n"
        "| Command | Does |\n|---|---|\n| `a \\| b` | pipes &#124; here &amp; there |\n"
    )
    document = read(tmp_path, "a.md", text)
    code, table = block(document, "code"), block(document, "table")
    assert (code.text, code.language) == ("cat /var/log/x | grep -v '&amp;' |  wc -l", "bash")
    assert table.text.splitlines()[2] == r"| `a \| b` | pipes \| here & there |"
    assert table.header == "| Command | Does |\n| --- | --- |"


def test_code_inside_a_list_keeps_its_place_and_text(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "1. Stop it:\n\n   ```sh\n   systemctl stop x\n     --now\n   ```\n\n2. Wait.\n")
    assert [(b.kind, b.text) for b in document.blocks] == [
        ("list", "1. Stop it:"),
        ("code", "systemctl stop x\n  --now"),
        ("list", "2. Wait."),
    ]


def test_erb_code_goes_and_its_text_stays(tmp_path: Path) -> None:
    text = '---\ntitle: Restart\n---\n<% if x %>\nRun it <%= "now" %>.\n<% end -%>\n\n```\n<%% literal %%>\n```\n'
    document = read(tmp_path, "restart.html.md.erb", text)
    assert document.title == "Restart"
    told = "\n".join(b.text for b in document.blocks)
    assert "Run it" in told
    assert "if x" not in told
    assert "end" not in told
    assert "<% literal %>" in told


def test_placeholders_in_angle_brackets_survive_and_tags_do_not(tmp_path: Path) -> None:
    document = read(
        tmp_path, "a.md", "Use <namespace> and <b>bold</b> text<br>here.<!-- hidden -->\n\n<div>\nin a div\n</div>\n"
    )
    assert [b.text for b in document.blocks] == ["Use <namespace> and bold text here.", "in a div"]


def test_a_title_comes_from_the_first_heading_else_from_the_name(tmp_path: Path) -> None:
    assert read(tmp_path, "a.md", "# The **Title**\n\nx").title == "The Title"
    assert read(tmp_path, "disk-full.md", "just text").title == "Disk full"
    assert read(tmp_path, "KubeNodeNotReady.md", "## Meaning\n\nx\n\n## Impact\n\ny").title == "KubeNodeNotReady"


def test_broken_frontmatter_is_a_warning_not_a_failure(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "---\na: 1\na: 2\n---\nbody\n")
    assert document.state == "ok"
    assert document.metadata == {}
    assert "line 3" in document.warnings[0]


# States


@pytest.mark.parametrize("name", ["a.md", "a.csv", "a.html", "a.docx", "a.pdf", "a.yaml"])
def test_a_file_without_bytes_is_empty(tmp_path: Path, name: str) -> None:
    document = read(tmp_path, name, b"")
    assert (document.state, document.blocks) == ("empty", ())
    assert document.reason


@pytest.mark.parametrize("text", ["   \n\n", "---\n---\n", "<!-- nothing -->\n"])
def test_a_file_without_text_is_empty(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, "a.md", text).state == "empty"


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("a.md", "---\ntitle: Api\ntags: [x, y]\n---\n<!-- todo -->\n", "- title: Api\n- tags: x, y"),
        ("a.txt", "---\nservice: api\nowner: {team: Data}\n---\n", "- service: api\n- owner.team: Data"),
        ("a.md", '+++\ntitle = "Api"\n+++\n', "- title: Api"),
    ],
)
def test_a_stub_is_found_by_what_it_states(tmp_path: Path, name: str, text: str, told: str) -> None:
    document = read(tmp_path, name, text)
    assert (document.state, [item.text for item in document.blocks]) == ("ok", [told])


@pytest.mark.parametrize(
    ("content", "state"),
    [
        (b"PK\x03\x04broken", "corrupt"),
        (b"%PDF-1.7 nothing more", "corrupt"),
        (b"%PDF-1.7\n/Encrypt 5 0 R\nbroken", "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600, "unsupported"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\x00" * 600 + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "unsupported"),
        (b"{\\rtf1 text}", "unsupported"),
    ],
)
def test_broken_locked_and_foreign_files_are_told_apart(tmp_path: Path, content: bytes, state: str) -> None:
    document = read(tmp_path, "a.docx", content)
    assert document.state == state
    assert document.reason
    assert str(tmp_path) not in document.reason


def test_a_file_that_vanished_is_quarantined(tmp_path: Path) -> None:
    file = SourceFile("docs", tmp_path, tmp_path / "gone.md", "gone.md", 5, "0" * 64)
    document = convert(file, limits=LIMITS)
    assert (document.state, document.stage) == ("quarantined", "machine")
    assert "cannot be read" in document.reason


def test_what_a_database_refuses_is_removed_and_counted(tmp_path: Path) -> None:
    document = read(tmp_path, "a.json", json.dumps({"name": "a\x00b", "note": "x\ud800y"}))
    told = "\n".join(b.text for b in document.blocks) + json.dumps(document.metadata)
    assert "\x00" not in told
    assert "\\u0000" not in told
    assert "\\ud800" not in told
    assert "ab" in told
    assert "xy" in told
    assert any("cannot be stored" in warning for warning in document.warnings)


def test_a_stray_nul_in_a_text_is_stripped(tmp_path: Path) -> None:
    document = read(tmp_path, "a.md", "one\x00two\n")
    assert document.state == "ok"
    assert document.warnings == ("1 characters that cannot be stored (NUL, lone surrogates) were removed",)


def test_too_much_text_is_refused(tmp_path: Path) -> None:
    assert read(tmp_path, "a.md", "x" * 100, ConversionLimits(max_characters=50)).state == "too_large"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("Gr\u00f6\u00dfe".encode("utf-16"), "Gr\u00f6\u00dfe"),
        (b"\xef\xbb\xbf# Title", "Title"),
        ("Die Gr\u00f6\u00dfe der Anlage".encode("cp1252"), "Gr\u00f6\u00dfe"),
    ],
)
def test_encodings_are_recognised(tmp_path: Path, data: bytes, words: str) -> None:
    document = read(tmp_path, "a.md", data)
    assert words in document.blocks[0].text


# Content wins over the name


def test_the_content_decides_and_not_the_name(tmp_path: Path) -> None:
    workbook = bytes_of(book({"Data": [["A", "B"], [1, 2]]}))
    assert "openpyxl" in read(tmp_path, "data.csv", workbook).converter
    assert "json" in read(tmp_path, "data.txt", '{"a": {"b": 1}}').converter
    assert kinds(read(tmp_path, "notes.txt", "# One\n\n- a\n- b\n")) == ["heading", "list"]
    assert kinds(read(tmp_path, "plain.html", "No tags in here.\n")) == ["paragraph"]


# YAML and JSON


def test_yaml_configuration_is_kept_verbatim_with_key_paths(tmp_path: Path) -> None:
    plain = "replicas: 3\nversion: 1.10\non: yes\n"
    text = f"{plain}spec:\n  # keep this low\n  ports:\n    - name: http\n      port: 8080\n"
    document = read(tmp_path, "deploy.yaml", text)
    codes = [b.text for b in document.blocks if b.kind == "code"]
    assert codes == [
        "replicas: 3\nversion: 1.10\non: yes",
        "spec:\n  # keep this low\n  ports:\n    - name: http\n      port: 8080",
    ]
    assert block(document, "heading").text == "spec"
    assert block(document, "list").text == "- spec.ports[0].name: http\n- spec.ports[0].port: 8080"


def test_yaml_prose_becomes_readable_sections(tmp_path: Path) -> None:
    sentence = "Freight is included in the list price of every gateway and of every meter that is sold."
    text = (
        "title: Freight terms\nowner: Supply Chain\ndate: 2025-11-03\nsections:\n"
        f"- heading: Who pays\n  text: {sentence}\n"
        "- heading: Times\n  rows:\n  - {Region: Nordics, Days: '5'}\n  - {Region: DACH, Days: '4'}\n"
    )
    document = read(tmp_path, "terms.yml", text)
    assert document.title == "Freight terms"
    assert document.metadata == {"title": "Freight terms", "owner": "Supply Chain", "date": "2025-11-03"}
    assert ("heading", "Who pays") in [(b.kind, b.text) for b in document.blocks]
    assert ("paragraph", sentence) in [(b.kind, b.text) for b in document.blocks]
    assert block(document, "table").text.splitlines()[2] == "| Nordics | 5 |"


def test_several_yaml_documents_are_named(tmp_path: Path) -> None:
    text = "kind: Service\nmetadata:\n  name: web\n---\nkind: Job\nmetadata:\n  name: nightly\n"
    headings = [b.text for b in read(tmp_path, "k8s.yaml", text).blocks if b.kind == "heading" and b.level == 1]
    assert headings == ["Service web", "Job nightly"]


def test_text_that_is_no_yaml_is_kept_as_code_with_a_warning(tmp_path: Path) -> None:
    document = read(tmp_path, "a.yaml", "a: 1\n b: [2\n")
    assert kinds(document) == ["code"]
    assert "not valid YAML: line" in document.warnings[0]


def test_json_numbers_keep_their_spelling_and_flat_lists_are_tables(tmp_path: Path) -> None:
    text = '{"version": 1.10, "prices": [{"item": "A", "eur": 3.50}, {"item": "B", "eur": 4}]}'
    document = read(tmp_path, "a.json", text)
    assert block(document, "list").text == "- version: 1.10"
    assert block(document, "table").text == "| item | eur |\n| --- | --- |\n| A | 3.50 |\n| B | 4 |"


def test_json_lines_and_broken_json(tmp_path: Path) -> None:
    assert block(read(tmp_path, "a.json", '{"a": 1}\n{"a": 2}\n'), "table").text.endswith("| 1 |\n| 2 |")
    broken = read(tmp_path, "b.json", '{"a": ')
    assert kinds(broken) == ["code"]
    assert "not valid JSON" in broken.warnings[0]


def test_json_without_end_is_bounded(tmp_path: Path) -> None:
    document = read(tmp_path, "a.json", "[" * 100_000 + "]" * 100_000)
    assert kinds(document) == ["code"]
    assert "nested" in document.warnings[0] or "not valid JSON" in document.warnings[0]


# CSV and XLSX


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(tmp_path: Path, delimiter: str) -> None:
    rows = [["Name", "Price, net", "Note"], ["A", "1", "x"], ["B", "2", "y"]]
    text = "\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    assert block(read(tmp_path, "a.csv", text), "table").text.splitlines()[0] == "| Name | Price, net | Note |"


def test_rows_of_unequal_length_are_padded(tmp_path: Path) -> None:
    table = block(read(tmp_path, "a.csv", "a,b\n1,2,3\n4\n"), "table")
    assert table.text == "| a | b |  |\n| --- | --- | --- |\n| 1 | 2 | 3 |\n| 4 |  |  |"


def test_a_csv_file_without_a_header_invents_none(tmp_path: Path) -> None:
    table = block(read(tmp_path, "a.csv", "1,2\n3,4\n5,6\n"), "table")
    assert table.header == "|  |  |\n| --- | --- |"
    assert table.text.count("| 1 | 2 |") == 1


def test_a_merged_cell_is_told_once(tmp_path: Path) -> None:
    workbook = book({"Data": [["merged", None, None], [None, None, None], ["a", "b", "c"], ["1", "2", "3"]]})
    workbook["Data"].merge_cells("A1:C2")
    document = read(tmp_path, "a.xlsx", bytes_of(workbook))
    assert sum(b.text.count("merged") for b in document.blocks) == 1
    assert "| a | b | c |" in block(document, "table").text


def test_a_sparse_column_stays_in_one_table(tmp_path: Path) -> None:
    rows = [["Area", "Question", None], [None, "What?", "Extra"], ["Use", "Which?", None], [None, "Who?", "More"]]
    document = read(tmp_path, "a.xlsx", bytes_of(book({"Data": rows})))
    assert kinds(document).count("table") == 1
    told = "\n".join(b.text for b in document.blocks)
    for word in ("Area", "What?", "Extra", "Which?", "More"):
        assert told.count(word) == 1


def test_rows_after_a_gap_are_kept_and_join_their_table(tmp_path: Path) -> None:
    rows: list[list[object]] = [
        ["Item", "Price"],
        ["A", 1],
        ["B", 2],
        [None, None],
        ["C", 3],
        [None, None],
        [None, None],
        ["Note", "Owner"],
        ["x", "y"],
    ]
    tables = [b.text for b in read(tmp_path, "a.xlsx", bytes_of(book({"Data": rows}))).blocks if b.kind == "table"]
    assert tables[0].splitlines()[-1] == "| C | 3 |"
    assert tables[1].splitlines()[0] == "| Note | Owner |"


def test_tables_side_by_side_are_two(tmp_path: Path) -> None:
    rows: list[list[object]] = [["a", "b", None, "c", "d"], [1, 2, None, 3, 4], [5, 6, None, 7, 8]]
    tables = [b.text for b in read(tmp_path, "a.xlsx", bytes_of(book({"Data": rows}))).blocks if b.kind == "table"]
    assert [t.splitlines()[0] for t in tables] == ["| a | b |", "| c | d |"]


def test_a_styled_cell_in_the_last_row_costs_no_rows(tmp_path: Path) -> None:
    workbook = book({"Data": [["Item", "Price"], ["A", 1]]})
    workbook["Data"].cell(1_048_576, 1).font = Font(bold=True)
    workbook["Data"].cell(1_000_000, 1, "far below")
    document = read(tmp_path, "a.xlsx", bytes_of(workbook))
    assert document.state == "ok"
    assert "far below" in "\n".join(b.text for b in document.blocks)


def test_more_rows_than_the_limit_are_too_large(tmp_path: Path) -> None:
    limits = ConversionLimits(max_rows=10)
    rows: list[list[object]] = [[number, "x"] for number in range(12)]
    document = read(tmp_path, "a.xlsx", bytes_of(book({"Data": rows})), limits)
    assert document.state == "too_large"
    assert read(tmp_path, "a.csv", "\n".join(f"{n},x" for n in range(12)), limits).state == "too_large"
    assert read(tmp_path, "b.csv", "\n".join(f"{n},x" for n in range(10)), limits).state == "ok"


def test_values_read_as_people_see_them(tmp_path: Path) -> None:
    workbook = book({"Data": [["When", "Share", "Sum"]]})
    sheet = workbook["Data"]
    sheet.append([datetime.date(2026, 1, 2), 0.125, 0.1 + 0.2])
    sheet["B2"].number_format = "0.0%"
    table = block(read(tmp_path, "a.xlsx", bytes_of(workbook)), "table")
    assert table.text.splitlines()[-1] == "| 2026-01-02 | 12.5% | 0.3 |"


def test_a_formula_without_a_saved_value_is_shown_as_formula(tmp_path: Path) -> None:
    document = read(tmp_path, "a.xlsx", bytes_of(book({"Data": [["A", "B"], [1, "=A2*2"], [2, "=A3*2"]]})))
    assert "=A2*2" in block(document, "table").text


def test_hidden_sheets_are_left_out_with_a_warning(tmp_path: Path) -> None:
    workbook = book({"Shown": [["a", "b"], ["c", "d"]], "Secret": [["x", "y"], ["z", "w"]]})
    workbook["Secret"].sheet_state = "hidden"
    document = read(tmp_path, "a.xlsx", bytes_of(workbook))
    assert "z" not in "".join(b.text for b in document.blocks if b.kind == "table")
    assert document.warnings == ("hidden sheet 'Secret' left out",)


# Archives that lie


def bomb(declared: int | None) -> bytes:
    """A workbook with a part of 30 MB of zeros; `declared` is the size that its directory claims."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        archive.writestr("xl/worksheets/sheet1.xml", b"\0" * 30_000_000)
    data = bytearray(stream.getvalue())
    if declared is not None:
        for signature, offset in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
            at = data.rfind(signature)
            at = data.rfind(signature, 0, at) if signature == b"PK\x01\x02" and data.count(signature) < 2 else at
            struct.pack_into("<I", data, at + offset, declared)
    return bytes(data)


@pytest.mark.parametrize("declared", [None, 1_000])
def test_a_bomb_is_refused_whatever_it_declares(tmp_path: Path, declared: int | None) -> None:
    data = bomb(declared)
    assert len(data) < 100_000
    document = read(tmp_path, "a.xlsx", data, ConversionLimits(max_inflated_bytes=10_000_000))
    assert document.state == ("too_large" if declared is None else "corrupt")


def test_a_damaged_part_is_corrupt(tmp_path: Path) -> None:
    data = bytearray(bytes_of(book({"Data": [["a", "b"], ["c", "d"]]})))
    at = data.find(zlib.compress(b"x")[:1], 60)
    for offset in range(at + 200, at + 260):
        data[offset] ^= 0xFF
    assert read(tmp_path, "a.xlsx", bytes(data)).state == "corrupt"
