"""Looks into a workbook that anyone may have made, and holds it against the same workbook made again.

Run as a process of its own, `python -m slakit.verify.workbook_parts`, by `slakit.documents.bounded.ask`. Formulas are
compared as they are written and never computed.
"""

from __future__ import annotations

import base64
import io
import math
import re
import warnings
import zipfile
from collections.abc import Iterator
from typing import Any

from slakit.documents.attach import MANIFEST
from slakit.documents.bounded import NotReadable, answer
from slakit.reports.workbook_manifest import SHEET, files_of_workbook

MOST_UNPACKED = 256 * 1024 * 1024
"""Of all parts together. [byte]"""
MOST_PARTS = 2_000
NOT_OURS = re.compile(r"vbaProject|externalLink|activeX|embeddings|connections|customUI|ctrlProps|webextension", re.I)
"""Parts that run, fetch or hold what no workbook of ours holds."""
_APPLICATION = "docProps/app.xml"
_BY_CELL = re.compile(r"xl/(worksheets/sheet\d+\.xml|sharedStrings\.xml)")


def look(*files: bytes, what: str) -> dict[str, Any]:
    """Return what one workbook carries (`carried`), or what differs from the same made again (`compared`)."""
    if what == "carried":
        book = _opened(_parts(files[0]), files[0])
        if SHEET not in book.sheetnames:
            raise NotReadable("a workbook without a manifest", "name a workbook that slakit wrote")
        try:
            found = files_of_workbook(book)
        except ValueError:
            found = {}
        if MANIFEST not in found:
            raise NotReadable("a workbook whose manifest is not as slakit writes it", "do not trust it")
        return {
            "files": {name: base64.b64encode(file).decode() for name, file in found.items()},
            "counted": {"cells": sum(_filled(sheet) for sheet in book.worksheets if sheet.title != SHEET)},
        }
    return compared(files[0], files[1])


def compared(content: bytes, again: bytes) -> dict[str, Any]:
    """Return `differences` and `notes` between a workbook and the same made again."""
    found = _Comparison()
    parts, parts_again = _parts(content), _parts(again)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of extensions that openpyxl leaves out
        book, remade = _opened(parts, content), _opened(parts_again, again)
        results, results_again = (_opened(p, c, results=True) for p, c in ((parts, content), (parts_again, again)))
    found.saved_elsewhere = parts.get(_APPLICATION) != parts_again.get(_APPLICATION)
    found.sheets(book, remade)
    for name in remade.sheetnames:
        if name in book.sheetnames and hasattr(remade[name], "_cells") and hasattr(book[name], "_cells"):
            sheets = (one[name] for one in (book, remade, results, results_again))
            found.cells(*sheets)
    if found.kept:
        found.notes.append(
            f"The workbook keeps the results of {found.kept:,} formulas, which this check does not compute: "
            "recalculate it before relying on them."
        )
    found.names(book, remade)
    found.parts(parts, parts_again)
    return {"differences": found.differences, "notes": found.notes}


class _Comparison:
    """What differs between two workbooks."""

    def __init__(self) -> None:
        self.differences: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self.saved_elsewhere = False
        """Whether another program saved the file; spreadsheets keep 15 digits and write formulas in their own way."""
        self.kept = 0
        """Results of formulas that the file keeps and the one made again does not. [1]"""
        self.manifest_differs = False
        """Whether the hidden sheet is another; what it says is compared where its data are known."""

    def add(self, where: str, stored: Any, recomputed: Any) -> None:
        """Add a difference."""
        self.differences.append({"where": where, "stored": stored, "recomputed": recomputed})

    def sheets(self, book: Any, remade: Any) -> None:
        """Hold the names of sheets, their order and what is hidden against those made again."""
        for name in book.sheetnames:
            if name not in remade.sheetnames:
                self.add(f"sheet {name}", "there", "no such sheet")
        for name in remade.sheetnames:
            if name not in book.sheetnames:
                self.add(f"sheet {name}", "no such sheet", "there")
            elif book[name].sheet_state != remade[name].sheet_state and name != SHEET:
                self.add(f"sheet {name}", book[name].sheet_state, remade[name].sheet_state)
        if sorted(book.sheetnames) == sorted(remade.sheetnames) and book.sheetnames != remade.sheetnames:
            self.add("order of sheets", ", ".join(book.sheetnames), ", ".join(remade.sheetnames))

    def cells(self, sheet: Any, copy: Any, results: Any, results_again: Any) -> None:
        """Hold every cell of a sheet against its copy: formula or value, number format, kept result."""
        if sheet.title == SHEET:
            self.manifest_differs = _values(sheet) != _values(copy)
            return
        places = sorted({*sheet._cells, *copy._cells})
        for row, column in places:
            one, other = sheet.cell(row, column), copy.cell(row, column)
            where = f"sheet {sheet.title}, cell {other.coordinate}"
            if not self._same(one, other):
                self.add(where, _plain(one.value), _plain(other.value))
            elif other.data_type == "f":
                result, result_again = results.cell(row, column).value, results_again.cell(row, column).value
                if result_again is not None and result != result_again:
                    self.add(f"{where}, kept result", _plain(result), _plain(result_again))
                self.kept += result is not None and result_again is None
            if one.number_format != other.number_format and not (
                self.saved_elsewhere and _format(one) == _format(other)
            ):
                self.add(f"{where}, number format", one.number_format, other.number_format)
            if _link(one) != _link(other):
                self.add(f"{where}, link", _link(one) or "nothing", _link(other) or "nothing")
        hidden, hidden_again = set(_hidden(sheet)), set(_hidden(copy))
        for name in sorted(hidden ^ hidden_again):
            states = ("hidden", "shown") if name in hidden else ("shown", "hidden")
            self.add(f"sheet {sheet.title}, {name}", *states)

    def _same(self, cell: Any, other: Any) -> bool:
        """Return whether two cells hold the same value or formula."""
        one, two = _plain(cell.value), _plain(other.value)
        if type(one) is type(two) and one == two:
            return True
        if not self.saved_elsewhere:
            return False
        if cell.data_type == other.data_type == "f":
            parts, parts_again = _formula(one), _formula(two)
            return len(parts) == len(parts_again) and all(map(_alike, parts, parts_again))
        return _alike(one, two)

    def names(self, book: Any, remade: Any) -> None:
        """Hold the defined names against those made again."""
        stored, again = ({key: name.attr_text for key, name in one.defined_names.items()} for one in (book, remade))
        for key in sorted(set(stored) | set(again)):
            if stored.get(key) != again.get(key):
                self.add(f"name {key}", stored.get(key, "nothing"), again.get(key, "nothing"))

    def parts(self, parts: dict[str, bytes], again: dict[str, bytes]) -> None:
        """Hold the rest of the file, part by part; another program that saved it leaves none as it was."""
        for name in sorted(set(parts) - set(again)):
            if NOT_OURS.search(name):
                self.add(f"part {name}", "there", "no such part")
        if self.saved_elsewhere:
            self.notes.append(
                "Another program saved the workbook: its sheets, cells, formulas, number formats, links and names are "
                "compared, nothing else of it."
            )
            return
        for name in sorted(set(parts) | set(again)):
            if parts.get(name) != again.get(name) and not NOT_OURS.search(name) and not self._explained(name):
                self.add(f"part {name}", *_first_difference(parts.get(name), again.get(name)))

    def _explained(self, part: str) -> bool:
        """Return whether cells that differ are why a part does."""
        return (bool(self.differences) or self.manifest_differs) and bool(_BY_CELL.fullmatch(part))


def _parts(content: bytes) -> dict[str, bytes]:
    """Return the parts of a workbook, refusing what is none or unpacks to more than any of ours."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            listed = archive.infolist()
            size = sum(part.file_size for part in listed)
            if len(listed) > MOST_PARTS or size > MOST_UNPACKED:
                raise NotReadable(f"a workbook that unpacks to {size:,} bytes", "do not trust it")
            if len({part.filename for part in listed}) < len(listed):
                raise NotReadable("a workbook with two parts of one name", "do not trust it")
            parts = {part.filename: archive.read(part) for part in listed}
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError):
        raise NotReadable("a broken or encrypted workbook", "ask for the file again") from None
    if "xl/workbook.xml" not in parts:
        raise NotReadable("a packed file that is no workbook", "name a workbook that slakit wrote")
    for name, part in parts.items():
        if name.endswith((".xml", ".rels", ".vml")) and (b"\0" in part or re.search(rb"<!(DOCTYPE|ENTITY)", part)):
            raise NotReadable("a workbook whose parts define words of their own", "do not trust it")
    return parts


def _opened(parts: dict[str, bytes], content: bytes, *, results: bool = False) -> Any:
    """Return a workbook as openpyxl reads it, with the results of its formulas instead of them where asked."""
    from openpyxl import load_workbook

    return load_workbook(io.BytesIO(content), data_only=results, keep_links=False)


def _alike(one: Any, other: Any) -> bool:
    """Return whether two values are the same to the 15 digits that spreadsheets keep."""
    if _is_number(one) and _is_number(other):
        return math.isclose(one, other, rel_tol=1e-14)
    return type(one) is type(other) and bool(one == other)


def _formula(text: str) -> tuple[str | float, ...]:
    """Return the parts of a formula with its numbers as numbers, without spaces and quotes around names of sheets.

    >>> _formula("=SUM( 'Loan'!A1, 1E6)") == _formula("=SUM(Loan!A1,1000000)")
    True
    """
    from openpyxl.formula import Tokenizer
    from openpyxl.formula.tokenizer import Token

    parts: list[str | float] = []
    for token in Tokenizer(text).items:
        if token.type == Token.WSPACE:
            continue
        if token.subtype == Token.NUMBER:
            parts.append(float(token.value))
        elif token.subtype == Token.TEXT:
            parts.append(token.value)
        else:
            parts.append(re.sub(r"'([A-Za-z]+)'!", r"\1!", token.value.strip().removeprefix("_xlfn.")))
    return tuple(parts)


def _format(cell: Any) -> str:
    """Return a number format without its ways to mark a letter as a letter.

    >>> from types import SimpleNamespace as Cell
    >>> _format(Cell(number_format='0.00"x"')) == _format(Cell(number_format="0.00\\\\x"))
    True
    """
    return re.sub(r'\\(.)|"([^"]*)"', r"\1\2", cell.number_format)


def _link(cell: Any) -> str | None:
    """Return where a cell leads to, None for nowhere."""
    return None if cell.hyperlink is None else str(cell.hyperlink.target or cell.hyperlink.location)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    text = getattr(value, "text", None)  # of a formula that fills several cells
    return f"{{{text}}} in {value.ref}" if text is not None else str(value)


def _values(sheet: Any) -> dict[tuple[int, int], Any]:
    return {place: cell.value for place, cell in sheet._cells.items() if cell.value is not None}


def _filled(sheet: Any) -> int:
    """Return how many cells of a sheet hold something. [1]"""
    return len(_values(sheet))


def _hidden(sheet: Any) -> Iterator[str]:
    for kind, dimensions in (("row", sheet.row_dimensions), ("column", sheet.column_dimensions)):
        for key, dimension in dimensions.items():
            if dimension.hidden:
                yield f"{kind} {key}"


def _first_difference(stored: bytes | None, again: bytes | None) -> tuple[str, str]:
    """Return where two parts start to differ."""
    if stored is None or again is None:
        return ("no such part", "there") if stored is None else ("there", "no such part")
    pairs = enumerate(zip(stored, again, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(stored), len(again)))
    start = max(at - 40, 0)
    return tuple(part[start : at + 40].decode("utf-8", "replace") for part in (stored, again))  # type: ignore[return-value]


if __name__ == "__main__":
    answer(look, "workbook")
