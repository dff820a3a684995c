"""Kernel logs with XIDs and logs of the fabric manager: forms of times, grouping, and what a code says by default."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from schemas.errors import DealError
from slakit.statements.importers.find import form_of, forms
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

BERLIN = Options(zone="Europe/Berlin", unit_id="gx-17", captured_at=datetime(2026, 3, 2, 8, tzinfo=UTC))
BUS = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."


def read(text: str | bytes, options: Options | None = None, name: str = "kern.log") -> Imported:
    log = Log(name, text if isinstance(text, bytes) else text.encode())
    found = form_of(log).read(log, options or Options())
    check_sums(found, log)
    return found


def check_sums(found: Imported, log: Log) -> None:
    assert found.records == found.used + len(found.skipped) + sum(found.left_out.values()) + found.duplicates
    if found.form == "xid-kernel-log":
        assert found.records == sum(bool(line.strip()) for line in re.split(r"\r\n|\n|\r", log.text))


@pytest.mark.parametrize(
    ("line", "started"),
    [
        (f"[Mon Mar  2 05:10:11 2026] {BUS}", datetime(2026, 3, 2, 4, 10, 11, tzinfo=UTC)),
        (f"kern  :err   : [Mon Mar  2 05:10:11 2026] {BUS}", datetime(2026, 3, 2, 4, 10, 11, tzinfo=UTC)),
        (f"2026-03-02T05:10:11,250000+01:00 {BUS}", datetime(2026, 3, 2, 4, 10, 11, 250000, tzinfo=UTC)),
        (f"kern  :err   : 2026-03-02T05:10:11,250000+01:00 {BUS}", datetime(2026, 3, 2, 4, 10, 11, 250000, tzinfo=UTC)),
        (f"2026-03-02T05:10:11+0100 gx-17 kernel: {BUS}", datetime(2026, 3, 2, 4, 10, 11, tzinfo=UTC)),
        (f"2026-03-02T05:10:11 gx-17 kernel: {BUS}", datetime(2026, 3, 2, 4, 10, 11, tzinfo=UTC)),
        (f"Mar  2 05:10:11 gx-17 kernel: [ 1843.308145] {BUS}", datetime(2026, 3, 2, 4, 10, 11, tzinfo=UTC)),
    ],
)
def test_times_are_placed_by_their_offset_or_the_zone(line: str, started: datetime):
    found = read(line + "\n", BERLIN)
    (incident,) = found.incidents
    assert (incident.unit_id, incident.state, incident.fault_code) == ("gx-17", "down", "79")
    assert (incident.started_at, incident.ended_at) == (started, None)
    assert "0000:1b:00" in (incident.cause or "")
    assert "GPU has fallen off the bus" in (incident.cause or "")


def test_a_log_without_years_gets_them_from_its_end_backwards():
    lines = [
        f"Nov  9 10:00:00 gx-17 kernel: {BUS}",
        f"Dec 31 23:59:59 gx-17 kernel: {BUS}",
        f"Mar  1 10:00:00 gx-17 kernel: {BUS}",
        f"Feb 30 10:00:00 gx-17 kernel: {BUS}",
    ]
    found = read("\n".join(lines), BERLIN)
    assert [one.started_at.year for one in found.incidents] == [2025, 2025, 2026]
    assert [one.line for one in found.skipped] == [4]


@pytest.mark.parametrize(
    ("days", "captured", "years"),
    [
        (("Mar  1", "Dec 31", "Jan  1", "Dec 31", "Jan  2"), "2026-01-02", [2025, 2025, 2026, 2025, 2026]),
        (("Mar  5", "Feb 29", "Mar  1"), "2024-03-02", [2023, 2024, 2024]),
        (("Jan 10", "Jun 10", "Jan 10", "Jun 10"), "2026-12-31", [2025, 2025, 2026, 2026]),
        (("Nov 30",), "2026-03-02", [2025]),
    ],
)
def test_the_turn_of_a_year_is_told_from_the_order_of_lines(days: tuple[str, ...], captured: str, years: list[int]):
    text = "".join(f"{day} 12:{2 * n:02}:00 gx-17 kernel: {BUS}\n" for n, day in enumerate(days))
    at = datetime.fromisoformat(f"{captured}T20:00:00+00:00")
    found = read(text, Options(zone="UTC", captured_at=at))
    by_line = {one.evidence[0].line: one.started_at.year for one in found.incidents}
    assert [by_line[n] for n in sorted(by_line, key=lambda line: line or 0)] == years


def test_times_since_boot_are_placed_by_a_line_with_both_clocks():
    lines = [
        "[    1.500000] rtc_cmos 00:01: setting system clock to 2026-03-02T03:00:00 UTC (1772420400)",
        f"[ 3601.500000] {BUS}",
    ]
    found = read("\n".join(lines), Options(unit_id="gx-17"))
    assert found.incidents[0].started_at == datetime(2026, 3, 2, 4, 0, 0, tzinfo=UTC)
    assert not found.bounds


@pytest.mark.parametrize("line", [f"[ 1843.308145] {BUS}", f"3,501,1843308145,-;{BUS}"])
def test_times_since_boot_alone_are_latest_times_counted_back_from_the_capture(line: str):
    last = "[ 1943.308145] usb 1-1: new device" if line.startswith("[") else "6,502,1943308145,-;usb 1-1: new device"
    found = read(f"{line}\n{last}\n", BERLIN)
    (incident,), (bound,) = found.incidents, found.bounds
    assert BERLIN.captured_at is not None
    assert incident.started_at == BERLIN.captured_at - timedelta(seconds=100)
    assert (bound.earliest, bound.latest) == (None, incident.started_at)
    assert any("latest it can be" in note for note in found.notes)


def test_an_earlier_boot_cannot_be_dated_by_the_capture():
    found = read(f"[ 9000.000000] {BUS}\n[    2.000000] hello\n[  100.000000] {BUS}\n", BERLIN)
    assert len(found.incidents) == 1
    assert [(one.line, one.reason) for one in found.skipped] == [
        (1, "counts from an earlier boot, which nothing dates")
    ]


def test_all_that_is_missing_is_asked_for_at_once():
    with pytest.raises(DealError, match="--zone") as error:
        read(f"[Mon Mar  2 05:10:11 2026] {BUS}\n")
    assert "--unit" in str(error.value)
    with pytest.raises(DealError, match="--captured-at"):
        read(f"[ 1843.308145] {BUS}\n")
    with pytest.raises(DealError, match="--captured-at"):
        read(f"Mar  2 05:10:11 gx-17 kernel: {BUS}\n", Options(zone="UTC"))


def test_nothing_is_asked_for_where_nothing_counts():
    quiet = BUS.replace(": 79,", ": 31,")
    found = read(f"[Mon Mar  2 05:10:11 2026] {quiet}\n[Mon Mar  2 05:10:12 2026] eth0: up\n")
    assert not found.incidents
    assert sum(found.left_out.values()) == 2


def test_a_time_that_comes_twice_in_autumn_has_two_bounds():
    found = read(f"[Sun Oct 26 02:30:00 2025] {BUS}\n", BERLIN)
    (bound,) = found.bounds
    assert bound.earliest == datetime(2025, 10, 26, 0, 30, tzinfo=UTC)
    assert bound.latest == datetime(2025, 10, 26, 1, 30, tzinfo=UTC)


def test_a_weekday_that_contradicts_its_date_is_skipped():
    found = read(f"[Fri Mar  2 05:10:11 2026] {BUS}\n[Mon Mar  2 05:10:12 2026] {BUS}\n", BERLIN)
    assert [one.line for one in found.skipped] == [1]
    assert len(found.incidents) == 1


def test_lines_of_one_gpu_within_a_minute_are_one_fault_named_by_the_worst():
    lines = [
        ("05:10:00", "1b", 94, "Contained ECC error"),
        ("05:10:30", "1b", 79, "GPU has fallen off the bus."),
        ("05:10:31", "1b", 79, "GPU has fallen off the bus."),
        ("05:10:31", "2c", 45, "Ch 00000001"),
        ("05:10:40", "2c", 94, "Contained ECC error"),
        ("05:12:00", "1b", 119, "Timeout"),
    ]
    found = read(
        "\n".join(
            f"[Mon Mar  2 {t} 2026] NVRM: Xid (PCI:0000:{p}:00): {c}, pid=12, name=fit, {w}" for t, p, c, w in lines
        ),
        BERLIN,
    )
    assert [(one.fault_code, one.state, len(one.evidence)) for one in found.incidents] == [
        ("79", "down", 3),
        ("94", "degraded", 1),
        ("119", "down", 1),
    ]
    assert found.incidents[0].started_at == datetime(2026, 3, 2, 4, 10, tzinfo=UTC)
    assert (found.used, sum(found.left_out.values())) == (5, 1)


def test_serial_number_and_uuid_of_the_card_are_kept_and_names_of_programs_are_not():
    text = (
        "[Mon Mar  2 05:10:11 2026] NVRM: GPU at PCI:0000:1b:00: GPU-0a0b0c0d-1111-2222-3333-444455556666\n"
        "[Mon Mar  2 05:10:11 2026] NVRM: GPU Board Serial Number: 1650999000111\n"
        "[Mon Mar  2 05:10:11 2026] NVRM: Xid (PCI:0000:1B:00): 119, pid=77, name=secret_model, Timeout secret_model\n"
    )
    (incident,) = read(text, BERLIN).incidents
    assert "GPU-0a0b0c0d" in str(incident.cause)
    assert "1650999000111" in str(incident.cause)
    assert "secret_model" not in incident.model_dump_json()
    named = Options(BERLIN.zone, unit_id="gx-17", with_names=True)
    assert "secret_model" in read(text, named).incidents[0].model_dump_json()


@pytest.mark.parametrize(
    ("code", "words", "state"),
    [
        (13, "Graphics Exception", None),
        (109, "CTX SWITCH TIMEOUT", None),
        (63, "Row remapping event recorded", None),
        (63, "Row Remapper: New row marked for remapping, reset gpu to activate.", "degraded"),
        (48, "DBE (double bit error)", "down"),
        (92, "High single-bit ECC error rate", "degraded"),
        (145, "RLW_RXPIPE Nonfatal XC0 i0 Link 13", "degraded"),
        (149, "NETIR_LINK_EVT Fatal XC0 i0 Link 00", "down"),
        (154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)", "down"),
        (154, "GPU recovery action changed from None to Node Reboot Required", "down"),
        (154, "GPU recovery action changed from 0x1 (GPU Reset Required) to 0x0 (None)", None),
        (154, "GPU recovery action changed from 0x0 (None) to 0x9 (Sing)", "unknown"),
        (777, "something new", "unknown"),
    ],
)
def test_what_a_code_says_by_default(code: int, words: str, state: str | None):
    found = read(f"2026-03-02T05:10:11+01:00 gx-17 kernel: NVRM: Xid (PCI:0000:1b:00): {code}, {words}\n")
    assert [one.state for one in found.incidents] == ([state] if state else [])
    assert found.unknown_states == ({f"XID {code}": 1} if state == "unknown" else {})


def test_the_fault_list_of_the_contract_comes_before_the_table():
    lines = "".join(
        f"2026-03-02T0{hour}:00:00Z gx-17 kernel: NVRM: Xid (PCI:0000:1b:00): {code}, text\n"
        for hour, code in enumerate((13, 109, 79, 94))
    )
    found = read(lines, Options(fault_list={"109": "down", "XID 94": "application", "13": "degraded"}))
    assert [(one.fault_code, one.state) for one in found.incidents] == [("13", "degraded"), ("109", "down")]
    assert found.left_out == {
        "XID 79: not in the fault list of the contract": 1,
        "XID 94: application by the fault list of the contract": 1,
    }


def test_a_line_that_a_program_forges_is_not_the_kernels():
    found = read(f"2026-03-02T05:10:11Z gx-17 trainer[12]: {BUS}\n2026-03-02T05:10:11Z gx-17 kernel: x\n")
    assert not found.incidents
    assert found.left_out["a line of another program than the kernel"] == 1


def test_an_xid_line_that_is_cut_is_skipped_with_its_number():
    found = read(f"2026-03-02T05:10:11Z gx-17 kernel: {BUS}\n2026-03-02T05:20:11Z gx-17 kernel: NVRM: Xid (PCI:00")
    assert [(one.line, one.reason) for one in found.skipped] == [(2, "a fault line that cannot be read")]


def test_faults_of_switches_are_down_when_fatal_and_else_unknown():
    text = (
        "2026-03-02T05:10:11Z gx-17 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Fatal, Link 44 timeout\n"
        "2026-03-02T05:10:11Z gx-17 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 24007, Data {0x1, 0x0}\n"
        "2026-03-02T05:20:11Z gx-17 kernel: nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 22013, Non-fatal, Link 62 x\n"
    )
    found = read(text)
    assert [(one.fault_code, one.state) for one in found.incidents] == [
        ("SXID 24007", "down"),
        ("SXID 22013", "unknown"),
    ]


FABRIC = (
    "[Feb 11 2026 13:59:45] [INFO] [tid 91] Received a message: header\n"
    "payload: Team release request\n\n"
    "[Feb 11 2026 14:00:00] [ERROR] [tid 92] detected NVSwitch fatal error 24007 on fid 0 on NVSwitch pci bus id "
    "00000000:C1:00.0 physical id 3 port 61\n"
    "[Feb 11 2026 14:01:00] [ERROR] [tid 92] the moon is in the wrong house\n"
)


def test_the_fabric_managers_fatal_errors_are_outages_and_its_other_lines_are_accounted_for():
    found = read(FABRIC, BERLIN, "fabricmanager.log")
    assert found.form == "nvidia-fabric-manager"
    (incident,) = found.incidents
    assert (incident.state, incident.fault_code) == ("down", "SXID 24007")
    assert incident.started_at == datetime(2026, 2, 11, 13, 0, tzinfo=UTC)
    assert (found.records, found.used, len(found.skipped)) == (3, 1, 1)
    with pytest.raises(DealError, match="--zone"):
        read(FABRIC, Options(unit_id="gx-17"))
    with pytest.raises(DealError, match="--unit"):
        read(FABRIC, Options(zone="UTC"))


def test_a_log_cut_anywhere_is_refused_or_adds_up():
    rng = Random(5)
    whole = f"[Mon Mar  2 05:10:11 2026] {BUS}\n[Mon Mar  2 05:20:11 2026] {BUS}\n" + FABRIC
    for form in ("xid-kernel-log", "nvidia-fabric-manager"):
        for _ in range(20):
            log = Log("cut.log", whole.encode()[: rng.randrange(1, len(whole))])
            check_sums(forms()[form].read(log, BERLIN), log)


def test_every_real_sample_agrees_with_a_count_of_its_own(logs: Path):
    options = Options(zone="UTC", unit_id="h1", captured_at=datetime(2025, 3, 1, tzinfo=UTC))
    seen = {}
    for path in sorted((logs / "xid-kernel-log").iterdir()):
        if path.name == "SOURCE.md":
            continue
        text = path.read_text()
        found = read(path.read_bytes(), options, path.name)
        codes = [int(code) for code in re.findall(r"NVRM: Xid \([^)]*\): (\d+)", text)]
        harmless = sum(code in (13, 31, 43, 45, 68, 69, 109) for code in codes)
        seen[path.name] = found.form
        if found.form == "nvidia-fabric-manager":
            assert found.records == len(re.findall(r"(?m)^\[\w{3} \d", text))
            assert len(found.incidents) == len(re.findall(r"detected NVSwitch (?:non-)?fatal error", text))
            continue
        assert found.used == len(codes) - harmless
        assert sum(count for why, count in found.left_out.items() if why.startswith("XID")) == harmless
        stamps = re.findall(r"\[\w{3} (\w{3} \d+ [\d:]+ \d{4})\] NVRM: Xid", text)
        times = [datetime.strptime(stamp, "%b %d %H:%M:%S %Y").replace(tzinfo=UTC) for stamp in stamps]
        starts = [t for i, t in enumerate(times) if i == 0 or (t - times[i - 1]).total_seconds() > 60]
        assert [one.started_at for one in found.incidents] == starts
    assert len(seen) == 4
    assert list(seen.values()).count("nvidia-fabric-manager") == 1


def test_real_samples_cut_anywhere_are_refused_or_add_up(logs: Path):
    rng = Random(7)
    for path in sorted((logs / "xid-kernel-log").glob("*.log")):
        data = path.read_bytes()
        form = forms()[form_of(Log(path.name, data)).id]
        for _ in range(20):
            log = Log(path.name, data[: rng.randrange(1, len(data))])
            check_sums(form.read(log, BERLIN), log)
