"""Our own incident files: one record an incident, named as the fields of `schemas.incidents.Incident`.

Only `unit_id` and `started_at` are needed. A blank `ended_at` is an open incident, a blank `level` a node or what the
user says, a blank `state` down. The evidence of each incident is its own line here, followed by what its column
`evidence` quotes from other files.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, get_args

from pydantic import ValidationError

from schemas.incidents import Evidence
from slakit.statements.importers import delimited, json_records
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported, State
from slakit.statements.importers.log import Log, parsed
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.times import TimeError, is_open
from slakit.statements.incident_files import COLUMNS, TIMES, unguarded

NEEDED = ("unit_id", "started_at")
MOST_PARQUET_ROWS = 2_000_000
"""Most records that a Parquet file may unpack to. [1]"""
MOST_QUOTED = 50
"""Lines of other files that one incident may quote. [1]"""


class _Rows:
    """Turns records of named fields into incidents."""

    def __init__(self, log: Log, options: Options, form: str) -> None:
        self.options, self.clock, self.found = options, Clock(log, options), Collector(log, form)
        self.raws: dict[str, int | None] = {}
        self.ids: dict[str, int | None] = {}

    def add(self, line: int | None, raw: str, cells: Mapping[str, str], quoted: str | None) -> None:
        """Account for one record."""
        if raw in self.raws:
            self.found.duplicate()
            return
        self.raws[raw] = line
        fields: dict[str, Any] = {name: cell for name, cell in cells.items() if cell.strip()}
        if missing := [name for name in NEEDED if name not in fields]:
            self.found.skip(line, raw, f"no {' and no '.join(missing)}")
            return
        if (known := fields.get("id")) is not None and known in self.ids:
            self.found.skip(line, raw, f"the id {known[:60]!r} of line {self.ids[known] or '?'} again")
            return
        try:
            for name in TIMES:
                if name in fields and not (name != "started_at" and is_open(fields[name])):
                    fields[name] = self.clock.read(fields[name]).at
                else:
                    fields[name] = None
            also = _quoted(quoted)
        except (TimeError, ValueError) as error:
            self.found.skip(line, raw, str(error))
            return
        fields.setdefault("level", self.options.unit_level or "node")
        state = fields.pop("state", "down").strip().casefold()
        if state not in get_args(State):
            self.found.unknown_state(state)
            state = "unknown"
        if "cause_party" in fields:
            fields["cause_party"] = fields["cause_party"].strip()
        if self.found.incident(line=line, raw=raw, state=state, also=also, **fields) is not None and known is not None:
            self.ids[known] = line

    def finish(self) -> Imported:
        """Return what was found, or refuse times that cannot be placed."""
        self.clock.check()
        return self.found.finish()

    def check_columns(self, names: Iterable[str]) -> None:
        """Refuse a table without the columns needed; name those that are not read."""
        names = tuple(names)
        if missing := [name for name in NEEDED if name not in names]:
            raise refused(self.found.log.name, f"no column {missing[0]}", f"columns {', '.join(NEEDED)}", "add it")
        if other := sorted({name for name in names if name not in COLUMNS}):
            self.found.note(f"columns that are not read: {', '.join(repr(name[:40]) for name in other[:20])}")


def read_csv(log: Log, options: Options) -> Imported:
    """Read a table with named columns.

    Raises
    ------
    DealError
        When a column that is needed is missing or twice there, or no time can be placed.
    """
    rows = _Rows(log, options, "incidents-csv")
    header = tuple(name.strip().casefold() for name in delimited.columns(log))
    rows.check_columns(header)
    places = {name: delimited.only_column(log, header, name) for name in COLUMNS if name in header}
    for row in delimited.rows(log, len(header)):
        if isinstance(row, delimited.BadRow):
            rows.found.skip(row.line, row.raw, row.reason)
            continue
        cells = {name: unguarded(row.cells[place]) for name, place in places.items() if name != "evidence"}
        rows.add(row.line, row.raw, cells, row.cells[places["evidence"]] if "evidence" in places else None)
    if not log.text.endswith(("\n", "\r")):
        rows.found.note("the last line has no end of line: the file may have been cut off in it")
    return rows.finish()


def read_jsonl(log: Log, options: Options) -> Imported:
    """Read JSON lines, or a JSON list of the same objects.

    Raises
    ------
    DealError
        When a list is not plain JSON, or no time can be placed.
    """
    rows = _Rows(log, options, "incidents-jsonl")
    as_lines = json_records.is_json_lines(log)
    other: set[str] = set()
    for element in json_records.lines(log) if as_lines else json_records.elements(log):
        if element.reason is not None:
            rows.found.skip(element.line, element.raw, element.reason)
        elif not isinstance(element.value, Mapping):
            rows.found.skip(element.line, element.raw, "no object")
        else:
            other.update(set(element.value) - set(COLUMNS))
            _add_values(rows, element.line, element.raw, element.value)
    if other:
        rows.found.note(f"keys that are not read: {', '.join(repr(name[:40]) for name in sorted(other)[:20])}")
    return rows.finish()


def read_parquet(log: Log, options: Options) -> Imported:
    """Read a Parquet table with named columns, with polars or else pyarrow.

    Raises
    ------
    DealError
        When neither is installed, the file is none, is too large unpacked, or lacks a column that is needed.
    """
    rows = _Rows(log, options, "incidents-parquet")
    records = _parquet(log)
    rows.check_columns(records[0] if records else NEEDED)
    for number, record in enumerate(records, start=1):
        _add_values(rows, number, json.dumps(record, ensure_ascii=False, default=str), record)
    rows.found.note("a Parquet file has no lines: the number cited is that of the record, from 1")
    return rows.finish()


def _add_values(rows: _Rows, line: int | None, raw: str, record: Mapping[str, Any]) -> None:
    """Account for one record of typed values."""
    cells: dict[str, str] = {}
    for name in COLUMNS:
        value = record.get(name)
        if isinstance(value, bool | Mapping) or (isinstance(value, list | tuple) and name != "evidence"):
            rows.found.skip(line, raw, f"{name} is no text")
            return
        if value is not None and name != "evidence":
            cells[name] = value.isoformat() if hasattr(value, "isoformat") else str(value)
    quoted = record.get("evidence")
    text = quoted if isinstance(quoted, str | None) else json.dumps(quoted, ensure_ascii=False, default=str)
    rows.add(line, raw, cells, text)


def _quoted(text: str | None) -> tuple[Evidence, ...]:
    """Return the lines of other files that a record quotes as a JSON list; plain words stand in the line itself."""
    if text is None or not text.lstrip("'").lstrip().startswith("["):
        return ()
    try:
        found = parsed(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"evidence is no JSON list: {str(error)[:100]}") from error
    if not isinstance(found, list) or len(found) > MOST_QUOTED:
        raise ValueError(f"evidence is no JSON list of at most {MOST_QUOTED}")
    try:
        return tuple(Evidence.model_validate(one) for one in found)
    except ValidationError as error:
        raise ValueError(f"evidence: {error.errors()[0]['msg']}") from error


def _parquet(log: Log) -> list[dict[str, Any]]:
    """Return the records of a Parquet file."""
    read: Callable[[], list[dict[str, Any]]]
    try:
        polars = import_module("polars")

        def read() -> list[dict[str, Any]]:
            file = polars.scan_parquet(io.BytesIO(log.data))
            count = file.select(polars.len()).collect().item()
            if count > MOST_PARQUET_ROWS:
                raise refused(log.name, f"{count:,} records", f"at most {MOST_PARQUET_ROWS:,}", "split it")
            names = [name for name in file.collect_schema().names() if name in COLUMNS]
            return list(file.select(names).collect().to_dicts())

    except ImportError:
        try:
            parquet = import_module("pyarrow.parquet")
        except ImportError:
            raise refused(log.name, "a Parquet file", "polars or pyarrow to read it", "install polars") from None

        def read() -> list[dict[str, Any]]:
            file = parquet.ParquetFile(io.BytesIO(log.data))
            if (count := file.metadata.num_rows) > MOST_PARQUET_ROWS:
                raise refused(log.name, f"{count:,} records", f"at most {MOST_PARQUET_ROWS:,}", "split it")
            return list(file.read(columns=[name for name in file.schema_arrow.names if name in COLUMNS]).to_pylist())

    try:
        return read()
    except (OSError, ValueError, ArithmeticError, RuntimeError) as error:
        raise refused(log.name, str(error).split("\n")[0][:200], "a Parquet table", "export it again") from error
    except Exception as error:  # whatever a reader of Parquet raises on a file made to break it
        if type(error).__module__.partition(".")[0] not in ("polars", "pyarrow"):
            raise
        raise refused(log.name, str(error).split("\n")[0][:200], "a Parquet table", "export it again") from error


def _sniff_csv(log: Log) -> int:
    header = {name.casefold() for name in delimited.columns(log)}
    return 95 if header.issuperset(NEEDED) else 0


def _sniff_jsonl(log: Log) -> int:
    return 90 if json_records.keys(log).issuperset(NEEDED) else 0


def _sniff_parquet(log: Log) -> int:
    named = log.data[:4] == b"PAR1" and all(name.encode() in log.data[-65536:] for name in NEEDED)
    return 90 if named else 0


FORMS = (
    Form("incidents-csv", "Incidents of our own format, CSV", _sniff_csv, read_csv),
    Form("incidents-jsonl", "Incidents of our own format, JSON lines or a JSON list", _sniff_jsonl, read_jsonl),
    Form("incidents-parquet", "Incidents of our own format, Parquet", _sniff_parquet, read_parquet),
)
