"""Build the sample documents from their text sources: `python -m sample.build_documents TARGET`.

Every source below `sample/documents/{ops,business}` becomes one file of the format its frontmatter names.
The same source gives the same bytes each time, and a file whose source and builder are unchanged is left alone.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

from sample.builders.pdf import write_pdf
from sample.builders.sheets import write_csv, write_xlsx
from sample.builders.slides import write_pptx
from sample.builders.source import Source, read_source
from sample.builders.text import write_html, write_markdown, write_plain_markdown, write_yaml
from sample.builders.word import write_docx

SOURCES = Path(__file__).parent / "documents"
COLLECTIONS = ("ops", "business")
WRITERS: dict[str, tuple[str, Callable[[Source], bytes]]] = {
    "md": (".md", write_markdown),
    "md_plain": (".md", write_plain_markdown),
    "html": (".html", write_html),
    "docx": (".docx", write_docx),
    "pptx": (".pptx", write_pptx),
    "pdf": (".pdf", write_pdf),
    "xlsx": (".xlsx", write_xlsx),
    "csv": (".csv", write_csv),
    "yaml": (".yaml", write_yaml),
}
_LIBRARIES = ("markdown-it-py", "ruamel.yaml", "python-docx", "python-pptx", "openpyxl", "reportlab")


def find_sources(source: Path = SOURCES) -> list[Path]:
    return [path for name in COLLECTIONS for path in sorted((source / name).rglob("*.md"))]


def built_path(source: Source, root: Path = SOURCES) -> Path:
    """Where the built file of a source lies, relative to the target folder."""
    if source.format not in WRITERS:
        raise ValueError(f"{source.path}: unknown format {source.format!r}, known are {', '.join(WRITERS)}")
    return source.path.relative_to(root).with_suffix(WRITERS[source.format][0])


def manifest_path(target: Path) -> Path:
    """Beside the target, so that whoever ingests the folder finds documents only."""
    return target.with_name(f".{target.name}.manifest.json")


def build_documents(target: Path, source: Path | None = None) -> list[Path]:
    """Build every source into `target`; returns the built files in the order of their sources."""
    root = source or SOURCES
    target = target.absolute()
    known = _read_manifest(target)
    builder = _builder_hash()
    manifest: dict[str, dict[str, str]] = {}
    for path in find_sources(root):
        wanted = _hash(builder.encode() + path.read_bytes())
        document = read_source(path)
        relative = built_path(document, root)
        name = relative.as_posix()
        if name in manifest:
            raise ValueError(f"{path}: another source builds {name} too")
        built = target / relative
        last = known.get(name, {})
        if last.get("source") == wanted and built.is_file() and last.get("built") == _hash(built.read_bytes()):
            manifest[name] = last
            continue
        data = WRITERS[document.format][1](document)
        _replace(built, data)
        manifest[name] = {"source": wanted, "built": _hash(data)}
    for name in known.keys() - manifest.keys():
        (target / name).unlink(missing_ok=True)
    if manifest != known:
        _replace(manifest_path(target), json.dumps(manifest, indent=1).encode())
    return [target / name for name in manifest]


def _read_manifest(target: Path) -> dict[str, dict[str, str]]:
    path = manifest_path(target)
    if not path.is_file():
        return {}
    try:
        loaded: dict[str, dict[str, str]] = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return {}
    return loaded


def _builder_hash() -> str:
    code = [Path(__file__), *sorted((Path(__file__).parent / "builders").glob("*.py"))]
    versions = [f"{name}={version(name)}" for name in _LIBRARIES]
    return _hash(b"".join(path.read_bytes() for path in code) + " ".join(versions).encode())


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.stderr.write("usage: python -m sample.build_documents TARGET\n")
        return 2
    built = build_documents(Path(arguments[0]))
    sys.stdout.write(f"{len(built)} documents in {arguments[0]}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
