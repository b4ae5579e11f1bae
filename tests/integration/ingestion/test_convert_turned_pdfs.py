"""PDF pages that are turned, cropped or shifted: all of them must be read as the same page that is neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from ingestion.config import ConversionLimits
from ingestion.convert import convert
from ingestion.documents import Block, ConvertedDocument, SourceFile
from ingestion.formats.pdf import read_pages
from ingestion.pdf_lines import Page

pytestmark = pytest.mark.integration
LIMITS = ConversionLimits()
WHOLE = "/MediaBox[0 0 595 842]"
ROWS = (("Region", "Days"), ("Nordics", "5"), ("DACH", "4"))
GRID = [
    *(f"70 {y} m 370 {y} l S" for y in (500, 520, 540, 560)),
    *(f"{x} 500 m {x} 560 l S" for x in (70, 220, 370)),
]
CELLS = [(75 + 150 * at, 546 - 20 * row, text) for row, texts in enumerate(ROWS) for at, text in enumerate(texts)]
LINES = [
    (72, 640, "The first sentence of the page stands above the table."),
    (72, 450, "The second one stands below it and is read after it."),
    (72, 80, "The last one stands near the edge."),
]
TELLS = [
    ("heading", "Terms of delivery"),
    ("paragraph", LINES[0][2]),
    ("table", "| Region | Days |\n| --- | --- |\n| Nordics | 5 |\n| DACH | 4 |"),
    ("paragraph", LINES[1][2]),
    ("paragraph", LINES[2][2]),
]
TURNED_TEXT = {0: "1 0 0 1 0 0", 90: "0 1 -1 0 842 0", 180: "-1 0 0 -1 595 842", 270: "0 -1 1 0 0 595"}
"""What sets text so that it stands upright on a page that a viewer turns by so much."""
LANDSCAPE = "/MediaBox[0 0 842 595]"


def drawing(shift: tuple[float, float] = (0, 0), matrix: str = "1 0 0 1 0 0") -> bytes:
    texts = [("F2 18", 72, 700, "Terms of delivery"), *(("F1 11", *line) for line in (*LINES, *CELLS))]
    shown = [f"BT /{font} Tf {x} {y} Td ({text}) Tj ET" for font, x, y, text in texts]
    return "\n".join((f"1 0 0 1 {shift[0]} {shift[1]} cm", f"{matrix} cm", *GRID, *shown)).encode()


def pdf(page: str, content: bytes, *, tree: str = "", more: str = "null") -> bytes:
    """A PDF of one page with the given entries of the page, of the page tree, and an object 7 to refer to."""
    fonts = "/Resources<</Font<</F1 4 0 R/F2 5 0 R>>>>"
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[3 0 R]/Count 1{tree}>>".encode(),
        f"<</Type/Page/Parent 2 0 R/Contents 6 0 R{fonts}{page}>>".encode(),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Name/F1>>",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold/Name/F2>>",
        b"<</Length %d>>stream\n%s\nendstream" % (len(content), content),
        more.encode(),
    ]
    data = b"%PDF-1.4\n"
    places = []
    for number, body in enumerate(objects, start=1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"trailer<</Size 8/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % len(data)
    return data + b"xref\n0 8\n0000000000 65535 f \n" + table + end


def read(tmp_path: Path, data: bytes) -> ConvertedDocument:
    path = tmp_path / "a.pdf"
    path.write_bytes(data)
    return convert(SourceFile("made", tmp_path, path, "a.pdf", len(data), "0" * 64), limits=LIMITS)


def told(blocks: tuple[Block, ...]) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in blocks]


def boxes(page: Page) -> dict[str, tuple[int, ...]]:
    return {line.text: tuple(round(x) for x in (line.box.left, line.box.top)) for line in page.lines}


@pytest.mark.parametrize(
    "turn",
    [
        "", *(f"/Rotate {turn}" for turn in (0, 90, 180, 270, 360, 450, 540, 630, -90, -180, -270, -450, 3690)),
        # No multiple of 90 is passed over, as viewers do.
        "/Rotate 45", "/Rotate 1", "/Rotate -30", "/Rotate 99999999999",
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("frame", "shift"),
    [
        (WHOLE, (0, 0)),
        ("/MediaBox[595 842 0 0]", (0, 0)),
        ("/MediaBox[-100 -50 495 792]", (-100, -50)),
        ("/MediaBox[300 200 895 1042]", (300, 200)),
        ("/MediaBox[-30 -40 800 900]/CropBox[0 0 595 842]", (0, 0)),
        ("/MediaBox[0 0 900 1000]/CropBox[200 100 795 942]", (200, 100)),
        ("/MediaBox[0 0 595 842]/CropBox[-50 -50 900 900]", (0, 0)),
        ("/MediaBox[0 0 595 842]/CropBox[2000 2000 2100 2100]", (0, 0)),
    ],
)
def test_a_turned_page_is_read_like_the_upright_one(turn: str, frame: str, shift: tuple[float, float]) -> None:
    (page,) = read_pages(pdf(frame + turn, drawing(shift)), LIMITS, None).pages
    (plain,) = read_pages(pdf(WHOLE, drawing()), LIMITS, None).pages
    assert (round(page.width), round(page.height)) == (595, 842)
    assert boxes(page) == boxes(plain)
    assert len(page.rules) == len(GRID)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("where", ["page", "tree", "object", "nowhere"])
def test_text_that_runs_any_way_is_read_in_its_order(tmp_path: Path, turn: int, where: str) -> None:
    entry = {"page": f"/Rotate {turn}", "object": "/Rotate 7 0 R"}.get(where, "")
    frame = LANDSCAPE if turn % 180 else WHOLE
    data = pdf(
        frame + entry,
        drawing(matrix=TURNED_TEXT[turn]),
        tree=f"/Rotate {turn}" if where == "tree" else "",
        more=str(turn),
    )
    document = read(tmp_path, data)
    assert document.state == "ok"
    assert document.warnings == ()
    assert told(document.blocks) == TELLS


def test_a_line_that_the_crop_box_cuts_is_read_and_what_lies_outside_is_named(tmp_path: Path) -> None:
    cut = read(tmp_path, pdf(f"{WHOLE}/CropBox[0 82 595 842]", drawing()))
    assert told(cut.blocks) == TELLS
    assert cut.warnings == ()
    outside = read(tmp_path, pdf(f"{WHOLE}/CropBox[0 200 595 842]", drawing()))
    assert told(outside.blocks) == TELLS[:-1]
    assert outside.warnings == ("text outside of what the page shows was left out: 1",)
