"""Checks of health that fail and pass: a failing check begins an incident, a passing one of the same kind ends it.

Between two runs of a check nothing is known, so the ends of an incident have bounds. A passed check by itself, or one
of another kind, ends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from schemas.incidents import Evidence
from slakit.statements.importers.form import Options
from slakit.statements.importers.imported import Bound, Collector, State


@dataclass(frozen=True, slots=True)
class Check:
    """What one check of one unit said at one time."""

    at: datetime
    unit: str
    name: str
    """What was checked; only the same check can end an incident."""
    state: State | None
    """None where it passed."""
    line: int
    raw: str
    cause: str = ""
    fault_code: str | None = None
    metric: str | None = None
    measured: Decimal | None = None
    counts: bool = True
    """Whether its record is accounted for here."""
    passes_all_below: bool = False
    """Whether a passed check ends those whose names begin with its own."""
    found_by: str | None = None
    """Monitor that made it."""


@dataclass(slots=True)
class _Failing:
    first: Check
    since_good: datetime | None
    last_at: datetime
    also: list[Evidence] = field(default_factory=list)


def add(found: Collector, checks: Iterable[Check], options: Options, *, start_is_exact: bool = False) -> None:
    """Add the incidents of checks, each record of a check accounted for.

    Parameters
    ----------
    start_is_exact : whether a failing record is written when the fault happens, not when a check is next run.
    """
    failing: dict[tuple[str, str], _Failing] = {}
    good_at: dict[tuple[str, str], datetime] = {}
    for check in sorted(checks, key=lambda one: (one.at, one.line)):
        key = (check.unit, check.name)
        if check.state is None:
            _pass(found, failing, good_at, check, options, start_is_exact=start_is_exact)
            continue
        now = failing.get(key)
        if now is not None and now.first.state == check.state:
            now.last_at = check.at
            now.also.append(found.log.evidence(check.line, check.raw))
            found.use(int(check.counts))
            continue
        if now is not None:  # another state: the former ends where this one begins
            _add(found, failing.pop(key), check.at, options, start_is_exact=start_is_exact)
        failing[key] = _Failing(check, good_at.get(key), check.at)
    for now in failing.values():
        _add(found, now, None, options, start_is_exact=start_is_exact)


def _pass(
    found: Collector,
    failing: dict[tuple[str, str], _Failing],
    good_at: dict[tuple[str, str], datetime],
    check: Check,
    options: Options,
    *,
    start_is_exact: bool,
) -> None:
    key = (check.unit, check.name)
    good_at[key] = check.at
    ended = [
        name
        for name in failing
        if name == key or (check.passes_all_below and name[0] == check.unit and name[1].startswith(check.name))
    ]
    for name in ended:
        now = failing.pop(name)
        good_at[name] = check.at
        now.also.append(found.log.evidence(check.line, check.raw))
        _add(found, now, check.at, options, start_is_exact=start_is_exact)
    if ended:
        found.use(int(check.counts))
    elif check.counts:
        found.leave_out("a passed check, which ends nothing by itself")


def _add(found: Collector, now: _Failing, until: datetime | None, options: Options, *, start_is_exact: bool) -> None:
    first = now.first
    made = found.incident(
        line=first.line,
        raw=first.raw,
        counts=first.counts,
        id=f"{found.log.name}:{first.line}:{first.unit}:{first.at:%Y%m%dT%H%M%SZ}:{first.name}"[:200],
        unit_id=first.unit,
        level=options.unit_level or "node",
        state=first.state or "unknown",
        started_at=first.at,
        ended_at=until,
        detected_at=first.at,
        cause=first.cause or first.name,
        fault_code=first.fault_code,
        metric=first.metric,
        measured=first.measured,
        monitor_id=first.found_by,
        also=now.also,
    )
    if made is None:
        return
    if not start_is_exact:
        found.bound(Bound(made.id, "started_at", now.since_good, first.at))
    if until is not None and until > now.last_at:
        found.bound(Bound(made.id, "ended_at", now.last_at, until))
