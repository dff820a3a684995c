"""The statement of credits of a deal from logs, as one document that the command prints and every report shows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from risk.contract_rules.exclusion_ledger import exclusion_ledger
from risk.contract_rules.intervals import exact_minutes, length, union
from risk.contract_rules.lines import Line, Right, Settlement, Statement
from risk.contract_rules.measurement_period import month_span, period_calendar
from risk.contract_rules.objection import statement_due
from risk.contract_rules.records import Records
from risk.contract_rules.register import Register
from risk.contract_rules.statement import statement
from risk.core.computed import Step
from schemas.deal import Deal
from schemas.errors import DealError, NotComputedError, Problem
from schemas.incidents import Evidence, Incident, UnitService
from schemas.money import Money
from schemas.periods import Cycle, Month, Period
from slakit.json_text import canonical_sha256
from slakit.load import LoadedDeal
from slakit.manifest import data_sha256, versions
from slakit.reports.clauses import Clauses
from slakit.statements.gather import Gathered, ReadLog, Sources, gathered
from slakit.statements.importers.form import Options
from slakit.statements.terms import as_carried
from slakit.statements.units import check_known

ABOUT = ("logs", "not_mapped", "merged", "warnings", "nothing_read", "manifest", "against", "made_for")
"""Parts of a statement that say where its records came from, how another side's differ, and what it was made for."""
CITED = (
    "credit-process.claim", "credit-process.late", "credit-process.no-statement", "monitor-evidence.objection",
    "monitor-evidence.silent", "monitor-evidence.conflict", "outage-clock.minimum",
)  # fmt: skip
"""Paragraphs that pages cite whether or not a step rests on them."""
_PARAGRAPH = re.compile(r"\(([a-z][a-z0-9-]*\.[a-z][a-z0-9-]*)\)")
PERCENT_PLACES = 6
"""Digits of an availability in percent after the point."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement with everything it rests on."""

    deal: Deal
    gathered: Gathered
    statement: Statement
    document: dict[str, Any]
    clauses: Clauses

    @property
    def asked(self) -> dict[str, Any]:
        """Return what must be asked again to make the same statement of the same records."""
        return {
            "periods": self.document["asked"],
            "as_of": self.document["as_of"],
            "clauses": dict(sorted(self.clauses.numbers.items())),
            "about": {name: self.document[name] for name in ABOUT if name in self.document},
        }


def stated(
    loaded: LoadedDeal,
    sources: Sources,
    options: Options,
    *,
    form: str | None = None,
    periods: str | None = None,
    as_of: datetime | None = None,
    clauses: Clauses,
) -> Stated:
    """Return the statement of some logs.

    Parameters
    ----------
    periods : a period such as `2026-10`, or the first and last such as `2026-01..2026-06`; every period that a record
        of the logs reaches into when None.
    as_of : nothing after it is known; everything on record is when None.
    clauses : printed numbers of the contract.

    Raises
    ------
    DealError, MissingTermError, NotComputedError
        As reading the files and computing raise them.
    """
    found = gathered(loaded.deal, sources, options, form)
    deal = as_carried(loaded.deal)
    if periods is None and not found.records.incidents:
        raise found.no_period(period_calendar(deal, found.records.units).example)
    asked = periods_of(deal, periods, found.records.incidents, as_of, found.records.units)
    check_known(deal, found.records.units, asked, as_of)
    found = found.with_silence(deal, asked)
    result = statement(deal, found.records, asked, as_of)
    about = {
        "logs": [log_document(log) for log in found.logs],
        "not_mapped": dict(found.not_mapped),
        "merged": found.merged,
        "warnings": list(found.warnings),
        "nothing_read": found.nothing_read,
        "manifest": {
            "deal_sha256": loaded.sha256,
            "file_sha256": loaded.file_sha256,
            "terms_sha256": canonical_sha256(deal),
            "schema_version": deal.schema_version,
            "data_sha256": data_sha256(),
            "logs": {log.imported.file: log.sha256 for log in found.logs},
            "records": dict(found.files),
            **({} if clauses.copy is None else {"contract_sha256": clauses.copy}),
            "versions": versions(),
        },
    }
    document = statement_document(deal, found.records, result, asked, as_of, clauses, about)
    return Stated(deal, found, result, document, clauses)


def periods_of(
    deal: Deal,
    text: str | None,
    incidents: Sequence[Incident],
    as_of: datetime | None,
    units: Sequence[UnitService] = (),
) -> tuple[Period, ...]:
    """Return the periods of a text such as `2026-01..2026-06`, or those that the records reach into.

    Parameters
    ----------
    units : units on record, whose first day of service starts periods of a number of days.

    Raises
    ------
    DealError
        When the text names no periods, or there is nothing to take them from.
    MissingTermError
        When periods of a number of days are asked for and no record says when service started.
    """
    calendar = period_calendar(deal, units)
    example = calendar.example
    if text is None:
        if not incidents:
            raise _refused("no period, and no record to take one from", example, "add --period")
        first = min(i.started_at for i in incidents)
        last = max(i.ended_at or as_of or i.started_at for i in incidents)
        start, end = calendar.of(first), calendar.of(max(last, first))
    else:
        try:
            ends = [calendar.parse(part.strip()) for part in text.split("..")]
        except ValueError:
            raise _refused(repr(text), example, "write one, or two with .. between") from None
        if len(ends) > 2 or ends[0] > ends[-1]:
            raise _refused(repr(text), "a first and a last period in order", "write them as 2026-01..2026-06")
        start, end = ends[0], ends[-1]
    found: list[Month | Cycle] = [start]
    while found[-1] < end:
        if len(found) >= MOST_PERIODS:
            raise _refused(f"more than {MOST_PERIODS} periods", f"at most {MOST_PERIODS}", "name fewer with --period")
        found.append(found[-1].plus(1))
    return tuple(found)


MOST_PERIODS = 240


def _refused(found: str, expected: str, remedy: str) -> DealError:
    return DealError([Problem("--period", found, expected, remedy)])


def statement_document(
    deal: Deal,
    records: Records,
    result: Statement,
    periods: Sequence[Period],
    as_of: datetime | None,
    clauses: Clauses,
    about: Mapping[str, Any],
) -> dict[str, Any]:
    """Return a statement as JSON knows it.

    Parameters
    ----------
    about : `logs`, `not_mapped`, `merged` and `manifest`, which say where the records came from.
    """
    disputed = _disputed(deal, records, result, periods, as_of)
    by_unit: dict[str, list[Incident]] = {}
    for incident in records.incidents:
        by_unit.setdefault(incident.unit_id, []).append(incident)
    zone = deal.measurement.zone
    lines = _each_step_once([_line(line, by_unit, clauses, zone) for line in result.lines])
    not_computed = list(dict.fromkeys(line.not_computed for line in result.lines if line.not_computed))
    return {
        "deal": deal.title,
        "currency": result.currency,
        "zone": zone,
        "as_of": _moment(as_of),
        "asked": [str(period) for period in periods],
        "periods": lines,
        "settlements": [_settlement(one, deal, clauses) for one in result.settlements],
        "rights": [_right(right, clauses) for right in result.rights],
        "total": result.total.as_json(),
        "lost": {reason: amount.as_json() for reason, amount in result.lost.items()},
        "not_computed": not_computed,
        "claim": _claim(_terms(deal, periods[-1])),
        "claim_by": min(
            (
                line["claim_by"]
                for line, found in zip(lines, result.lines, strict=True)
                if line["claim_by"] and line["claim_received"] is None and found.payable.amount
            ),
            default=None,
        ),
        "clauses": {one: clauses.numbers[one] for one in CITED if one in clauses.numbers},
        "exclusions": _exclusions(deal, records, result, periods, as_of, clauses),
        "checks": [_step(step, clauses) for step in result.checks],
        "disputed": disputed,
        "notes": [*(_cited(note, clauses) for note in result.notes), *_disputed_words(disputed)],
        "incidents": [_incident(incident) for incident in records.incidents],
        **about,
    }


def _cited(note: str, clauses: Clauses) -> str:
    """Return a note with the number of the clause in the place of the id of its paragraph."""
    return _PARAGRAPH.sub(
        lambda match: f"(clause {clauses.numbers[match[1]]})" if match[1] in clauses.numbers else match[0], note
    )


def _each_step_once(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out steps that repeat those of an earlier line without downtime word for word, and name its unit instead.

    Thousands of units without an outage would otherwise say the same thing thousands of times.
    """
    seen: dict[tuple[str, str, str], str] = {}
    for line in lines:
        line["steps_of"] = None
        if line["down_minutes"] or line["unknown_minutes"] or line["degraded_minutes"]:
            continue
        key = (line["period"], line["service_level"], str(line["steps"]))
        first = seen.setdefault(key, line["unit"])
        if first != line["unit"]:
            line["steps"], line["steps_of"] = [], first
    return lines


def _line(line: Line, by_unit: Mapping[str, Sequence[Incident]], clauses: Clauses, zone: str) -> dict[str, Any]:
    span = line.span or month_span(line.period, zone)
    concerned = [
        incident
        for incident in by_unit.get(line.unit, ())
        if incident.started_at < span[1] and (incident.ended_at is None or span[0] < incident.ended_at)
    ]
    return {
        "period": str(line.period),
        "service_level": line.service_level,
        "service": line.service,
        "unit": line.unit,
        "head": line.head,
        "window_minutes": number(line.window_minutes),
        "up_minutes": number(line.up_minutes),
        "down_minutes": number(line.down_minutes),
        "excluded_minutes": number(line.excluded_minutes),
        "disregarded_minutes": number(line.disregarded_minutes),
        "degraded_minutes": number(line.degraded_minutes),
        "weighted_minutes": number(line.weighted_minutes),
        "disputed_minutes": number(line.disputed_minutes),
        "counted_minutes": number(line.counted_minutes),
        "unknown_minutes": number(line.unknown_minutes),
        "availability": None if line.availability is None else str(line.availability),
        "availability_percent": percent(line.availability),
        "target_met": line.target_met,
        "credit_fraction": None if line.credit_fraction is None else number(line.credit_fraction),
        "base": _amount(line.base, line.credit.currency),
        "credit": None if line.not_computed else line.credit.as_json(),
        "payable": None if line.not_computed else line.payable.as_json(),
        "days_added": line.days_added,
        "lost": {reason: amount.as_json() for reason, amount in line.lost.items()},
        "not_computed": line.not_computed,
        "claim_by": _moment(line.claim_by),
        "claim_received": next(
            (shown(step.inputs["claim_received"]) for step in line.steps if "claim_received" in step.inputs), None
        ),
        "incidents": [incident.id for incident in concerned],
        "log_lines": list(dict.fromkeys(str(e) for incident in concerned for e in incident.evidence)),
        "steps": [_step(step, clauses) for step in line.steps],
    }


def _exclusions(
    deal: Deal,
    records: Records,
    result: Statement,
    periods: Sequence[Period],
    as_of: datetime | None,
    clauses: Clauses,
) -> list[dict[str, Any]]:
    """Return how each stretch of downtime inside a window was judged, line by line."""
    if not records.windows:
        return []
    register = Register(deal, records, periods, as_of)
    rows = []
    for line in result.lines:
        if line.head != "availability" or not line.down_minutes:
            continue
        unit = register.tree.units[line.unit]
        for row in exclusion_ledger(register, unit, line.service_level, line.period):
            rows.append(
                {
                    "period": str(line.period),
                    "service_level": line.service_level,
                    "unit": line.unit,
                    "start": _moment(row.start),
                    "end": _moment(row.end),
                    "minutes": number(row.minutes),
                    "head": row.head,
                    "window": row.window,
                    "notice": row.notice,
                    "paragraph": row.paragraph,
                    "clause": clauses.numbers.get(row.paragraph),
                    "reason": row.reason,
                    "evidence": [_evidence(line) for line in row.evidence],
                }
            )
    return rows


READINGS = {
    "provider": "the provider's monitor",
    "customer": "the customer's monitor",
    "longer": "the longer of the two",
    "shorter": "the shorter of the two",
}
"""Ways to settle what two monitors dispute, in words."""


def _disputed(
    deal: Deal, records: Records, result: Statement, periods: Sequence[Period], as_of: datetime | None
) -> dict[str, Any] | None:
    """Return what is owed under each reading of what two monitors dispute, None where nothing is disputed."""
    minutes = sum((Fraction(line.disputed_minutes) for line in result.lines), Fraction(0))
    if not minutes:
        return None
    totals: dict[str, Any] = {}
    for reading in READINGS:
        terms = deal.revise({"measurement": {**_typed(deal, "measurement"), "conflict": reading}})
        try:
            totals[reading] = statement(terms, records, periods, as_of).total.as_json()
        except NotComputedError:
            totals[reading] = None
    return {"minutes": number(minutes), "totals": totals}


def _typed(deal: Deal, section: str) -> dict[str, Any]:
    """Return a section as it was typed."""
    found: dict[str, Any] = deal.model_dump(mode="python", exclude_unset=True).get(section, {})
    return found


def _disputed_words(disputed: Mapping[str, Any] | None) -> list[str]:
    if disputed is None:
        return []
    known = [(READINGS[name], total) for name, total in disputed["totals"].items() if total is not None]
    amounts = ", ".join(f"{total['currency']} {Decimal(total['amount']):,} by {words}" for words, total in known)
    return [f"What is owed in all turns on the disputed minutes: {amounts}."] if known else []


def _terms(deal: Deal, period: Period) -> Deal:
    """Return the terms of a period."""
    return deal.at(period.terms_day()) if deal.amendments else deal


def _claim(terms: Deal) -> dict[str, Any] | None:
    """Return what becomes of a claim that is late, None where no claim is needed."""
    process = terms.credits.process
    if process.mode == "automatic":
        return None
    late = None if terms.blank("credits.process.late") is not None else process.late
    return {"late": late, "late_share": number(process.late_share) if late == "reduced" else None}


def _settlement(one: Settlement, deal: Deal, clauses: Clauses) -> dict[str, Any]:
    terms, due = _terms(deal, one.period), None
    if one.object_by_if_stated_when_due is not None:
        due = statement_due(month_span(one.period, terms.measurement.zone), terms).value
    return {
        "period": str(one.period),
        "service": one.service,
        "contract_year": one.contract_year,
        "fee": _amount(one.fee, one.credit.currency),
        "planned_year_fee": _amount(one.planned_year_fee, one.credit.currency),
        "given_before": one.given_before.as_json(),
        "credit": one.credit.as_json(),
        "payable": one.payable.as_json(),
        "lost": {reason: amount.as_json() for reason, amount in one.lost.items()},
        "brought_forward": one.brought_forward.as_json(),
        "carried_forward": one.carried_forward.as_json(),
        "stated_on": None if one.stated_on is None else one.stated_on.isoformat(),
        "object_by": _moment(one.object_by),
        "due_by": _moment(due),
        "object_by_if_stated_when_due": _moment(one.object_by_if_stated_when_due),
        "steps": [_step(step, clauses) for step in one.steps],
    }


def _right(right: Right, clauses: Clauses) -> dict[str, Any]:
    return {
        "kind": right.kind,
        "form": right.form,
        "term": right.term,
        "service_level": right.service_level,
        "unit": right.unit,
        "period": str(right.period),
        "periods": [str(period) for period in right.periods],
        "arises": _moment(right.arises),
        "exercise_from": _moment(right.exercise_from),
        "exercise_by": _moment(right.exercise_by),
        "scope": right.scope,
        "steps": [_step(step, clauses) for step in right.steps],
    }


def _step(step: Step, clauses: Clauses) -> dict[str, Any]:
    return {
        "paragraph": step.paragraph,
        "clause": clauses.numbers.get(step.paragraph),
        "rule": step.rule,
        "result": shown(step.result),
        "inputs": {name: shown(value) for name, value in step.inputs.items()},
        "term": step.term,
    }


def _incident(incident: Incident) -> dict[str, Any]:
    return {
        "id": incident.id,
        "unit": incident.unit_id,
        "level": incident.level,
        "state": incident.state,
        "started_at": _moment(incident.started_at),
        "ended_at": _moment(incident.ended_at),
        "is_open": incident.ended_at is None,
        "detected_at": _moment(incident.detected_at),
        "notice_at": _moment(incident.notice_at),
        "ticket_at": _moment(incident.ticket_at),
        "readmitted_at": _moment(incident.readmitted_at),
        "minutes": None if incident.ended_at is None else number(_minutes(incident)),
        "monitor": incident.monitor_id,
        "cause": incident.cause,
        "cause_party": incident.cause_party,
        "evidence": [_evidence(line) for line in incident.evidence],
    }


def _minutes(incident: Incident) -> Fraction | int:
    assert incident.ended_at is not None
    return exact_minutes(length(union([(incident.started_at, incident.ended_at)])))


def _evidence(line: Evidence) -> dict[str, Any]:
    return {"file": line.file, "line": line.line, "text": line.text}


def log_document(log: ReadLog) -> dict[str, Any]:
    """Return what became of every record of a log, as JSON knows it."""
    found = log.imported
    return {
        "file": found.file,
        "sha256": log.sha256,
        "format": found.form,
        "title": log.title,
        "records": found.records,
        "used": found.used,
        "duplicates": found.duplicates,
        "left_out": dict(found.left_out),
        "unknown_states": dict(found.unknown_states),
        "skipped": [{"line": s.line, "reason": s.reason, "text": s.text} for s in found.skipped],
        "bounds": [
            {"incident": b.incident, "field": b.field, "earliest": _moment(b.earliest), "latest": _moment(b.latest)}
            for b in found.bounds
        ],
        "notes": list(found.notes),
    }


def number(value: Fraction | Decimal | int) -> int | str:
    """Return a number as JSON knows it: whole, a decimal where it ends, else a fraction."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return int(exact)
    rest = exact.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest == 1:
        return f"{(Decimal(exact.numerator) / Decimal(exact.denominator)).normalize():f}"
    return str(exact)


def percent(availability: Fraction | None) -> str | None:
    """Return an availability in percent, rounded half up to `PERCENT_PLACES` digits; 100 only where it is whole.

    Examples
    --------
    >>> percent(Fraction(143, 144)), percent(Fraction(1)), percent(1 - Fraction(1, 10**9))
    ('99.305556', '100.000000', '99.999999')
    """
    if availability is None:
        return None
    one = 10**PERCENT_PLACES
    scaled = int((availability * 100 * one + Fraction(1, 2)) // 1)
    if scaled >= 100 * one and availability < 1:
        scaled = 100 * one - 1
    whole, rest = divmod(scaled, one)
    return f"{whole}.{rest:0{PERCENT_PLACES}d}"


def shown(value: object) -> Any:
    """Return a fact of a step as JSON knows it."""
    match value:
        case None | bool() | str() | int():
            return value
        case Fraction() | Decimal():
            return number(value)
        case Money():
            return value.as_json()
        case datetime():
            return _moment(value)
        case date():
            return value.isoformat()
        case Mapping():
            return {str(key): shown(inner) for key, inner in value.items()}
        case Iterable():
            return [shown(inner) for inner in value]
    return str(value)


def _moment(moment: datetime | None) -> str | None:
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _amount(value: Fraction, currency: str) -> dict[str, str]:
    """Return money that is not rounded yet, to a millionth."""
    return {"amount": str(number(Fraction(round(value * 1_000_000), 1_000_000))), "currency": currency}
