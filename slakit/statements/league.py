"""Published schedules side by side: what each would have paid for the same log and fee, and why not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

from risk.contract_rules.lines import Line, Statement
from risk.contract_rules.measurement_period import period_calendar
from risk.contract_rules.records import Records
from risk.contract_rules.statement import statement
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.incidents import Incident, UnitService
from schemas.money import Money, total
from schemas.periods import Period
from schemas.service_levels import Level
from slakit.load import load_deal
from slakit.paths import examples_dir
from slakit.statements.credits import log_document, number, percent, periods_of
from slakit.statements.gather import merged, read_log
from slakit.statements.importers.form import Options
from slakit.statements.words import LOSSES, NO_NOTICE, NOTHING_DOWN, PAYS_NOTHING, TARGET_MET, TOO_SHORT

UTC_MONTHS = Deal(schema_version=1)
"""Terms of the periods of the table."""
WHOLE = "all-units"
"""Unit that stands for everything the log is about."""
SERVICE = "service"
EARLIEST = "the earliest reading of a schedule that leaves open from what the time runs"
_BLANK = re.compile(r"[a-z_]+(?:\.[A-Za-z0-9_*-]+|\[\d+\])+ is not stated: ")
WITHOUT_NODES = ("fabric", "storage", "control_plane")
"""Levels whose units contain no nodes: the site stands for them, so that the whole log is down or is not."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One published schedule."""

    id: str
    deal: Deal


def schedules(folder: Path | None = None) -> tuple[Schedule, ...]:
    """Return the schedules of a folder of deal files, by id; those that come with slakit when None.

    Raises
    ------
    DealError
        When the folder holds none, or one that is wrong.
    """
    place = folder or examples_dir() / "schedules"
    files = sorted(place.glob("*.yaml"))
    if not files:
        raise DealError([Problem("schedules", str(place), "a folder of deal files", "name another folder")])
    return tuple(Schedule(path.stem, load_deal(path).deal) for path in files)


def league(
    chosen: Sequence[Schedule],
    incidents: Sequence[Incident],
    fee: Money,
    periods: Sequence[Period],
    as_of: datetime | None = None,
) -> list[dict[str, Any]]:
    """Return a row for each service level of each schedule, what pays most first.

    Parameters
    ----------
    incidents : the log. A level of single nodes looks at each of its units; any other level is down while all of its
        units are.
    fee : monthly fee of one unit; the whole pays that of all units.
    periods : calendar months, in UTC, since no schedule names its zone.
    as_of : when it is asked; a claim that is then too late is lost.
    """
    rows = [row for one in chosen for row in _rows(one, incidents, fee, periods, as_of)]
    return sorted(rows, key=_dearest_first)


def _dearest_first(row: dict[str, Any]) -> tuple[bool, Decimal, str, str]:
    credit = row["credit"]
    return credit is None, -Decimal(credit["amount"]) if credit else Decimal(0), row["schedule"], row["service_level"]


def _rows(
    schedule: Schedule, incidents: Sequence[Incident], fee: Money, periods: Sequence[Period], as_of: datetime | None
) -> Iterator[dict[str, Any]]:
    for level_id, level in schedule.deal.service_levels.items():
        measured: Level = "site" if level.level in WITHOUT_NODES else level.level
        looked_at = {} if measured == "node" else {"level": measured, "down_when": "all_down"}
        deal = schedule.deal.revise(
            {
                "commercial": {"currency": fee.currency, "charges": {}, "term": {"months": 12}},
                "service_levels": {level_id: level.model_copy(update=looked_at)},
                "unknown": {
                    path: reason
                    for path, reason in schedule.deal.unknown.items()
                    if not path.startswith("service_levels.") or path.startswith(f"service_levels.{level_id}.")
                },
                "provenance": {},
            }
        )
        since = period_calendar(UTC_MONTHS).plus(periods[0], -1).start(UTC_MONTHS.measurement.zone)
        records = _records(incidents, fee, measured, since)
        try:
            found = statement(deal, records, periods, as_of)
        except (DealError, MissingTermError, NotComputedError) as error:
            yield _row(schedule, level_id, None, _refusal(error))
        else:
            yield _row(schedule, level_id, found, None)


def _records(incidents: Sequence[Incident], fee: Money, level: Level, since: datetime) -> Records:
    """Return the log on units of the level that a schedule measures, in service since one period before the first."""
    names = list(dict.fromkeys(incident.unit_id for incident in incidents))
    whole = level != "node"
    parent = WHOLE if whole else None
    units = [
        UnitService(
            unit_id=name, level="node", service=SERVICE, monthly_fee=fee.amount, parent_id=parent, in_service_from=since
        )
        for name in names
    ]
    if whole:
        units.append(
            UnitService(
                unit_id=WHOLE, level=level, service=SERVICE, monthly_fee=fee.amount * len(names), in_service_from=since
            )
        )
    return Records(incidents=[one.model_copy(update={"level": "node"}) for one in incidents], units=units)


def _row(schedule: Schedule, level_id: str, found: Statement | None, refused: str | None) -> dict[str, Any]:
    level = schedule.deal.service_levels[level_id]
    row: dict[str, Any] = {
        "schedule": schedule.id,
        "title": schedule.deal.title,
        "service_level": level_id,
        "target": None if level.target is None else f"{level.target:f}",
        "shape": level.credit.shape,
    }
    if found is None:
        return row | {
            "window_minutes": None, "counted_minutes": None, "availability": None, "availability_percent": None,
            "credit": None, "days_added": 0, "claimable_until": None, "claimable_until_is": None,
            "claim": _claim(schedule.deal), "claim_window": _claim_window(schedule.deal), "reason": refused,
        }  # fmt: skip
    lines = [line for line in found.lines if line.service_level == level_id]
    worst = min((line for line in lines if line.availability is not None), key=_availability, default=None)
    why_not = next((line.not_computed for line in lines if line.not_computed), None)
    credit = total((line.payable for line in lines), found.currency)
    reason = why_not or _reason(lines, credit, level.target is not None, schedule.deal.measurement.starts_at)
    if reason == NO_NOTICE:
        worst = None  # when its clock started is not known, and so neither is an availability
    until = _claimable_until(lines)
    return row | {
        "window_minutes": number(worst.window_minutes) if worst else None,
        "counted_minutes": number(worst.counted_minutes) if worst else None,
        "availability": str(worst.availability) if worst else None,
        "availability_percent": percent(worst.availability) if worst else None,
        "credit": None if why_not else credit.as_json(),
        "days_added": sum(line.days_added for line in lines),
        "claimable_until": _text(until),
        "claimable_until_is": EARLIEST if until and _is_open(schedule.deal) else None,
        "claim": _claim(schedule.deal),
        "claim_window": _claim_window(schedule.deal),
        "reason": None if reason is None else _without_paths(reason),
    }


def _claimable_until(lines: Sequence[Line]) -> datetime | None:
    """Return from when on a claim is late, the earliest moment where that is open; None where it is not known."""
    found = [moment for line in lines for moment in (line.claim_by, *line.claim_by_readings) if moment is not None]
    return min(found, default=None)


def _is_open(deal: Deal) -> bool:
    """Return whether the schedule leaves open from what the time for a claim runs."""
    return deal.blank("credits.process.window_from") is not None


def _refusal(error: DealError | MissingTermError | NotComputedError) -> str:
    """Return why a schedule cannot be computed, without advice to edit it: it is a published one."""
    match error:
        case MissingTermError():
            words = f"a term that {error.needed_by} needs is not stated"
        case NotComputedError():
            words = f"{error.what} is not computed by this version"
        case _:
            words = "; ".join(
                f"{problem.found} was found where {problem.expected} is needed" for problem in error.problems
            )
    return _without_paths(words)


def _without_paths(words: str) -> str:
    """Return a reason without the paths of the terms that are blank, which only the file of the schedule knows.

    >>> _without_paths("the claim is late, and credits.process.late is not stated: that was not found")
    'the claim is late, and that was not found'
    """
    return _BLANK.sub("", words)


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _availability(line: Line) -> Fraction:
    assert line.availability is not None
    return line.availability


def _claim(deal: Deal) -> str:
    """Return how a credit is claimed, in words."""
    process = deal.credits.process
    if process.mode == "automatic":
        return "given without a claim"
    if deal.blank("credits.process.window_days"):
        return "must be claimed; no time for it was found"
    blank = deal.blank("credits.process.window_from")
    window = _claim_window(deal)
    if blank:
        return f"must be claimed within {window}; {blank.split(': ', 1)[1]}"
    since = {
        "period_end": "the end of the month",
        "incident_end": "the end of the outage",
        "incident_start": "the start of the outage",
        "statement": "the statement",
        "next_period_end": "the end of the month after the outage",
    }[process.window_from]
    return f"must be claimed by {since}" if process.window_days == 0 else f"must be claimed within {window} of {since}"


def _claim_window(deal: Deal) -> str:
    """Return how long there is to claim, in two or three words."""
    process = deal.credits.process
    if process.mode == "automatic":
        return "no claim"
    if deal.blank("credits.process.window_days"):
        return "no time found"
    if process.window_months is not None:
        return _so_many(process.window_months, "month")
    if process.window_business_days is not None:
        return _so_many(process.window_business_days, "Business Day")
    if process.window_days == 0 and process.window_from == "next_period_end":
        return "month after"
    return _so_many(process.window_days, "day")


def _so_many(number: int, of: str) -> str:
    return f"{number} {of}{'' if number == 1 else 's'}"


def _reason(lines: Sequence[Line], credit: Money, has_target: bool, starts_at: str) -> str | None:
    """Return why nothing is paid, None where something is."""
    if credit.amount:
        return None
    if any(line.days_added for line in lines):
        return "days are added to the term instead of money"
    lost = next((reason for line in lines for reason in line.lost), None)
    if lost is not None:
        return LOSSES[lost]
    counted = sum(line.counted_minutes for line in lines)
    down = sum(line.down_minutes for line in lines)
    if not down:
        return NO_NOTICE if starts_at in ("customer_notice", "ticket_confirmed") else NOTHING_DOWN
    if not counted:
        return TOO_SHORT
    return TARGET_MET if has_target and all(line.target_met for line in lines) else PAYS_NOTHING


def compared(
    chosen: Sequence[Schedule],
    logs: Sequence[Path],
    options: Options,
    fee: Money,
    *,
    form: str | None = None,
    periods: str | None = None,
    as_of: datetime | None = None,
    monitor: str | None = None,
) -> dict[str, Any]:
    """Return the league table of some logs as one document.

    Parameters
    ----------
    monitor : the monitor whose records are read beside those that name none; no schedule says which of two decides.

    Raises
    ------
    DealError
        When a log must be refused, holds no outage or records of one unit by two monitors, or the periods cannot be
        told.
    """
    read = [read_log(path, options, form) for path in logs]
    incidents = merged(incident for log in read for incident in log.imported.incidents)
    if options.unit_id is not None:
        incidents = tuple(one for one in incidents if one.unit_id == options.unit_id)
    if not incidents:
        found = f"no record of {options.unit_id!r}" if options.unit_id else "no record of an outage"
        raise DealError([Problem("LOG", found, "a log with outages", "name another log or unit")])
    incidents = _by_one_monitor(incidents, monitor)
    asked = periods_of(UTC_MONTHS, periods, incidents, as_of)
    return {
        "fee": fee.as_json(),
        "asked": [str(period) for period in asked],
        "units": list(dict.fromkeys(incident.unit_id for incident in incidents)),
        "monitor": monitor,
        "rows": league(chosen, incidents, fee, asked, as_of),
        "settings": [
            "Months are calendar months in UTC: no schedule says in which zone.",
            "A level above the single node is taken as down while every unit of the log is down.",
            "Nothing is excluded: what a provider could prove as maintenance or force majeure is not in a log.",
            *([f"Records of other monitors than {monitor} are left out."] if monitor else []),
        ],
        "logs": [log_document(log) for log in read],
    }


def _by_one_monitor(incidents: Sequence[Incident], monitor: str | None) -> tuple[Incident, ...]:
    """Return the records of one monitor, and those that name none, as a log of its own."""
    monitors: dict[str, list[str]] = {}
    for incident in incidents:
        if incident.monitor_id is not None:
            names = monitors.setdefault(incident.unit_id, [])
            names += [] if incident.monitor_id in names else [incident.monitor_id]
    known = list(dict.fromkeys(name for names in monitors.values() for name in names))
    if monitor is not None and monitor not in known:
        expected = f"one of {', '.join(known)}" if known else "a log that names monitors"
        raise DealError([Problem("--monitor", repr(monitor), expected, "correct it or leave it out")])
    unit, names = next(((unit, names) for unit, names in monitors.items() if len(names) > 1), (None, []))
    if monitor is None and unit is not None:
        found = f"records of {unit!r} by {len(names)} monitors: {', '.join(names)}"
        expected = "records of one, since no schedule says which of them decides"
        raise DealError([Problem("LOG", found, expected, f"choose one, such as --monitor {names[0]}")])
    kept = (one for one in incidents if monitor is None or one.monitor_id in (None, monitor))
    return tuple(one.model_copy(update={"monitor_id": None}) for one in kept)
