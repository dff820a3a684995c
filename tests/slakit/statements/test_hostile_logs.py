"""Broken and hostile logs: each is refused, or says what it lost, or changes no money. None does so in silence."""

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from risk.contract_rules.statement import statement
from schemas.deal import Deal
from schemas.errors import DealError
from schemas.periods import Month
from slakit.load import load_deal
from slakit.statements.gather import Gathered, Sources, gathered
from slakit.statements.importers.form import Options

OCTOBER = (Month.parse("2026-10"),)
AS_OF = datetime(2026, 11, 5, tzinfo=UTC)


@dataclass(frozen=True)
class Sample:
    """A small sound log."""

    name: str
    text: str
    options: Options = field(default_factory=Options)


def readings() -> str:
    """Return telemetry of one minute for two nodes over five hours, one of them down for most of it."""
    start = datetime(2026, 10, 3, 6, tzinfo=UTC)
    rows = ["time,unit_id,state"]
    for minute in range(300):
        stamp = (start + timedelta(minutes=minute)).strftime("%Y-%m-%dT%H:%M:%SZ")
        rows.append(f"{stamp},n02,{'down' if 30 <= minute < 280 else 'up'}")
        rows += [f"{stamp},n03,up"] if minute % 2 else []
    return "\n".join(rows) + "\n"


def matrix() -> str:
    """Return an answer of Prometheus for two nodes, one of them down for six hours."""
    start = int(datetime(2026, 10, 3, 6, tzinfo=UTC).timestamp())

    def series(name: str, down: range) -> dict[str, Any]:
        values = [[start + 1200 * i, "0" if i in down else "1"] for i in range(30)]
        return {"metric": {"__name__": "up", "instance": name, "job": "node"}, "values": values}

    result = [series("n02", range(6, 24)), series("n03", range(0))]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}, indent=1)


def node(name: str, ready: str, since: str) -> dict[str, Any]:
    condition = {
        "type": "Ready",
        "status": ready,
        "reason": "KubeletReady" if ready == "True" else "NodeStatusUnknown",
        "message": "told",
        "lastHeartbeatTime": "2026-10-24T23:59:00Z",
        "lastTransitionTime": since,
    }
    return {"kind": "Node", "metadata": {"name": name}, "spec": {}, "status": {"conditions": [condition]}}


def event(name: str, start: str, end: str) -> dict[str, Any]:
    return {
        "id": f"k-{name}",
        "name": "Node is away",
        "status": "resolved",
        "impact": "major",
        "created_at": start,
        "monitoring_at": end,
        "resolved_at": end,
        "updated_at": end,
        "incident_updates": [],
        "components": [{"id": f"c-{name}", "name": name}],
    }


HEAD = "unit_id,started_at,ended_at,cause,cause_party\n"
ROWS = (
    "n02,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"
    "n07,2026-10-20T01:00Z,2026-10-20T07:45Z,power shelf,provider\n"
    "n08,2026-10-20T01:00Z,2026-10-20T09:45Z,power shelf,provider\n"
)
KEYS = HEAD.strip().split(",")
CAPTURED = Options(zone="UTC", captured_at=datetime(2026, 10, 25, tzinfo=UTC))
SAMPLES = {
    "own csv": Sample("log.csv", HEAD + ROWS),
    "own json lines": Sample(
        "log.jsonl",
        "".join(json.dumps(dict(zip(KEYS, row.split(","), strict=True))) + "\n" for row in ROWS.strip().split("\n")),
    ),
    "slurm": Sample(
        "sinfo.psv",
        "HOSTNAMES|STATE|REASON|USER|TIMESTAMP\n"
        "n02|down*|Not responding|slurm|2026-10-23T07:14:00\n"
        "n07|down|gpu lost|root|2026-10-20T01:00:00\n"
        "n08|idle|none|root|Unknown\n",
        CAPTURED,
    ),
    "kubernetes": Sample(
        "nodes.json",
        json.dumps(
            {
                "kind": "List",
                "items": [
                    node("n02", "Unknown", "2026-10-23T07:14:00Z"),
                    node("n07", "False", "2026-10-20T01:00:00Z"),
                    node("n08", "True", "2026-01-20T01:00:00Z"),
                ],
            },
            indent=1,
        ),
        CAPTURED,
    ),
    "statuspage": Sample(
        "incidents.json",
        json.dumps(
            {
                "page": {"name": "Ridge status"},
                "incidents": [
                    event("n02", "2026-10-03T07:14:00.000Z", "2026-10-03T14:41:00.000Z"),
                    event("n07", "2026-10-20T01:00:00.000Z", "2026-10-20T07:45:00.000Z"),
                ],
            },
            indent=1,
        ),
    ),
    "prometheus": Sample("range.json", matrix()),
    "telemetry": Sample("readings.csv", readings()),
}


def spread(size: int, count: int) -> list[int]:
    """Return places all over a file, the same every time."""
    return sorted({(size * (2 * i + 1)) // (2 * count) for i in range(count)})


def in_lines(change: Callable[[list[str]], list[str]]) -> Callable[[bytes], bytes]:
    return lambda data: ("\n".join(change(data.decode().rstrip("\n").split("\n"))) + "\n").encode()


def replaced(old: str, new: str) -> Callable[[bytes], bytes]:
    return lambda data: data.replace(old.encode(), new.encode())


def zipped(content: bytes) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("log.csv", content)
    return made.getvalue()


def times(form: str) -> Callable[[bytes], bytes]:
    """Return a change that writes every full time of a file in another form."""
    import re

    found = re.compile(r"2026-(\d\d)-(\d\d)[T ](\d\d):(\d\d)(:\d\d)?(\.\d+)?Z?")

    def other(match: "re.Match[str]") -> str:
        moment = datetime(2026, *(int(match[i]) for i in range(1, 5)), tzinfo=UTC)
        return str(int(moment.timestamp() * 1000)) if form == "ms" else moment.strftime(form)

    return lambda data: found.sub(other, data.decode()).encode()


ANY: dict[str, Callable[[bytes], bytes]] = {
    "byte order mark": lambda data: b"\xef\xbb\xbf" + data,
    "two byte order marks": lambda data: b"\xef\xbb\xbf" * 2 + data,
    "utf-16": lambda data: data.decode().encode("utf-16"),
    "utf-16 without its mark": lambda data: data.decode().encode("utf-16-be"),
    "utf-32": lambda data: data.decode().encode("utf-32"),
    "latin-1": lambda data: data.replace(b"n07", b"n07\xe9"),
    "gzip": gzip.compress,
    "zip": zipped,
    "zip bomb": lambda data: zipped(b"0" * 20_000_000),
    "carriage returns": lambda data: data.replace(b"\n", b"\r"),
    "windows line ends": lambda data: data.replace(b"\n", b"\r\n"),
    "line separators of unicode": lambda data: data.replace(b"\n", "\u2028".encode()),
    "form feeds": lambda data: data.replace(b"\n", b"\n\x0c"),
    "twice": lambda data: data + data,
    "each line twice": in_lines(lambda lines: [line for line in lines for _ in range(2)]),
    "last line twice": in_lines(lambda lines: [*lines, lines[-1]]),
    "first line again in the middle": in_lines(
        lambda lines: [*lines[: len(lines) // 2], lines[0], *lines[len(lines) // 2 :]]
    ),
    "first line lost": in_lines(lambda lines: lines[1:]),
    "lines reversed": in_lines(lambda lines: lines[::-1]),
    "blank lines": in_lines(lambda lines: [part for line in lines for part in (line, "")]),
    "trailing rubbish": lambda data: data + b"</html>\n",
    "leading rubbish": lambda data: b"HTTP/1.1 200 OK\n\n" + data,
    "a page of a portal": lambda data: b"<!DOCTYPE html><html><body>Sign in</body></html>\n",
    "nothing": lambda data: b"",
    "blanks alone": lambda data: b" \n\t\n" * 50,
    "nul bytes alone": lambda data: b"\x00" * 4096,
    "one line of two megabytes": lambda data: data + b"x" * 2_000_000 + b"\n",
    "one line of two megabytes first": lambda data: b"x" * 2_000_000 + b"\n" + data,
    "a huge name": replaced("n07", "n07" + "7" * 500_000),
    "a huge cell": replaced("n08", "n08" * 300_000),
    "deep lists": lambda data: b"[" * 100_000 + b"]" * 100_000,
    "deep mappings": lambda data: b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    "a yaml bomb": lambda data: (
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(
            b"%c: &%c [*%c,*%c,*%c,*%c,*%c,*%c,*%c,*%c]\n" % ((98 + i, 98 + i) + (97 + i,) * 8) for i in range(9)
        )
    ),
    "an endless number": replaced("2026", "2" * 5_000),
    "an endless exponent": replaced("2026-10", "1e999999999"),
    "a formula for a name": replaced("n07", "=cmd()"),
    "a formula before a name": replaced("n07", "=n07"),
    "a path for a name": replaced("n07", "../../../etc/passwd"),
    "a quote in a name": replaced("n07", 'n0"7'),
    "a letter that only looks alike": replaced("n0", "\u0578" + "0"),
    "full-width digits": replaced("2026", "\uff12\uff10\uff12\uff16"),
    "digits of another script": replaced("2026", "\u0662\u0660\u0662\u0666"),
    "an invisible space in a name": replaced("n07", "n07\u200b"),
    "a name written from right to left": replaced("n07", "\u202en07"),
    "year 9999": replaced("2026-10", "9999-10"),
    "year 1": replaced("2026-10", "0001-10"),
    "month 13": replaced("2026-10", "2026-13"),
    "day 32": replaced("2026-10-2", "2026-10-32"),
    "hour 24": replaced("T01:00", "T24:00"),
    "second 60": replaced(":00Z", ":60Z"),
    "two offsets": replaced("Z", "+00:00Z"),
    "an offset of a day": replaced("Z", "+26:00"),
    "another word for down": replaced("down", "kaputt"),
    "day before month": times("%d/%m/%Y %H:%M"),
    "month before day": times("%m/%d/%Y %H:%M"),
    "dots between": times("%d.%m.%Y %H:%M"),
    "no offset": times("%Y-%m-%dT%H:%M:00"),
    "milliseconds of an epoch": times("ms"),
    "two-digit years": times("%y-%m-%d %H:%M"),
    "days alone": times("%Y-%m-%d"),
    "weeks": times("%G-W%V-%u"),
    "words": times("%d %B %Y, %H:%M"),
}
CELLS: dict[str, Callable[[bytes], bytes]] = {
    "two columns change places in the rows": in_lines(
        lambda lines: [lines[0], *(",".join((c := line.split(","))[1::-1] + c[2:]) for line in lines[1:])]
    ),
    "start and end change places": in_lines(
        lambda lines: [lines[0], *(",".join([(c := line.split(","))[0], c[2], c[1], *c[3:]]) for line in lines[1:])]
    ),
    "two heads change places": replaced("started_at,ended_at", "ended_at,started_at"),
    "a head is misspelt": replaced("ended_at", "end_at"),
    "the start's head is misspelt": replaced("started_at", "begun_at"),
    "a head stands twice": replaced("cause,cause_party", "cause,cause"),
    "a head is blank": replaced("cause_party", ""),
    "heads in capitals": replaced(HEAD.strip(), HEAD.strip().upper()),
    "semicolons between": replaced(",", ";"),
    "tabs between": replaced(",", "\t"),
    "a cell too many": in_lines(lambda lines: [lines[0], *(f"{line},more" for line in lines[1:])]),
    "a cell too few": in_lines(lambda lines: [lines[0], *(line.rpartition(",")[0] for line in lines[1:])]),
    "two cells too few": in_lines(lambda lines: [lines[0], *(",".join(line.split(",")[:3]) for line in lines[1:])]),
    "no end": in_lines(lambda lines: [lines[0], *(",".join(line.split(",")[:2]) for line in lines[1:])]),
    "a quote that never closes": replaced("power shelf", '"power shelf'),
    "a quote that never closes in the first row": replaced("xid 79", '"xid 79'),
    "a line end within quotes": replaced("xid 79", '"xid\n79"'),
    "two rows in one": replaced("provider\nn07", "provider,n07"),
    "a comma in a cell": replaced("xid 79", "xid, 79"),
    "another party": replaced("provider", "nobody"),
}


class Ground:
    """The deal, and what a sound log comes to."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal
        self.sound: dict[str, tuple[str, set[str]]] = {}
        self._stated: dict[object, tuple[str, set[str]]] = {}

    def found(self, path: Path, sample: Sample) -> Gathered:
        return gathered(self.deal, Sources((path,)), sample.options)

    def stated(self, found: Gathered) -> tuple[str, set[str]]:
        """Return the total and the notes of a statement; records that say the same are not stated twice."""
        told = ("unit_id", "state", "started_at", "ended_at", "cause_party", "cause")
        key = tuple(tuple(getattr(incident, name) for name in told) for incident in found.records.incidents)
        if key not in self._stated:
            made = statement(self.deal, found.records, OCTOBER, AS_OF)
            self._stated[key] = str(made.total.amount), set(made.notes)
        return self._stated[key]


@pytest.fixture(scope="module")
def ground(ridge: str, files: Callable[..., dict[str, Path]]) -> Ground:
    made = Ground(load_deal(files(deal_yaml=ridge)["deal_yaml"]).deal)
    for name, sample in SAMPLES.items():
        whole = files(other_txt="x")["other_txt"].parent / sample.name  # in a folder of its own
        whole.write_text(sample.text)
        found = made.found(whole, sample)
        total, notes = made.stated(found)
        made.sound[name] = total, notes | said(found)
    return made


def said(found: Gathered) -> set[str]:
    """Return everything that a statement says about what it could not use or take as it stands."""
    words = {f"not mapped: {name} {times}" for name, times in found.not_mapped.items()}
    for log in found.logs:
        words |= {f"skipped {line.line}: {line.reason}" for line in log.imported.skipped}
        words |= {f"left out {times}: {reason}" for reason, times in log.imported.left_out.items()}
        words |= {f"unknown {word} {times}" for word, times in log.imported.unknown_states.items()}
        words |= {f"repeats {log.imported.duplicates}"}
        words |= set(log.imported.notes)
    return words


def adds_up(found: Gathered) -> bool:
    return all(
        log.imported.records
        == log.imported.used + len(log.imported.skipped) + sum(log.imported.left_out.values()) + log.imported.duplicates
        for log in found.logs
    )


def check(ground: Ground, kind: str, data: bytes, folder: Path) -> None:
    """Hold one changed log against the sound one."""
    sample = SAMPLES[kind]
    path = folder / sample.name
    path.write_bytes(data)
    try:
        found = ground.found(path, sample)
    except DealError:
        return
    assert adds_up(found)
    total, notes = ground.stated(found)
    before, words = ground.sound[kind]
    if total != before:
        assert (notes | said(found)) - words, f"the total is {total} instead of {before}, and nothing says why"


@pytest.mark.parametrize("kind", SAMPLES)
def test_a_sound_log_owes_money_and_adds_up(ground, kind, tmp_path):
    assert float(ground.sound[kind][0]) > 0
    check(ground, kind, SAMPLES[kind].text.encode(), tmp_path)


@pytest.mark.parametrize("change", ANY)
@pytest.mark.parametrize("kind", SAMPLES)
def test_no_change_of_a_file_moves_money_in_silence(ground, kind, change, tmp_path):
    if (kind, change) == ("own json lines", "first line lost"):
        pytest.skip("what is left is a sound log of less")
    check(ground, kind, ANY[change](SAMPLES[kind].text.encode()), tmp_path)


@pytest.mark.parametrize("change", CELLS)
def test_no_change_of_columns_and_cells_moves_money_in_silence(ground, change, tmp_path):
    check(ground, "own csv", CELLS[change](SAMPLES["own csv"].text.encode()), tmp_path)


@pytest.mark.parametrize("kind", SAMPLES)
def test_no_cut_within_a_line_moves_money_in_silence(ground, kind, tmp_path):
    data = SAMPLES[kind].text.encode()
    whole_lines = {i + 1 for i, byte in enumerate(data) if byte == 10} | {
        i for i, byte in enumerate(data) if byte == 10
    }
    for place in spread(len(data), 16):
        if place not in whole_lines:  # a log that ends after a whole line is a sound log of less
            check(ground, kind, data[:place], tmp_path)


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("byte", [None, 0, 0xFF, 0x22, 0x5C], ids=["high bit", "nul", "no utf-8", "quote", "backslash"])
def test_no_broken_byte_moves_money_in_silence(ground, kind, byte, tmp_path):
    data = SAMPLES[kind].text.encode()
    for place in spread(len(data), 8):
        broken = data[place] ^ 0x80 if byte is None else byte
        check(ground, kind, data[:place] + bytes([broken]) + data[place + 1 :], tmp_path)


@pytest.mark.parametrize("kind", ["own csv", "telemetry", "statuspage"])
def test_a_line_of_ten_megabytes_moves_no_money_in_silence(ground, kind, tmp_path):
    data = SAMPLES[kind].text.encode()
    check(ground, kind, data + b"x" * 10_000_000 + b"\n", tmp_path)
    check(ground, kind, b"7" * 10_000_000 + b"\n" + data, tmp_path)


def test_a_link_is_read_like_its_file_and_what_is_no_file_is_refused(ground, tmp_path):
    sample = SAMPLES["own csv"]
    (tmp_path / "real.csv").write_text(sample.text)
    (tmp_path / "link.csv").symlink_to(tmp_path / "real.csv")
    assert ground.stated(ground.found(tmp_path / "link.csv", sample))[0] == ground.sound["own csv"][0]
    (tmp_path / "nowhere.csv").symlink_to(tmp_path / "gone.csv")
    (tmp_path / "circle.csv").symlink_to(tmp_path / "circle.csv")
    (tmp_path / "folder.csv").mkdir()
    for name in ("nowhere.csv", "circle.csv", "folder.csv", "gone.csv"):
        with pytest.raises(DealError, match=name):
            ground.found(tmp_path / name, sample)


def test_a_name_of_a_file_is_never_followed_or_run(ground, tmp_path):
    sample = SAMPLES["own csv"]
    for name in ("=cmd().csv", "$(id).csv", "a\nb.csv", "-o.csv", "\u202egnp.csv"):
        path = tmp_path / name
        path.write_text(sample.text)
        found = ground.found(path, sample)
        assert ground.stated(found)[0] == ground.sound["own csv"][0]
        assert "\n" not in found.logs[0].imported.file
        assert "\u202e" not in found.logs[0].imported.file
