"""The cases of the clauses, worked by hand in words, run through the rules.

A clause folder holds `cases.yaml`, a list of cases. Each is worked on the deal of
`templates/clauses/base_case.yaml` and has these fields; only `id`, `title`, `worked`, `expect` and `shows` are needed.

    id, title     name and heading of the case
    terms         path of a term to its value, where it differs from the base deal
    amendments    amendments of the deal, as in a deal file
    months        periods that are stated, written as --period takes them; 2026-11 when left out
    as_of         when the statement is made; everything is known when left out
    units         list of {ids, level, monthly_fee, parent, from, to, prepaid_fraction}; one node `node-001` at 20,000
                  when left out; `ids` names one unit or a range such as node-001..node-100
    incidents     list of {unit, from, to, level, state, readmitted, notice, cause, cause_party, monitor, metric,
                  measured, fault_code}; `unit` may be a range
    windows       list of {kind, unit, from, to, event, fix_published, notice, announced}: `notice` is when it was
                  sent, `announced` the start and end that it names
    notices       list of {kind, sent}: claims, credit statements and reports
    tickets       list of {severity, opened, answered}
    rule, facts   instead of records: the rule of delivery or term that is asked, and what it is told
    worked        the arithmetic in sentences, printed as a worked example
    expect        total and lost in money; counted, excluded, window, unknown, degraded and disputed minutes,
                  availability and claim_by of the first line; object_by of the first settlement; late_from of a refund;
                  rights {arises, until}; note, words of a note of the statement
    shows         paragraphs of this clause whose steps the rules must name on the way
"""

import re
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

from risk.contract_rules import (
    adjusted_date,
    delay_damages,
    effective_term,
    long_stop,
    monthly_price,
    paragraphs,
    prepayment,
    take_or_pay,
    termination_refund,
)
from risk.contract_rules.lines import Statement
from risk.contract_rules.measurement_period import period_calendar
from risk.contract_rules.records import Records
from risk.contract_rules.statement import statement
from risk.core.computed import Step
from schemas.commercial import Charge, Prepayment, Price
from schemas.deal import Deal
from schemas.delivery import DelayDamages, Delivery, LongStop
from schemas.exclusions import ForceMajeure
from schemas.incidents import DelayEvent, Incident, Notice, Ticket, UnitService, Window
from schemas.money import Money, rounded_to_minor_unit
from slakit.documents.clauses import clause_file, document_file

ROOT = Path(__file__).resolve().parents[2]
BASE = yaml.safe_load((ROOT / "templates/clauses/base_case.yaml").read_text())
CLAUSES = {slug: clause_file(slug) for slug in document_file("sla").clauses()}
FIELDS = {
    "id", "title", "terms", "amendments", "months", "as_of", "units", "incidents", "windows", "notices", "tickets",
    "rule", "facts", "worked", "expect", "shows",
}  # fmt: skip


def cases() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the slug of a clause with each of its cases."""
    for slug in CLAUSES:
        path = ROOT / f"templates/clauses/{slug}/cases.yaml"
        for case in yaml.safe_load(path.read_text()) if path.is_file() else ():
            yield slug, case


CASES = list(cases())
REFUNDED = ("prepaid", "unused_credits", "delay_damages", "fees_for_later")


def names(pattern: str) -> list[str]:
    """Return the names of a range such as node-001..node-010, or the one name."""
    if ".." not in pattern:
        return [pattern]
    first, last = pattern.split("..")
    stem, digits = re.fullmatch(r"(.*?)(\d+)", first).groups()
    end = int(re.fullmatch(r".*?(\d+)", last)[1])
    return [f"{stem}{number:0{len(digits)}d}" for number in range(int(digits), end + 1)]


def moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def deal_of(case: dict[str, Any]) -> Deal:
    """Return the base deal with the terms of a case."""
    changes = {"effective_from": "2001-01-01", "set": case["terms"]} if "terms" in case else None
    deal = Deal.model_validate({**BASE, "amendments": [changes] if changes else []}).at(date(2001, 1, 2))
    later = case.get("amendments", [])
    return deal.revise({"amendments": later}) if later else deal


def records_of(case: dict[str, Any]) -> Records:
    """Return the records of a case."""
    given = case.get("units", [{"ids": "node-001", "level": "node", "monthly_fee": "20000.00"}])
    units = [
        UnitService(
            unit_id=name,
            level=unit["level"],
            service="compute",
            monthly_fee=unit["monthly_fee"],
            prepaid_fraction=unit.get("prepaid_fraction", 0),
            in_service_from=moment(unit.get("from")),
            in_service_to=moment(unit.get("to")),
            parent_id=unit.get("parent"),
        )
        for unit in given
        for name in names(unit["ids"])
    ]
    incidents = [
        Incident(
            id=f"{name}-{i}",
            level=row.get("level", "node"),
            unit_id=name,
            state=row.get("state", "down"),
            started_at=moment(row["from"]),
            ended_at=moment(row.get("to")),
            readmitted_at=moment(row.get("readmitted")),
            notice_at=moment(row.get("notice")),
            cause=row.get("cause"),
            cause_party=row.get("cause_party", "unknown"),
            monitor_id=row.get("monitor"),
            metric=row.get("metric"),
            measured=row.get("measured"),
            fault_code=row.get("fault_code"),
        )
        for i, row in enumerate(case.get("incidents", ()))
        for name in names(row["unit"])
    ]
    windows, notices = [], []
    for i, row in enumerate(case.get("windows", ())):
        notice_id = f"notice-{i}" if "notice" in row else None
        unit_ids = tuple(names(row["unit"]))
        if notice_id:
            covers = row.get("announced", (row["from"], row["to"]))
            notices.append(
                Notice(
                    id=notice_id,
                    kind=row["kind"],
                    sent_at=moment(row["notice"]),
                    unit_ids=unit_ids,
                    covers_from=moment(covers[0]),
                    covers_to=moment(covers[1]),
                )
            )
        windows.append(
            Window(
                id=f"window-{i}",
                kind=row["kind"],
                starts_at=moment(row["from"]),
                ends_at=moment(row["to"]),
                unit_ids=unit_ids,
                notice_id=notice_id,
                event=row.get("event"),
                fix_published_at=moment(row.get("fix_published")),
            )
        )
    notices += [
        Notice(id=f"{row['kind']}-{i}", kind=row["kind"], sent_at=moment(row["sent"]))
        for i, row in enumerate(case.get("notices", ()))
    ]
    tickets = [
        Ticket(
            id=f"ticket-{i}",
            severity=row["severity"],
            opened_at=moment(row["opened"]),
            first_response_at=moment(row.get("answered")),
        )
        for i, row in enumerate(case.get("tickets", ()))
    ]
    return Records(tuple(incidents), tuple(windows), tuple(notices), tuple(units), tuple(tickets))


def steps_of(found: Statement) -> Iterator[Step]:
    """Yield every step of a statement."""
    for part in (*found.lines, *found.settlements, *found.rights):
        yield from part.steps
    yield from found.checks


def stated(case: dict[str, Any]) -> tuple[dict[str, Any], Iterable[Step]]:
    """Return what a statement says, in the words of `expect`, and its steps."""
    deal, records = deal_of(case), records_of(case)
    calendar = period_calendar(deal, records.units)
    periods = [calendar.parse(str(period)) for period in case.get("months", ["2026-11"])]
    found = statement(deal, records, periods, moment(case.get("as_of")))
    line = found.lines[0]
    said = {
        "total": str(found.total.amount),
        "lost": {reason: str(money.amount) for reason, money in found.lost.items() if money.amount},
        "counted": line.counted_minutes,
        "excluded": line.excluded_minutes,
        "window": line.window_minutes,
        "unknown": line.unknown_minutes,
        "degraded": line.degraded_minutes,
        "disputed": line.disputed_minutes,
        "availability": line.availability,
        "claim_by": line.claim_by,
        "object_by": found.settlements[0].object_by,
        "rights": [{"kind": r.kind, "arises": r.arises, "until": r.exercise_by} for r in found.rights],
        "note": " ".join(found.notes),
    }
    return said, list(steps_of(found))


def asked(case: dict[str, Any]) -> tuple[dict[str, Any], Iterable[Step]]:
    """Return what a rule of delivery or term says, in the words of `expect`, and its steps."""
    facts = case.get("facts", {})
    if case["rule"] == "delay_damages":
        fee = Money(Decimal(facts["monthly_fee"]), "USD")
        terms = DelayDamages.model_validate(facts["terms"])
        damages = delay_damages.exact(facts["planned"], facts["ended"], fee, terms, "delivery.tranches.x.delay_damages")
        return {"total": str(damages.value.amount)}, damages.steps
    if case["rule"] == "adjusted_date":
        delivery = Delivery.model_validate(
            {"tranches": {"x": {"ready_for_service_date": "2026-09-30"}}, **facts["terms"]}
        )
        events = [DelayEvent.model_validate({"id": f"event-{i}", **row}) for i, row in enumerate(facts["events"])]
        moved = adjusted_date.exact("x", facts["planned"], events, delivery, ForceMajeure(), facts["zone"], ())
        return {"date": moved.value}, moved.steps
    if case["rule"] == "long_stop":
        stop = LongStop.model_validate(facts["terms"])
        right = long_stop.exact(
            facts["planned"],
            facts["ready"],
            stop,
            facts["zone"],
            "delivery.tranches.x.long_stop",
            is_first_tranche=facts["is_first_tranche"],
        )
        assert right.value is not None
        one = {
            "arises": right.value.arises,
            "until": right.value.exercise_by,
            "reaches_order": right.value.reaches_order,
        }
        return {"rights": [one]}, right.steps
    if case["rule"] == "prepayment":
        amount = Money(Decimal(facts["amount"]), "USD")
        balances = prepayment.exact(amount, facts["term_months"], Prepayment.model_validate(facts["terms"]))
        return {"total": str(balances.value[facts["month"] - 1].amount)}, balances.steps
    if case["rule"] == "termination_refund":
        money = {name: Money(Decimal(facts.get(name, "0.00")), "USD") for name in REFUNDED}
        account = termination_refund.Account(months_served=facts["months_served"], **money)
        refund = termination_refund.exact(account, facts["ended_on"], deal_of(case))
        return {"total": str(refund.value.total.amount), "late_from": refund.value.late_from}, refund.steps
    if case["rule"] == "monthly_price":
        price = Price.model_validate(facts["price"])
        monthly = monthly_price.exact(price, facts["count"], facts["hours"], "commercial.charges.compute.price")
        return {"total": str(rounded_to_minor_unit(monthly.value, "USD"))}, monthly.steps
    if case["rule"] == "take_or_pay":
        charge, used = Charge.model_validate(facts["charge"]), Fraction(facts["used"])
        fee = take_or_pay.exact(Fraction(facts["price"]), used, charge, "USD", "commercial.charges.compute")
        return {"total": str(fee.value.amount)}, fee.steps
    assert case["rule"] == "effective_term"
    months = effective_term.exact(deal_of(case))
    return {"months": months.value}, months.steps


def agrees(wanted: Any, said: Any) -> bool:
    """Say whether one expected value is what was said; times compare as moments, fractions exactly."""
    if isinstance(wanted, dict):
        return all(agrees(value, said[key]) for key, value in wanted.items())
    if isinstance(wanted, list):
        return len(wanted) == len(said) and all(agrees(w, s) for w, s in zip(wanted, said, strict=True))
    if isinstance(said, datetime):
        return datetime.fromisoformat(wanted).astimezone(UTC) == said
    if isinstance(said, Fraction):
        return Fraction(str(wanted)) == said
    return bool(wanted == said)


@pytest.mark.parametrize(("slug", "case"), CASES, ids=[f"{slug}:{case['id']}" for slug, case in CASES])
def test_the_rules_say_what_the_case_says_by_hand(slug: str, case: dict[str, Any]):
    assert set(case) <= FIELDS
    said, steps = asked(case) if "rule" in case else stated(case)
    for name, wanted in case["expect"].items():
        if name == "note":
            assert wanted in said["note"]
        else:
            assert agrees(wanted, said[name]), f"{name}: {said[name]} and not {wanted}"
    named = {step.paragraph for step in steps}
    assert {f"{slug}.{paragraph}" for paragraph in case["shows"]} - named == set()


def test_every_computed_paragraph_has_a_case_of_its_own_clause():
    shown = {f"{slug}.{paragraph}" for slug, case in CASES for paragraph in case["shows"]}
    computed = {
        f"{slug}.{mark.id}" for slug, clause in CLAUSES.items() for mark in clause.paragraphs if mark.mark == "computed"
    }
    assert computed - shown == set()
    assert shown <= computed


def test_a_paragraph_is_marked_computed_exactly_when_a_rule_can_name_it():
    computed = {
        f"{slug}.{mark.id}" for slug, clause in CLAUSES.items() for mark in clause.paragraphs if mark.mark == "computed"
    }
    assert computed == paragraphs()


def test_every_case_is_worked_in_sentences_and_ends_with_its_amount():
    assert len(CASES) > 50
    for slug, case in CASES:
        assert case["worked"], f"{slug}: {case['id']}"
        for sentence in case["worked"]:
            assert sentence[0].isupper() or sentence[0].isdigit(), sentence
            assert sentence.endswith("."), sentence
        words = re.sub(r"(?<=\d),(?=\d{3})", "", " ".join(case["worked"]))
        total = case["expect"].get("total")
        if total and Decimal(total) and len(case.get("months", [0])) == 1:
            whole = total.removesuffix(".00")
            assert whole in words, f"{slug}: {case['id']} never says {whole}"
