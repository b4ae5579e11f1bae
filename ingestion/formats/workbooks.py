"""What stands beside the cells of a workbook's sheets: notes and comments on cells, and text boxes.

openpyxl reads them only where it holds a whole sheet in memory, which is not done here; the parts of the archive that
hold them are small and are read as they are.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from xml.etree.ElementTree import Element, fromstring

_NOTES = "/comments"
_DRAWING = "/drawing"
# What Excel writes before a comment for programs that know only notes.
_THREADED = re.compile(r"\A\[Threaded comment\].*?\n(?:Comment|Kommentar|Commentaire|Comentario):\s*", re.DOTALL)


def open_workbook(data: bytes, *, values: bool) -> Any:
    """The workbook for streaming, with saved values of formulas or the formulas themselves.

    Sheets that are a chart have no cells: they keep their place in the workbook and are not read, since openpyxl cannot
    read one without a drawing.
    """
    from openpyxl.chartsheet import Chartsheet  # noqa: PLC0415 - heavy
    from openpyxl.reader.excel import ExcelReader  # noqa: PLC0415 - heavy

    class Reader(ExcelReader):  # type: ignore[misc]
        def read_chartsheet(self, sheet: Any, rel: Any) -> None:
            self.wb._add_sheet(Chartsheet(parent=self.wb, title=sheet.name))

    reader = Reader(io.BytesIO(data), read_only=True, data_only=values, keep_links=False)
    reader.read()
    return reader.wb


def cell_notes(archive: zipfile.ZipFile, sheet_path: str) -> Iterator[tuple[str, str]]:
    """Address and text of each note on a cell of a sheet, in the order of the file; a comment's text without the
    sentence that Excel puts before it. `sheet_path` is the sheet's part of the archive.
    """
    for part in _parts(archive, sheet_path, _NOTES):
        for note in part.iter():
            if _name(note) == "comment":
                runs = (run.text or "" for run in note.iter() if _name(run) == "t")
                text = " ".join(_THREADED.sub("", "".join(runs).replace("\r\n", "\n")).split())
                if text:
                    yield str(note.get("ref", "")), text


def text_boxes(archive: zipfile.ZipFile, sheet_path: str) -> Iterator[str]:
    """The text of each box and shape drawn on a sheet, paragraph by paragraph."""
    for part in _parts(archive, sheet_path, _DRAWING):
        for body in part.iter():
            if _name(body) == "txBody":
                paragraphs = ("".join(run.text or "" for run in each.iter() if _name(run) == "t") for each in body)
                text = "\n".join(paragraph.strip() for paragraph in paragraphs if paragraph.strip())
                if text:
                    yield text


def _name(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _parts(archive: zipfile.ZipFile, sheet_path: str, kind: str) -> Iterator[Element]:
    """The parts that a sheet names as its relations of a kind. One that is damaged raises SyntaxError."""
    from openpyxl.packaging.relationship import get_dependents, get_rels_path  # noqa: PLC0415 - heavy

    names = set(archive.namelist())
    relations = get_rels_path(sheet_path)
    if relations not in names:
        return
    for relation in get_dependents(archive, relations):
        if str(relation.Type).endswith(kind) and relation.target in names:
            yield fromstring(archive.read(relation.target))
