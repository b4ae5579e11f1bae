"""Office files are zip archives with clocks in them; this stops the clocks."""

from __future__ import annotations

import io
import re
import zipfile
from datetime import UTC, date, datetime

_STAMP = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*(</dcterms:)")


def midnight(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def freeze_archive(data: bytes, day: date) -> bytes:
    """The same archive, every entry and core property dated `day`."""
    iso = midnight(day).strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    target = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as read, zipfile.ZipFile(target, "w") as write:
        for name in read.namelist():
            content = read.read(name)
            if name == "docProps/core.xml":
                content = _STAMP.sub(rb"\g<1>" + iso + rb"\g<2>", content)
            entry = zipfile.ZipInfo(name, date_time=(day.year, day.month, day.day, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            write.writestr(entry, content)
    return target.getvalue()
