"""The manifest inside a workbook: a sheet that spreadsheets do not list, with the files that the workbook carries."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slakit.documents.attach import MANIFEST, manifest_file

if TYPE_CHECKING:
    from openpyxl import Workbook

SHEET = "slakit manifest"
LONGEST_CELL = 30_000
"""A cell holds 32,767 letters. [letter]"""


def put_manifest(workbook: Workbook, manifest: Mapping[str, Any], files: Mapping[str, bytes]) -> None:
    """Add the hidden sheet: one name and one piece of its file in each row, the manifest first.

    Parameters
    ----------
    files
        JSON files that travel with the workbook, by name.

    Raises
    ------
    ValueError
        When a file is not JSON in ASCII.
    """
    sheet = workbook.create_sheet(SHEET)
    sheet.sheet_state = "veryHidden"
    row = 0
    for name, content in {MANIFEST: manifest_file(manifest), **files}.items():
        # As one text: line breaks and what a spreadsheet takes for an escape would not come back as they were.
        text = json.dumps(content.decode("ascii")).replace("_x", "\\u005fx")
        for start in range(0, len(text), LONGEST_CELL):
            row += 1
            sheet.cell(row, 1, name)
            sheet.cell(row, 2).value = text[start : start + LONGEST_CELL]
            sheet.cell(row, 2).data_type = "s"


def files_of_workbook(workbook: Workbook) -> dict[str, bytes]:
    """Return the files on the hidden sheet of an opened workbook, the manifest among them.

    Raises
    ------
    KeyError
        When the workbook has no such sheet.
    ValueError
        When the sheet is not as `put_manifest` writes it.
    """
    texts: dict[str, str] = {}
    for row in workbook[SHEET].iter_rows(max_col=2, values_only=True):
        name, piece = row
        if not isinstance(name, str) or not isinstance(piece, str):
            raise ValueError("a row that is not a name and a text")
        texts[name] = texts.get(name, "") + piece
    return {name: str(json.loads(text)).encode() for name, text in texts.items()}


def manifest_of_workbook(path: Path) -> dict[str, Any]:
    """Return the manifest of a workbook that we made.

    Raises
    ------
    DealError
        When the file is no workbook, is not one of ours, or cannot be read within bounds of memory and time.
    """
    from slakit.verify.carriers import carried_by

    return dict(carried_by(path).manifest)
