"""A file of telemetry: what kind it is, which columns it has, and its rows as text or as they are stored."""

from __future__ import annotations

import csv
import io
import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from schemas.errors import DealError
from slakit.statements.importers.log import LONGEST_LINE, parsed, printable
from slakit.statements.importers.refusal import refused
from slakit.statements.telemetry.account import Account

if TYPE_CHECKING:
    import polars as pl

READINGS = ("time", "unit_id", "state")
SPELLS = ("unit_id", "started_at", "ended_at", "state")
ROWS_AT_ONCE = 250000
"""Rows of a batch. [row]"""
BYTES_AT_ONCE = 1 << 20
"""Bytes that are looked at together before rows are read. [byte]"""
LINES_AT_ONCE = 100_000
"""Lines that are read one by one before they become a batch. [line]"""
EXPECTED = f"the columns {', '.join(READINGS)}, or {', '.join(SPELLS)}"


@dataclass(frozen=True, slots=True)
class Source:
    """One file with its layout."""

    name: str
    """Its name without folders, as it is cited."""
    content: Path | bytes
    form: Literal["csv", "jsonl", "parquet"]
    header: tuple[str, ...]
    """Names of all columns, in lower case; for JSON lines only the columns that are read."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that are read: those of readings, else those of spells."""
        return READINGS if set(READINGS) <= set(self.header) else SPELLS

    @property
    def times(self) -> tuple[str, ...]:
        """Return the columns that hold times."""
        return tuple(name for name in self.columns if name not in ("unit_id", "state"))

    def scanned(self) -> pl.LazyFrame | None:
        """Return its rows in a frame with the column `line`, None where lines must be read one by one.

        A plain file of comma-separated values has one row on each line; `more` says whether it has a field too
        many. Rows too short have nulls, and a blank line has nothing else.
        """
        import polars as pl

        target = self.content if isinstance(self.content, Path) else io.BytesIO(self.content)
        if self.form == "parquet":
            frame = pl.scan_parquet(target, glob=False)
            stored = {name.strip().lower(): name for name in frame.collect_schema().names()}
            columns = [pl.col(stored[name]).alias(name) for name in self.columns]
            return frame.select(columns).with_row_index("line", 1)
        if self.form == "jsonl" or not self._is_plain():
            return None
        names = [*(name if name in self.columns else f"column {i}" for i, name in enumerate(self.header)), "more"]
        frame = pl.scan_csv(
            target,
            has_header=False,
            skip_lines=1,
            schema={**dict.fromkeys(names, pl.String), "unit_id": pl.Categorical(), "state": pl.Categorical()},
            quote_char=None,
            truncate_ragged_lines=True,
            missing_columns="insert",
            extra_columns="ignore",
            row_index_name="line",
            row_index_offset=2,
            glob=False,
        )
        return frame.select("line", *self.columns, pl.col("more").is_not_null())

    def texts(self, account: Account) -> Iterator[pl.DataFrame]:
        """Yield the same frames from lines read one by one; a broken line goes to the account."""
        import polars as pl

        schema = {"line": pl.UInt32, **dict.fromkeys(self.columns, pl.String), "more": pl.Boolean}
        rows: list[tuple[Any, ...]] = []
        for number, line in self.lines():
            try:
                rows.append((number, *self._fields(line)))
            except (ValueError, csv.Error, RecursionError) as error:
                account.rows += 1
                account.skip(self.name, number, cut(line), "broken line", f"broken: {cut(str(error), 150)}")
            if len(rows) == LINES_AT_ONCE:
                yield pl.DataFrame(rows, schema=schema, orient="row")
                rows = []
        yield pl.DataFrame(rows, schema=schema, orient="row")

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield the lines of a text file with their numbers, without a header."""
        with self._opened() as file:
            for number, raw in enumerate(file, start=1):
                if number == 1 and self.form == "csv":
                    continue
                line = raw[: 4 * LONGEST_LINE].decode("utf-8-sig" if number == 1 else "utf-8", errors="replace")
                yield number, line.rstrip("\r\n")

    def stored_rows(self, rows: Sequence[int]) -> Iterator[tuple[int, str]]:
        """Yield rows of a stored table, by their numbers from 1, each as the text of the columns that are read."""
        frame = self.scanned()
        if frame is None or not rows:
            return
        import polars as pl

        wanted = frame.filter(pl.col("line").is_in(list(rows))).with_columns(pl.exclude("line").cast(pl.String))
        for row in wanted.collect(engine="streaming").iter_rows(named=True):
            yield row["line"], ", ".join(f"{name} {row[name]}" for name in self.columns)

    def _fields(self, line: str) -> tuple[str | bool | None, ...]:
        """Return the fields of one line that are read, and whether it has too many; all None when it is blank."""
        if not line.strip():
            return *(None for _ in self.columns), False
        if self.form == "jsonl":
            found = parsed(line)
            if not isinstance(found, dict):
                raise ValueError("no object")
            return *(_text(found.get(name)) for name in self.columns), False
        fields = next(csv.reader([line], strict=True))
        values = dict(zip(self.header, fields, strict=False))
        return *(values.get(name) or None for name in self.columns), len(fields) > len(self.header)

    def _is_plain(self) -> bool:
        """Return whether the file is UTF-8 and holds no quotation mark, so that each line is a row by itself."""
        decoder = getincrementaldecoder("utf-8")()
        with self._opened() as file:
            try:
                while block := file.read(BYTES_AT_ONCE):
                    if b'"' in block:
                        return False
                    if not block.isascii() or decoder.getstate()[0]:
                        decoder.decode(block)
                decoder.decode(b"", final=True)
            except UnicodeDecodeError:
                return False
        return True

    def _opened(self) -> BinaryIO:
        return io.BytesIO(self.content) if isinstance(self.content, bytes) else self.content.open("rb")


def source_of(name: str, content: Path | bytes) -> Source:
    """Return a file with its layout, told from its first and last bytes.

    Raises
    ------
    DealError
        When it cannot be read or has not the columns of telemetry.
    """
    name = printable(name)
    try:
        with io.BytesIO(content) if isinstance(content, bytes) else content.open("rb") as file:
            first = file.readline(LONGEST_LINE)
    except OSError as error:
        raise refused(name, error.strerror or "an error", "a file", "check its path and rights") from error
    if first[:4] == b"PAR1":
        return _checked(name, content, "parquet", _stored(name, content))
    text = first.decode("utf-8-sig", errors="replace")
    return _checked(name, content, "jsonl" if text.lstrip().startswith("{") else "csv", columns_of(text))


def columns_of(first_line: str) -> list[str]:
    """Return the names of the columns: of a header, or of the first object of JSON lines those that are read."""
    text = first_line.strip()
    if text.startswith("{"):
        return _keys(text)
    try:
        return [re.sub(r"\s+", " ", name).strip().lower() for name in next(csv.reader([text]), [])]
    except csv.Error:
        return []


def cut(text: str, most: int = 400) -> str:
    """Return text on one printable line, cut to `most` characters."""
    shown = " ".join(printable(text[: 2 * most]).split()) or "(blank)"
    return shown if len(shown) <= most else shown[: most - 1] + "…"


@contextmanager
def refusing(name: str) -> Iterator[None]:
    """Turn what polars says of a file that it cannot read into an error of that file."""
    import polars as pl

    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as error:
        raise refused(name, cut(str(error), 200), EXPECTED, "export it again; it may have been cut off") from error


def _checked(name: str, content: Path | bytes, form: Literal["csv", "jsonl", "parquet"], header: list[str]) -> Source:
    names = tuple(column.strip().lower() for column in header)
    source = Source(name, content, form, names)
    wanted = [column for column in source.columns if names.count(column) != 1]
    if wanted:
        problems = [
            refused(name, cut(", ".join(names), 200), EXPECTED, f"give the column {wanted[0]} once").problems[0]
        ]
        raise DealError(problems)
    return source


def _stored(name: str, content: Path | bytes) -> list[str]:
    import polars as pl

    with refusing(name):
        return list(pl.read_parquet_schema(io.BytesIO(content) if isinstance(content, bytes) else content))


def _keys(text: str) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    keys = {str(key) for key in found} if isinstance(found, dict) else set()
    return [name for name in dict.fromkeys((*READINGS, *SPELLS)) if name in keys]


def _text(value: object) -> str | None:
    """Return a value of JSON as the text that a table would hold."""
    if isinstance(value, bool):
        return "1" if value else "0"
    return None if value is None else str(value)
