"""Two folders of one name: the documents of the one must not silently become those of the other."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from ingestion.comparison import KnownDocument
from ingestion.documents import SourceFile
from ingestion.index import document_id
from ingestion.spelling import spell, unspell
from rag_core.errors import ConfigurationError


def refuse_takeover(files: Sequence[SourceFile], known: Iterable[KnownDocument]) -> None:
    """Raises ConfigurationError where a file would replace the document of another file that is still there.

    A folder that was moved, or that another machine sees under another path, is the same source as before: what its
    documents were made of is not there any more. Meant for sources that were named after their folder; a name that
    somebody gave says that the folder is that source.
    """
    at = {document.document_id: document.location for document in known}
    for file in files:
        location = at.get(document_id(file.source, file.relative_path))
        if location is None or location == spell(file.path):
            continue
        other = unspell(location)
        if other.is_file() and not os.path.samefile(other, file.path):  # noqa: PTH121 - one call for both
            raise ConfigurationError(
                f"{spell(file.path)} would replace {location} as {file.relative_path} of source {file.source!r}, named "
                f"after its folder: give --source another name to keep both, or --source {file.source} to let the one "
                "folder take the place of the other"
            )
