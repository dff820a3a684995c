"""Text of node health tools: Azure's distributed checks, one line a host, and Oracle's checks, one line a check.

Azure's lines have no time but in the name of their file, and a host without results is unknown, not down. Oracle's are
in local time, for one host, which a line names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from slakit.statements.importers import checks, health_checks, snapshots
from slakit.statements.importers.checks import Check
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported, State
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.times import TimeError

NO_RESULT = "No results reported"
PASSED, FAILED = frozenset({"passed", "pass", "ok"}), frozenset({"failed", "fail"})

_HOST = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) *\| *(.*)")
_NHC = re.compile(r"ERROR: *nhc: *Health check failed: *(.*)")
_NAMED = re.compile(r"(check_\w{1,60}): *(.*)")
_MEASURED = re.compile(r"(?:measured|Reported bandwidth is) *(\d{1,9}(?:\.\d{1,12})?) *GB/s")
_PROCESS = re.compile(r"\bname=(?!<unknown>)([^,]{1,200}),")
_ORACLE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),(\d{3}) - ([A-Z]{3,10}) - (.*)")
_DETAILS = re.compile(r"Node details: ([A-Za-z0-9][\w.-]{0,252}) - ")
_RESULT = re.compile(r"(.{2,150}?) ?: ?([A-Za-z]{2,12})(?: - .*)?$")


def read(log: Log, options: Options) -> Imported:
    """Read results.

    Raises
    ------
    DealError
        When failed checks cannot be placed for want of a zone, a time of capture or a unit.
    """
    return _read_oracle(log, options) if _is_oracle(log) else _read_azure(log, options)


def _read_azure(log: Log, options: Options) -> Imported:
    found, clock = Collector(log, "node-health-text"), Clock(log, options)
    seen: set[str] = set()
    for number, line in log.lines():
        match = _HOST.match(line.strip())
        if match is None:
            found.skip(number, line, "no line of a host and its result")
            continue
        host, result = match[1], match[2].strip()
        if line.strip() in seen:
            found.duplicate()
            continue
        seen.add(line.strip())
        if result.casefold() == "healthy":
            found.leave_out("host healthy")
            continue
        failed = _NHC.match(result)
        state: State | None = "unknown"
        check, words, code = "", result, None
        if failed:
            named = _NAMED.match(failed[1])
            check, words = (named[1], named[2]) if named else (failed[1], failed[1])
            effect = health_checks.failed(check, words, options.fault_list)
            state, code = effect.state, effect.code or None
            if not effect.is_known:
                found.unknown_state(f"XID {code}" if code else f"check {check[:60]}")
            if state is None:
                found.leave_out(effect.reason)
                continue
        elif not result.removeprefix("ERROR:").strip().startswith(NO_RESULT):
            found.unknown_state(result[:60])
        measured = _MEASURED.search(words) if failed else None
        process = _PROCESS.search(words) if not options.with_names else None
        private = (process[1],) if process else ()
        at = snapshots.time_of(log, clock, options)
        found.taken(at.later or at.at)
        made = found.incident(
            line=number,
            raw=line,
            unit_id=host,
            level=options.unit_level or "node",
            state=state or "unknown",
            started_at=at.at,
            ended_at=None,
            detected_at=at.at,
            private=private,
            cause=_without(result.removeprefix("ERROR:").strip(), private),
            fault_code=code,
            metric=(check if check.startswith("check_") else "bandwidth") if measured else None,
            measured=Decimal(measured[1]) if measured else None,
        )
        if made is not None:
            found.bound(Bound(made.id, "started_at", None, at.later or at.at))
    if found.incidents:
        found.note("a snapshot: a finding began at some time before it, and nothing here shows what came after it")
    return found.finish()


def _without(text: str, private: tuple[str, ...]) -> str:
    for name in private:
        text = text.replace(f"name={name}", f"name={WITHHELD}")
    return text


def _read_oracle(log: Log, options: Options) -> Imported:
    found, clock = Collector(log, "node-health-text"), Clock(log, options)
    made = list(_oracle(found, clock, options))
    for check in made:
        found.taken(check.at)
    checks.add(found, made, options)
    return found.finish()


def _oracle(found: Collector, clock: Clock, options: Options) -> Iterator[Check]:
    """Yield the results of checks; account for every other line."""
    host: str | None = None
    bad: list[str] = []
    """Words of errors since the last result."""
    lines = list(found.log.lines())
    hosts = {match[1] for _, line in lines if (match := _DETAILS.search(line))}
    only = next(iter(hosts)) if len(hosts) == 1 else None
    for number, line in lines:
        match = _ORACLE.match(line.strip())
        if match is None:
            found.leave_out("no line of the log")
            continue
        written, millis, level, message = match.groups()
        if details := _DETAILS.match(message):
            host = details[1]
            found.leave_out("names the host")
            continue
        result = _RESULT.match(message)
        word = result[2].casefold() if result else ""
        if result is None or (word not in PASSED | FAILED and level in ("INFO", "DEBUG")):
            if level in ("INFO", "DEBUG"):
                found.leave_out("no result of a check")
            else:
                bad.append(message)
                found.leave_out(f"words of level {level} about a check")
            continue
        name = result[1].strip()
        before = " ".join(bad)
        bad.clear()
        state: State | None = None
        code = None
        if word not in PASSED:
            effect = health_checks.failed(name, f"{before} {message}", options.fault_list)
            state, code = effect.state, effect.code or None
            if word not in FAILED:
                found.unknown_state(f"result {result[2]}")
                state = "unknown"
            elif not effect.is_known:
                found.unknown_state(f"check {name[:60]}")
            if state is None:
                found.leave_out(effect.reason)
                continue
        unit = host or only or options.unit_id
        if state is not None and unit is None:
            raise snapshots.needs_unit(found.log)
        if state is not None and clock.zone is None:
            clock.without_offset += 1
            clock.check()
        if clock.zone is None or unit is None:
            found.leave_out("a passed check, which ends nothing by itself")
            continue
        try:
            at = clock.read(f"{written}.{millis}").at
        except TimeError as error:
            found.skip(number, line, str(error))
            continue
        yield Check(at, unit, name, state, number, line, cause=f"{message} {before}".strip(), fault_code=code)


def _is_oracle(log: Log) -> bool:
    return re.search(rf"(?m)^{_ORACLE.pattern}", log.head) is not None


def _sniff(log: Log) -> int:
    lines = [line.strip() for line in log.head[:30_000].splitlines() if line.strip()]
    if any("GPU host setup check" in line or _DETAILS.search(line) for line in lines if _ORACLE.match(line)):
        return 88
    if any(_ORACLE.match(line) and re.search(r": ?(?:Passed|Failed)$", line) for line in lines):
        return 80
    hosts = sum(
        bool((match := _HOST.match(line)) and re.match(r"(?:Healthy$|ERROR: *(?:nhc:|No results))", match[2]))
        for line in lines
    )
    return 88 if hosts and 2 * hosts >= len(lines) else 0


FORMS = (Form("node-health-text", "Results of node health checks, text", _sniff, read, is_snapshot=True),)
