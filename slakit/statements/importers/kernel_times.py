"""Times of a kernel log: local, without a year, since boot, or with an offset; each placed, or refused with the reason.

Notes
-----
A time since boot is placed by a line of the same boot that holds both clocks (the kernel's line on setting the system
clock, or a record of the audit system). Without one, only its latest time is known: that of a machine whose last line
was written when the log was captured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from slakit.statements.importers.clock import MONTHS, WEEKDAYS, Clock, Reading, exact_seconds
from slakit.statements.importers.form import Options
from slakit.statements.importers.times import TimeError, from_epoch

NEW_BOOT_SECONDS = 30
"""A time since boot that falls back by more than this begins a new boot. [s]"""
SLACK_DAYS = 4
"""How far a line without a year may lie before the newest one without being of the next year. [day]"""
LONGEST_MONTH, LONGEST_YEAR = 31, 12 * 31
"""Days by which lines without a year are put in order, all months being alike. [day]"""

_PRIORITY = r"(?:<\d{1,3}>)?(?:[a-z0-9]{2,9}\s*:[a-z]{3,7}\s*:\s?)?"
_LOCAL = re.compile(_PRIORITY + r"\[([A-Z][a-z]{2}) ([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})\] ?(.*)")
_SINCE_BOOT = re.compile(_PRIORITY + r"\[ *(\d{1,10}\.\d{1,9})\] ?(.*)")
_KMSG = re.compile(r"(\d{1,4}),(\d{1,20}),(\d{1,18}),[^;]{0,200};(.*)")
_ISO = re.compile(
    _PRIORITY + r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|[+-]\d\d:?\d\d))?) (.*)", re.ASCII
)
_NO_YEAR = re.compile(r"(?:<\d{1,3}>)?([A-Z][a-z]{2}) +(\d{1,2}) (\d\d):(\d\d):(\d\d)(?:\.\d{1,9})? (\S.*)")
_FROM = re.compile(r"([A-Za-z0-9][\w.-]{0,252}) ([\w./()-]{1,60})(?:\[\d{1,10}\])?: (.*)")
_HAS_OFFSET = re.compile(r"(?:Z|[+-]\d\d:?\d\d)$")
_BOTH_CLOCKS = re.compile(r"setting system clock to \S+ UTC \((\d{9,10})\)|\baudit\((\d{9,10}\.\d{1,3}):\d+\)")


@dataclass(slots=True)
class KernelLine:
    """One line, its time not yet placed."""

    number: int
    raw: str
    form: str
    """`local`, `since boot`, `iso`, `no year`, or blank where it has no time."""
    written: str
    message: str
    host: str | None = None
    program: str | None = None
    """Where the line names its writer; the kernel's own lines name `kernel`."""
    since_boot: Decimal | None = None
    """[s]"""
    boot: int = 0
    year: int = 0
    """Turns of a year before it in the log, where it writes none."""
    naive: datetime | None = None
    """Time without a zone; in the year 2000 where the line writes none."""
    reason: str | None = None
    """Why it has no time."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A time in UTC."""

    at: datetime
    earliest: datetime | None
    latest: datetime | None
    """Bounds, where the time is not known exactly; both None where it is."""
    is_exact: bool = True


def parsed(number: int, line: str) -> KernelLine:
    """Return one line with its time as written."""
    if found := _LOCAL.match(line.lstrip()):
        weekday, month, day, hour, minute, second, year, message = found.groups()
        made = KernelLine(number, line, "local", found[0][: found.start(8)], message)
        made.naive, made.reason = _naive(year, month, day, hour, minute, second)
        if made.naive is not None and weekday.casefold() != WEEKDAYS[made.naive.weekday()]:
            made.naive, made.reason = None, f"contradicts itself: {made.naive:%Y-%m-%d} was no {weekday}"
        return made
    if found := _SINCE_BOOT.match(line.lstrip()):
        made = KernelLine(number, line, "since boot", found[1], found[2], since_boot=Decimal(found[1]))
        return _with_writer(made, only_kernel=True)
    if found := _KMSG.match(line):
        return KernelLine(number, line, "since boot", found[3], found[4], since_boot=Decimal(found[3]) / 1_000_000)
    if found := _ISO.match(line.lstrip()):
        return _with_writer(KernelLine(number, line, "iso", found[1], found[2]))
    if found := _NO_YEAR.match(line):
        month, day, hour, minute, second, rest = found.groups()
        made = _with_writer(KernelLine(number, line, "no year", line[: found.start(6)].strip(), rest))
        made.naive, made.reason = _naive("2000", month, day, hour, minute, second)
        return made
    return KernelLine(number, line, "", "", line, reason="has no time")


def _with_writer(line: KernelLine, *, only_kernel: bool = False) -> KernelLine:
    """Take the host and the program from the front of the message of a line."""
    found = _FROM.match(line.message)
    if found and not (only_kernel and found[2] != "kernel"):
        line.host, line.program, line.message = found.groups()
        if stamp := _SINCE_BOOT.match(line.message):
            line.message = stamp[2]
    return line


def _naive(year: str, month: str, day: str, hour: str, minute: str, second: str) -> tuple[datetime | None, str | None]:
    if month.casefold() not in MONTHS:
        return None, f"{month!r} is no month"
    try:
        return datetime(  # noqa: DTZ001 - its zone follows
            int(year), MONTHS.index(month.casefold()) + 1, int(day), int(hour), int(minute), int(second)
        ), None
    except ValueError as error:
        return None, f"is no time: {error}"


class KernelClock:
    """Places the lines of one log, each shown to it in the order of the file before the first is placed."""

    def __init__(self, clock: Clock, options: Options) -> None:
        """Start with nothing."""
        self.clock, self.options = clock, options
        self.needs: dict[str, int] = {}
        """Lines that could not be placed, by the option that was missing."""
        self._boot = 0
        self._latest: Decimal | None = None
        self._anchors: dict[int, list[tuple[Decimal, datetime]]] = {}
        self._newest: KernelLine | None = None
        self._newest_day: int | None = None

    def see(self, line: KernelLine) -> None:
        """Take note of a line: of its boot, of both clocks where it holds them, of the turn of a year."""
        if line.since_boot is not None:
            self._see_boot(line, line.since_boot)
        elif line.form == "no year" and line.naive is not None:
            self._see_year(line, line.naive)

    def _see_boot(self, line: KernelLine, seconds: Decimal) -> None:
        if self._latest is not None and seconds < self._latest - NEW_BOOT_SECONDS:
            self._boot += 1
            self._latest = seconds
        line.boot = self._boot
        self._latest = seconds if self._latest is None else max(self._latest, seconds)
        if both := _BOTH_CLOCKS.search(line.message):
            try:
                booted = exact_seconds(from_epoch(both[1] or both[2]), -seconds)
            except TimeError:
                return
            self._anchors.setdefault(self._boot, []).append((seconds, booted))

    def _see_year(self, line: KernelLine, naive: datetime) -> None:
        """Count years from the first line on: a line is no more than `SLACK_DAYS` before the newest."""
        in_year = (naive.month - 1) * LONGEST_MONTH + naive.day
        newest = self._newest_day
        year = 0 if newest is None else max(0, -(-(newest - SLACK_DAYS - in_year) // LONGEST_YEAR))
        line.year = year
        if newest is None or year * LONGEST_YEAR + in_year >= newest:
            self._newest, self._newest_day = line, year * LONGEST_YEAR + in_year

    def _in_its_year(self, line: KernelLine, naive: datetime, captured: datetime) -> datetime:
        """Return the time of a line without a year: the newest line is the last such day before the capture.

        Raises
        ------
        TimeError
            When its year has no such day.
        """
        assert self._newest is not None
        assert self._newest.naive is not None
        for last in (captured.year + 1, captured.year, captured.year - 1):
            newest = _in_year(self._newest.naive, last)
            if newest is not None and newest <= captured + timedelta(days=1):
                there = _in_year(naive, last - self._newest.year + line.year)
                if there is not None:
                    return there
        raise TimeError(f"{line.written[:40]!r} falls on a day that its year does not have")

    def place(self, line: KernelLine) -> Placed:
        """Return when a line was written.

        Raises
        ------
        TimeError
            When it cannot be placed without guessing; the option that was missing is counted.
        """
        if line.since_boot is not None:
            return self._since_boot(line, line.since_boot)
        if line.form == "iso":
            if self.options.zone is None and not _HAS_OFFSET.search(line.written):
                raise self._missing("zone")
            return _placed(self.clock.read(line.written))
        if line.naive is None:
            raise TimeError(line.reason or "has no time")
        missing = [
            self._missing(option)
            for option, value, forms in (
                ("zone", self.options.zone, ("local", "no year")),
                ("captured_at", self.options.captured_at, ("no year",)),
            )
            if value is None and line.form in forms
        ]
        if missing:
            raise missing[0]
        naive = line.naive
        if line.form == "no year" and self.options.captured_at is not None and self.clock.zone is not None:
            captured = self.options.captured_at.astimezone(ZoneInfo(self.clock.zone)).replace(tzinfo=None)
            naive = self._in_its_year(line, naive, captured)
        return _placed(self.clock.local(naive))

    def _missing(self, option: str) -> TimeError:
        self.needs[option] = self.needs.get(option, 0) + 1
        return TimeError(_MISSING[option])

    def _since_boot(self, line: KernelLine, seconds: Decimal) -> Placed:
        anchors = self._anchors.get(line.boot)
        if anchors:
            before = [booted for stamp, booted in anchors if stamp <= seconds]
            return Placed(exact_seconds(before[-1] if before else anchors[0][1], seconds), None, None)
        assert self._latest is not None
        if line.boot != self._boot:
            raise TimeError("counts from an earlier boot, which nothing dates")
        if self.options.captured_at is None:
            raise self._missing("captured_at")
        at = exact_seconds(self.options.captured_at.astimezone(UTC), seconds - self._latest)
        return Placed(at, None, at, is_exact=False)


def _in_year(naive: datetime, year: int) -> datetime | None:
    """Return a time in another year, None where that has no such day."""
    try:
        return naive.replace(year=year)
    except ValueError:
        return None


def _placed(reading: Reading) -> Placed:
    if reading.later is None:
        return Placed(reading.at, None, None)
    return Placed(reading.at, reading.at, reading.later, is_exact=False)


_MISSING = {
    "zone": "has no offset: name the zone of the machine with --zone",
    "captured_at": "has no year or no date: say when the log was captured with --captured-at",
}
