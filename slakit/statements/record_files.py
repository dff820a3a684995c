"""Files of records that people write or export: windows, notices, units, ledger, tickets. All or nothing.

Unlike a log, which has its broken lines, such a file moves money line by line: one wrong line refuses it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any, Literal, get_args

from pydantic import Field, ValidationError

from schemas.base import Terms
from schemas.errors import DealError, Problem
from schemas.incidents import LedgerEntry, Notice, Ticket, UnitService, Window
from slakit.loading.json_document import read_json
from slakit.loading.positions import Node, Positions
from slakit.loading.problems import problems_of
from slakit.loading.source import WHOLE_FILE, SourceText, read_source
from slakit.loading.yaml_document import read_yaml

Kind = Literal["windows", "notices", "units", "ledger", "tickets"]
MOST_RECORDS = 200_000
LISTED = ("unit_ids", "evidence")
"""Columns of a CSV whose cells hold several entries, divided by semicolons."""


class RecordFile(Terms):
    """Records of one or more kinds."""

    windows: tuple[Window, ...] = Field(default=(), max_length=MOST_RECORDS)
    notices: tuple[Notice, ...] = Field(default=(), max_length=MOST_RECORDS)
    units: tuple[UnitService, ...] = Field(default=(), max_length=MOST_RECORDS)
    ledger: tuple[LedgerEntry, ...] = Field(default=(), max_length=MOST_RECORDS)
    tickets: tuple[Ticket, ...] = Field(default=(), max_length=MOST_RECORDS)


def read_records(path: Path, kind: Kind) -> tuple[Any, ...]:
    """Return the records of one kind in a CSV, JSON, JSON Lines or YAML file.

    A JSON or YAML file is a list, or a mapping with the kind as its key; further kinds in it are left alone.

    Raises
    ------
    DealError
        With every problem of the file, each with its line.
    """
    source = read_source(path)
    suffix = PurePath(source.name).suffix.lower()
    if suffix == ".csv":
        root, problems = _read_csv(source, kind)
    elif suffix in (".jsonl", ".ndjson"):
        root, problems = _read_lines(source)
    elif suffix == ".json":
        root, problems = read_json(source)
    else:
        root, problems, _ = read_yaml(source)
    if problems:
        raise DealError(problems)
    node = _of_kind(root, kind, source.name)
    data = {kind: node.value}
    whole = Node(data, node.place, entries={kind: (node.place, node)})
    try:
        found: tuple[Any, ...] = getattr(RecordFile.model_validate(data), kind)
    except ValidationError as error:
        raise DealError(problems_of(error, data, Positions(whole), source.name, RecordFile)) from None
    return found


def _of_kind(root: Node, kind: Kind, name: str) -> Node:
    if isinstance(root.value, list):
        return root
    if isinstance(root.value, dict) and kind in root.value:
        unknown = [key for key in root.value if key not in get_args(Kind)]
        if not unknown:
            return root.entries[kind][1]
        raise DealError(
            [
                Problem(
                    unknown[0],
                    "an unknown kind of records",
                    f"one of {', '.join(get_args(Kind))}",
                    "correct it",
                    *root.entries[unknown[0]][0],
                    name,
                )
            ]
        )
    raise DealError(
        [
            Problem(
                WHOLE_FILE,
                "no list of records",
                f"a list, or a mapping with the key {kind}",
                "correct the file",
                *root.place,
                name,
            )
        ]
    )


def _read_csv(source: SourceText, kind: Kind) -> tuple[Node, list[Problem]]:
    """Return the rows of a CSV as a list of mappings; blank cells are left out."""
    reader = csv.reader(io.StringIO(source.text, newline=""), strict=True)
    problems: list[Problem] = []
    rows: list[Node] = []
    try:
        header = [cell.strip() for cell in next(reader, [])]
        if len(set(header)) < len(header) or "" in header:
            raise csv.Error("a header with a blank or repeated column")
        line = reader.line_num + 1
        for cells in reader:
            if any(cell.strip() for cell in cells):
                if len(cells) != len(header):
                    problems.append(
                        Problem(
                            f"{kind}[{len(rows)}]",
                            f"{len(cells)} cells",
                            f"{len(header)}, as in the header",
                            "correct the row",
                            line,
                            1,
                            source.name,
                        )
                    )
                rows.append(_row(dict(zip(header, cells, strict=False)), line))
            line = reader.line_num + 1
    except csv.Error as error:
        problems.append(
            Problem(WHOLE_FILE, str(error), "a CSV with one header", "export it again", reader.line_num, 1, source.name)
        )
    if not rows and not problems:  # rows name their unknown columns themselves
        problems = _strange_columns(header, kind, source.name)
    return Node([row.value for row in rows], (1, 1), items=rows), problems


def _strange_columns(header: Sequence[str], kind: Kind, file: str) -> list[Problem]:
    """Return the columns that no record of a kind has: in a file without rows nothing else would tell."""
    known = get_args(RecordFile.model_fields[kind].annotation)[0].model_fields
    return [
        Problem(kind, f"the column {name[:60]!r}", f"columns of {', '.join(known)}", "correct it", 1, column, file)
        for column, name in enumerate(header, start=1)
        if name not in known
    ]


def _row(cells: dict[str, str], line: int) -> Node:
    """Return one row; a cell has the place of its column."""
    entries: dict[str, tuple[tuple[int, int], Node]] = {}
    for column, (name, cell) in enumerate(cells.items(), start=1):
        text = cell.strip()
        if not text:
            continue
        place = (line, column)
        value: Any = text
        if name in LISTED:
            value = [part.strip() for part in text.split(";") if part.strip()]
        elif text.lower() in ("true", "false"):
            value = text.lower() == "true"
        items = [Node(part, place) for part in value] if isinstance(value, list) else []
        entries[name] = (place, Node(value, place, items=items))
    return Node({name: node.value for name, (_, node) in entries.items()}, (line, 1), entries=entries)


def _read_lines(source: SourceText) -> tuple[Node, list[Problem]]:
    """Return the objects of a file with one JSON value on each line."""
    rows: list[Node] = []
    problems: list[Problem] = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            node, found = read_json(SourceText(source.name, line, source.sha256))
        except DealError as error:
            found = list(error.problems)
        else:
            rows.append(_moved(node, number))
        problems += [Problem(p.path, p.found, p.expected, p.remedy, number, p.column, source.name) for p in found]
    return Node([row.value for row in rows], (1, 1), items=rows), problems


def _moved(node: Node, line: int) -> Node:
    """Return a value that was read from a line by itself, with the number of that line."""
    entries = {key: ((line, place[1]), _moved(child, line)) for key, (place, child) in node.entries.items()}
    items: Sequence[Node] = [_moved(child, line) for child in node.items]
    return Node(node.value, (line, node.place[1]), entries=entries, items=list(items))
