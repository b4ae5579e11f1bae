"""Files written into texts as letters: left out wherever they stand, with their size; what only looks alike stays."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import random
from pathlib import Path

import openpyxl
import pytest

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import ConvertedDocument, SourceFile
from ingestion.formats.embedded import Embedded

PICTURE = random.Random(7).randbytes(150_001)
RUN = base64.b64encode(PICTURE).decode()
ADDRESS = f"data:image/png;base64,{RUN}"
LEFT = "150001-bytes-left-out"
WARNING = "1 embedded files left out, 150001 bytes in all"


def read(tmp_path: Path, name: str, content: str | bytes) -> ConvertedDocument:
    data = content.encode() if isinstance(content, str) else content
    path = tmp_path / name
    path.write_bytes(data)
    return convert(SourceFile("docs", tmp_path, path, name, len(data), "0" * 64), limits=ConversionLimits())


def wrapped(length: int, between: str, run: str = RUN) -> str:
    return between.join(run[at : at + length] for at in range(0, len(run), length))


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.md", f"# Big\n\nneedle ![pic]({ADDRESS}) after\n", f"needle ![pic](data:image/png;base64,{LEFT}) after"),
        ("a.md", f"![p][r] needle\n\n[r]: {ADDRESS}\n", f"![p](data:image/png;base64,{LEFT}) needle"),
        ("a.md", f"```yaml\ntls.crt: {RUN}\n```\n", f"tls.crt: {LEFT}"),
        ("a.md", f"---\ntitle: T\nlogo: {ADDRESS}\n---\nneedle\n", "needle"),
        ("a.txt", f"-----BEGIN X-----\n{wrapped(64, chr(10))}\n-----END X-----\n", f"N X-----\n{LEFT}\n-----END"),
        ("a.yaml", f"data:\n  tls.crt: {RUN}\n  user: needle\n", f"- data.tls.crt: {LEFT}\n- data.user: needle"),
        ("a.yaml", f"crt: |\n  {wrapped(76, chr(10) + '  ')}\nb: {{c: 1}}\n", f"crt: |\n  {LEFT}"),
        ("a.json", json.dumps({"pem": wrapped(64, "\n"), "user": "needle"}), f"- pem: {LEFT}\n- user: needle"),
        ("a.csv", f'name,file\nneedle,"{ADDRESS}"\nb,c\n', f"| needle | data:image/png;base64,{LEFT} |"),
        ("a.csv", f"name,file\nneedle,\\x{PICTURE.hex()}\nb,c\n", LEFT),
    ],
)  # fmt: skip
def test_an_embedded_file_is_left_out_with_its_size(tmp_path: Path, name: str, content: str, told: str) -> None:
    document = read(tmp_path, name, content)
    assert document.state == "ok"
    text = "\n".join(block.text for block in document.blocks)
    assert told in text
    assert len(text) + len(json.dumps(document.metadata)) < 1_000
    assert document.warnings == (WARNING,)


def test_a_cell_of_a_workbook_that_holds_a_file_tells_its_size(tmp_path: Path) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["Name", "File"])
    workbook.active.append(["needle", base64.b64encode(PICTURE[:20_000]).decode()])
    workbook.save(stream := io.BytesIO())
    document = read(tmp_path, "a.xlsx", stream.getvalue())
    assert document.blocks[-1].text.endswith("| needle | 20000-bytes-left-out |")
    assert document.warnings == ("1 embedded files left out, 20000 bytes in all",)


def test_what_is_left_out_does_not_count_for_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(f"needle ![pic]({ADDRESS})", encoding="utf-8")
    file = SourceFile("docs", tmp_path, path, "a.md", path.stat().st_size, "0" * 64)
    assert convert(file, limits=ConversionLimits(max_characters=1_000)).state == "ok"


HASHES = "\n".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(20))
SIGNATURE = base64.b64encode(PICTURE[:128]).decode()


@pytest.mark.parametrize(
    "text",
    [
        HASHES,
        SIGNATURE,
        "x" * 1_000,
        "ACGT" * 500,
        "0123456789" * 100,
        "=" * 500 + "-" * 500 + "_" * 500,
        "https://wiki.example/" + "Team/Runbooks/Step1/" * 20,
        "an address is `data:text/plain;base64,SGVsbG8sIFdvcmxkIQ==` say",
        "data: image/png;base64, is how such an address begins",
        "\n".join(
            f"/Srv/Backups/Region{number}/Cluster/Databases/Volume/Daily/Archive/{number}" for number in range(8)
        ),
    ],
)
def test_what_is_no_embedded_file_stays(text: str) -> None:
    embedded = Embedded()
    assert embedded.leave_out(text) == text
    assert embedded.warning() == ""


def test_text_around_a_wrapped_file_stays() -> None:
    embedded = Embedded()
    lines = wrapped(64, "\n", RUN[:1_920])
    assert embedded.leave_out(f"Before\n{lines}\nafter\n") == "Before\n1440-bytes-left-out\nafter\n"
