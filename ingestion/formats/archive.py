"""Office archives, looked into before anything unpacks them."""

from __future__ import annotations

import io
import zipfile
import zlib

from ingestion.errors import ConversionFault

_BLOCK = 1024 * 1024
_MAX_ENTRIES = 20_000


def check_inflated(data: bytes, max_bytes: int) -> None:
    """Unpacks every part of the archive into nothing, counting.

    The sizes that an archive declares are its author's claim; only what really comes out is bounded. Raises
    ConversionFault: too_large past the bound, encrypted for locked parts, corrupt for broken ones.
    """
    total = 0
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if len(entries) > _MAX_ENTRIES:
                raise ConversionFault("too_large", f"{len(entries)} parts in the archive, the limit is {_MAX_ENTRIES}")
            for entry in entries:
                if entry.flag_bits & 0x1:
                    raise ConversionFault("encrypted", "parts of the Office file are locked with a password")
                # zipfile stops at the declared size, so a lie would be cut off and not counted.
                declared = entry.file_size
                with archive.open(entry) as part:
                    read = 0
                    while block := part.read(_BLOCK):
                        read += len(block)
                        total += len(block)
                        if total > max_bytes:
                            raise ConversionFault(
                                "too_large", f"the Office file unpacks to more than {max_bytes} bytes; taken for a bomb"
                            )
                    if read != declared:
                        raise ConversionFault("corrupt", f"the part {entry.filename} is cut short")
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError) as error:
        raise ConversionFault("corrupt", f"the archive of the Office file is damaged ({error})") from None
