"""Incident files of our own: what is written is read back, and nothing in them runs or is lost."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import DealError
from schemas.incidents import Evidence, Incident
from slakit.statements.importers.find import form_of
from slakit.statements.importers.form import Options
from slakit.statements.importers.formats import incident_rows
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.incident_files import FORMULA_STARTS, guarded, unguarded, write_csv, write_jsonl

HEAD = "unit_id,started_at,ended_at,state,cause\n"


def read(text: str | bytes, name: str, options: Options | None = None) -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    return form_of(log).read(log, options or Options())


def bare(incident: Incident) -> dict[str, object]:
    """An incident without the line that it was read from."""
    return incident.model_dump(exclude={"evidence"}) | {"evidence": incident.evidence[1:]}


LETTERS = st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp", "Zs"))
NAMES = (
    st.text(st.one_of(LETTERS, st.sampled_from("=+-@'\",;| 09")), min_size=1, max_size=20)
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)
TIMES = st.integers(0, 10**15).map(lambda us: datetime(2000, 1, 1, tzinfo=UTC) + timedelta(microseconds=us))


@st.composite
def incidents(draw: st.DrawFn) -> list[Incident]:
    made = []
    for number in range(draw(st.integers(1, 5))):
        started = draw(TIMES)
        made.append(
            Incident(
                id=f"{number}-{draw(NAMES)}",
                level=draw(st.sampled_from(["node", "rack", "site"])),
                unit_id=draw(NAMES),
                state=draw(st.sampled_from(["down", "degraded", "planned", "unknown"])),
                started_at=started,
                ended_at=draw(
                    st.none()
                    | st.timedeltas(timedelta(0), timedelta(days=90)).map(lambda lasted, at=started: at + lasted)
                ),
                notice_at=draw(st.none() | TIMES),
                cause=draw(st.none() | NAMES),
                cause_party=draw(st.sampled_from(["provider", "unknown"])),
                metric=draw(st.none() | NAMES),
                measured=draw(st.none() | st.decimals(-1000, 1000, places=4)),
                fault_code=draw(st.none() | NAMES),
                evidence=draw(
                    st.just(()) | st.tuples(st.builds(Evidence, file=NAMES, line=st.integers(1, 9), text=NAMES))
                ),
            )
        )
    return made


@settings(max_examples=30)
@given(incidents())
def test_writing_and_reading_csv_is_the_identity(made: list[Incident]):
    found = read(write_csv(made), "outages.csv")
    assert not found.skipped
    assert [bare(one) for one in found.incidents] == [one.model_dump() | {"evidence": one.evidence} for one in made]
    assert [one.evidence[0].line for one in found.incidents] == list(range(2, len(made) + 2))


@settings(max_examples=30)
@given(incidents())
def test_writing_and_reading_json_lines_is_the_identity(made: list[Incident]):
    found = read(write_jsonl(made), "outages.jsonl")
    assert not found.skipped
    assert [bare(one) for one in found.incidents] == [one.model_dump() | {"evidence": one.evidence} for one in made]
    listed = "[" + ",\n".join(write_jsonl(made).splitlines()) + "]"
    assert [bare(one) for one in read(listed, "outages.json").incidents] == [bare(one) for one in found.incidents]


@settings(max_examples=30)
@given(incidents(), st.randoms(use_true_random=False), st.integers(-14 * 4, 14 * 4))
def test_the_order_of_rows_and_the_offset_of_times_change_nothing(made, random, quarters):
    rows = list(csv.reader(io.StringIO(write_csv(made), newline="")))
    there = timezone(timedelta(minutes=15 * quarters))
    for row in rows[1:]:
        for place, cell in enumerate(row):
            if rows[0][place].endswith("_at") and cell:
                row[place] = datetime.fromisoformat(cell).astimezone(there).isoformat()
    body = rows[1:]
    random.shuffle(body)
    text = io.StringIO(newline="")
    csv.writer(text).writerows([rows[0], *body])
    found = read(text.getvalue(), "outages.csv")
    assert sorted(map(str, map(bare, found.incidents))) == sorted(
        str(one.model_dump(exclude={"evidence"}) | {"evidence": one.evidence}) for one in made
    )


@given(st.text(max_size=30))
def test_a_guarded_cell_is_no_formula_and_comes_back(cell: str):
    assert not guarded(cell).lstrip().startswith(FORMULA_STARTS)
    assert unguarded(guarded(cell)) == cell


def test_a_cause_that_a_spreadsheet_would_run_is_written_as_text():
    made = Incident(id="a", level="node", unit_id="n1", started_at=datetime(2026, 5, 1, tzinfo=UTC), cause="=1+1")
    assert ",'=1+1," in write_csv([made])
    assert read(write_csv([made]), "outages.csv").incidents[0].cause == "=1+1"


def test_only_a_unit_and_a_start_are_needed():
    found = read("started_at,unit_id\n2026-05-01T10:00:00Z,gx-07\n", "outages.csv")
    (made,) = found.incidents
    assert (made.level, made.state, made.ended_at) == ("node", "down", None)
    assert str(made.evidence[0]) == "outages.csv:2"
    assert made.evidence[0].text == "2026-05-01T10:00:00Z,gx-07"


def test_local_times_without_a_zone_refuse_the_whole_file():
    text = HEAD + "gx-1,2026-05-01 10:00:00,,down,\ngx-2,2026-05-01 11:00:00,,down,\n"
    with pytest.raises(DealError, match=r"2 times without an offset.*--zone"):
        read(text, "outages.csv")
    found = read(text, "outages.csv", Options(zone="Europe/Oslo"))
    assert [one.started_at.hour for one in found.incidents] == [8, 9]


def test_one_bad_line_does_not_lose_the_rest():
    text = HEAD + (
        "gx-1,2026-05-01T10:00:00Z,2026-05-01T11:00:00Z,down,fan\n"
        "gx-2,yesterday,,down,\n"
        ",2026-05-01T10:00:00Z,,down,\n"
        "gx-3,2026-05-01T10:00:00Z,2026-05-01T09:00:00Z,down,\n"
        "gx-4,2026-05-01T10:00:00Z\n"
        'gx-5,2026-05-01T10:00:00Z,,down,"never closed\n'
        "gx-6,2026-05-01T10:00:00Z,,asleep,\n"
        "gx-1,2026-05-01T10:00:00Z,2026-05-01T11:00:00Z,down,fan\n"
    )
    found = read(text, "outages.csv")
    assert [one.unit_id for one in found.incidents] == ["gx-1", "gx-6"]
    assert [one.line for one in found.skipped] == [3, 4, 5, 6, 7]
    assert (found.records, found.duplicates, found.unknown_states) == (8, 1, {"asleep": 1})
    assert found.incidents[1].state == "unknown"


def test_a_record_over_several_lines_is_cited_by_its_first():
    text = HEAD + 'gx-1,2026-05-01T10:00:00Z,,down,"fan\nand board"\ngx-2,2026-05-02T10:00:00Z,,down,x\n'
    found = read(text, "outages.csv")
    assert [one.evidence[0].line for one in found.incidents] == [2, 4]
    assert found.incidents[0].cause == "fan and board"


def test_an_id_used_twice_is_named():
    line = '{"id": "a", "unit_id": "%s", "started_at": "2026-05-01T10:00:00Z"}\n'
    found = read(line % "gx-1" + line % "gx-2", "outages.jsonl")
    assert [one.unit_id for one in found.incidents] == ["gx-1"]
    assert "the id 'a' of line 1 again" in found.skipped[0].reason


def test_a_column_twice_is_refused():
    with pytest.raises(DealError, match="2 columns named 'unit_id'"):
        read("unit_id,unit_id,started_at\na,b,2026-05-01T10:00:00Z\n", "outages.csv")


def test_a_value_of_another_type_is_skipped():
    found = read(
        '{"unit_id": ["a"], "started_at": "2026-05-01T10:00:00Z"}\n{"unit_id": 7, "started_at"', "outages.jsonl"
    )
    assert [one.reason.split(":")[0] for one in found.skipped] == ["unit_id is no text", "no JSON"]


@pytest.mark.parametrize("write", [write_csv, write_jsonl])
def test_a_file_cut_off_anywhere_adds_up(write):
    started = datetime(2026, 5, 1, tzinfo=UTC)
    made = [
        Incident(
            id=f"{n}", level="node", unit_id=f"gx-{n}", started_at=started, ended_at=started + timedelta(hours=n),
            measured=Decimal("0.5"),
        )
        for n in range(1, 9)
    ]  # fmt: skip
    text = write(made).encode()
    for cut in range(90, len(text), 37):
        try:
            found = read(text[:cut], "outages.csv" if write is write_csv else "outages.jsonl")
        except DealError:
            continue
        lines = sum(bool(line.strip()) for line in text[:cut].splitlines()) - (write is write_csv)
        assert found.records == lines
        assert set(map(str, map(bare, found.incidents[:-1]))) <= set(map(str, (one.model_dump() for one in made)))


@pytest.mark.parametrize("reader", ["polars", "pyarrow"])
def test_parquet_is_read_by_either_reader(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str):
    pytest.importorskip(reader)

    def only(name: str) -> ModuleType:
        if not name.startswith(reader):
            raise ImportError(name)
        return import_module(name)

    monkeypatch.setattr(incident_rows, "import_module", only)
    parquet = pytest.importorskip("pyarrow.parquet")
    arrow = pytest.importorskip("pyarrow")
    started = datetime(2026, 5, 1, 10, tzinfo=UTC)
    table = arrow.table(
        {
            "unit_id": ["gx-1", "gx-2"],
            "started_at": [started, started],
            "ended_at": [started + timedelta(hours=2), None],
        }
    )
    parquet.write_table(table, tmp_path / "outages.parquet")
    data = (tmp_path / "outages.parquet").read_bytes()
    found = read(data, "outages.parquet")
    assert [(one.unit_id, one.started_at, one.ended_at) for one in found.incidents] == [
        ("gx-1", started, started + timedelta(hours=2)),
        ("gx-2", started, None),
    ]
    cut = Log("outages.parquet", data[: len(data) // 2])
    with pytest.raises(DealError, match="a Parquet table"):
        form_of(cut, "incidents-parquet").read(cut, Options())


def test_parquet_without_a_reader_is_refused_by_name(monkeypatch: pytest.MonkeyPatch):
    def absent(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(incident_rows, "import_module", absent)
    with pytest.raises(DealError, match="polars or pyarrow"):
        incident_rows.read_parquet(Log("x.parquet", b"PAR1"), Options())


def test_evidence_that_a_row_quotes_follows_its_own_line():
    quoted = json.dumps([{"file": "slurm.log", "line": 12, "text": "node gx-1 down"}])
    record = {"unit_id": "gx-1", "started_at": "2026-05-01T10:00:00Z", "evidence": json.loads(quoted)}
    (made,) = read(json.dumps(record) + "\n", "outages.jsonl").incidents
    assert [str(one) for one in made.evidence] == ["outages.jsonl:1", "slurm.log:12"]
