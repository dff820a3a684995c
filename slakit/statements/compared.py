"""A statement and a counter-statement: the same terms on two sides' logs, and every minute on which they differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from risk.contract_rules.intervals import Span, clipped, difference, exact_minutes
from risk.contract_rules.lines import Line
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.register import Register
from schemas.incidents import Incident
from schemas.money import Money, total
from schemas.periods import Period
from slakit.load import LoadedDeal
from slakit.statements.credits import Stated, number, periods_of, stated
from slakit.statements.gather import Sources
from slakit.statements.importers.form import Options

Key = tuple[str, str, str, str]


def against(
    ours: Stated,
    loaded: LoadedDeal,
    sources: Sources,
    options: Options,
    *,
    form: str | None = None,
    as_of: datetime | None = None,
) -> Stated:
    """State the other side's logs on the same terms, put the comparison into our document, and return their statement.

    Parameters
    ----------
    sources : the other side's logs; windows, notices, units, ledger and tickets are the same for both.
    """
    asked = ours.document["asked"]
    theirs = stated(
        loaded,
        sources,
        options,
        form=form,
        periods=f"{asked[0]}..{asked[-1]}",
        as_of=as_of,
        clauses=ours.clauses,
    )
    periods = periods_of(ours.deal, f"{asked[0]}..{asked[-1]}", (), None, ours.gathered.records.units)
    ours.document["against"] = compared(ours, theirs, periods, as_of)
    return theirs


def compared(ours: Stated, theirs: Stated, periods: Sequence[Period], as_of: datetime | None) -> dict[str, Any]:
    """Return how two statements on the same terms differ.

    Returns
    -------
    dict
        `total` of this log, `other_total` and `difference` of both; `lines` that differ in minutes or money;
        `minutes`, every stretch of downtime that one log counts and the other does not, with the log lines that show
        it on each side; `logs` and `not_mapped` of the other side.
    """
    this, other = (Register(one.deal, one.gathered.records, periods, as_of) for one in (ours, theirs))
    ours_by, theirs_by = _by_key(ours.statement.lines), _by_key(theirs.statement.lines)
    keys = list(dict.fromkeys((*ours_by, *theirs_by)))
    currency = ours.statement.currency
    return {
        "total": ours.statement.total.as_json(),
        "other_total": theirs.statement.total.as_json(),
        "difference": _minus(ours.statement.total, theirs.statement.total),
        "lines": [
            row for key in keys if (row := _line(key, ours_by.get(key), theirs_by.get(key), currency)) is not None
        ],
        "minutes": [
            row
            for key in keys
            for row in _stretches(key, ours_by.get(key) or theirs_by[key], this, other, ours, theirs)
        ],
        "logs": theirs.document["logs"],
        "not_mapped": theirs.document["not_mapped"],
    }


def _by_key(lines: Sequence[Line]) -> dict[Key, Line]:
    return {(str(line.period), line.service_level, line.unit, line.head): line for line in lines}


def _line(key: Key, ours: Line | None, theirs: Line | None, currency: str) -> dict[str, Any] | None:
    """Return a line of both statements, None where they agree."""
    facts = [None if line is None else (line.counted_minutes, line.payable) for line in (ours, theirs)]
    if facts[0] == facts[1]:
        return None
    nothing = total((), currency)
    return {
        "period": key[0],
        "service_level": key[1],
        "unit": key[2],
        "head": key[3],
        "counted_minutes": number(ours.counted_minutes) if ours else None,
        "other_counted_minutes": number(theirs.counted_minutes) if theirs else None,
        "payable": ours.payable.as_json() if ours else None,
        "other_payable": theirs.payable.as_json() if theirs else None,
        "difference": _minus(ours.payable if ours else nothing, theirs.payable if theirs else nothing),
    }


def _minus(first: Money, second: Money) -> dict[str, str]:
    return (first - second).as_json()


def _stretches(
    key: Key, line: Line, this: Register, other: Register, ours: Stated, theirs: Stated
) -> Iterator[dict[str, Any]]:
    """Yield the stretches of one line that one side counts and the other does not."""
    if line.head != "availability":
        return
    span = line.span or month_span(line.period, this.terms(line.period).measurement.zone)
    counted = []
    for register in (this, other):
        unit = register.tree.units.get(line.unit)
        counted.append(
            () if unit is None else clipped(register.history(unit, line.service_level, line.period).counted, *span)
        )
    for side, spans in (("this", difference(counted[0], counted[1])), ("other", difference(counted[1], counted[0]))):
        for start, end in spans:
            yield {
                "period": key[0],
                "service_level": key[1],
                "unit": key[2],
                "start": _text(start),
                "end": _text(end),
                "minutes": number(exact_minutes(end - start)),
                "counted_by": side,
                "this_lines": _lines(ours.gathered.records.incidents, line.unit, (start, end)),
                "other_lines": _lines(theirs.gathered.records.incidents, line.unit, (start, end)),
            }


def _lines(incidents: Sequence[Incident], unit: str, span: Span) -> list[str]:
    """Return the log lines of a unit whose records reach into a stretch."""
    return list(
        dict.fromkeys(
            str(line)
            for incident in incidents
            if incident.unit_id == unit
            and incident.started_at < span[1]
            and (incident.ended_at is None or span[0] < incident.ended_at)
            for line in incident.evidence
        )
    )


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
