"""A workbook as bytes: the same workbook gives the same file, whenever it is written."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from io import BytesIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from openpyxl import Workbook

PROPERTIES, APPLICATION = "docProps/core.xml", "docProps/app.xml"
_TIMES = re.compile(rb"(<dcterms:(created|modified)[^>]*>)[^<]*(</dcterms:\2>)")
_APPLICATION = re.compile(rb"<Application>[^<]*</Application>(<AppVersion>[^<]*</AppVersion>)?")
STAMP = datetime(2000, 1, 1, tzinfo=UTC)
"""Time that stands in the file for all its parts: it says nothing, and is always the same."""


def as_bytes(workbook: Workbook) -> bytes:
    """Return the file of a workbook."""
    saved, out = BytesIO(), BytesIO()
    workbook.save(saved)
    text = STAMP.strftime("%Y-%m-%dT%H:%M:%SZ").encode()
    with ZipFile(saved) as parts, ZipFile(out, "w", ZIP_DEFLATED, compresslevel=6) as archive:
        for part in parts.infolist():
            content = parts.read(part)
            if part.filename == PROPERTIES:
                content = _TIMES.sub(rb"\g<1>" + text + rb"\g<3>", content)
            elif part.filename == APPLICATION:  # a program that is not named is known to have computed nothing
                content = _APPLICATION.sub(b"<Application>slakit</Application>", content)
            entry = ZipInfo(part.filename, STAMP.timetuple()[:6])
            entry.compress_type, entry.create_system, entry.external_attr = ZIP_DEFLATED, 3, 0o644 << 16
            archive.writestr(entry, content)
    return out.getvalue()
