"""What a term is worth on the stored outages of the public record, all applied to one unit of each service level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any

from risk.contract_rules.deadlines import local_day
from risk.contract_rules.measurement_period import period_calendar
from risk.contract_rules.records import Records
from risk.contract_rules.statement import statement
from schemas.cancellation import Cancellation
from schemas.deal import Amendment, Deal
from schemas.errors import SlakitError, TermsError
from schemas.incidents import Incident, UnitService
from schemas.money import Money, total
from slakit.checks.fees import services
from slakit.paths import examples_dir
from slakit.reports.figures import money_owed
from slakit.statements.importers.find import imported
from slakit.statements.importers.form import Options

STORED = "incidents/public-outages.csv"
FIRST_DAY = "2000-01-01"
"""Before every stored outage, so that a change is in force for all of them."""
TWO_CLOCKS = ("us-east-1-2021-provider", "us-east-1-2021-outside")
"""One outage by the clock of the provider and by one outside."""


@cache
def stored() -> tuple[Incident, ...]:
    """Return the stored outages."""
    return imported(examples_dir() / STORED, Options()).incidents


def of_two_clocks(deal: Deal) -> tuple[Money, Money] | None:
    """Return the credit of one outage by its provider's clock and by an outside one, None where it is not known."""
    by_id = {incident.id: incident for incident in stored()}
    first, second = (credits_on(deal, [by_id[name]]) for name in TWO_CLOCKS)
    return None if first is None or second is None else (first, second)


def moved(deal: Deal, changes: Mapping[str, Any]) -> tuple[int, Money] | None:
    """Return how many stored outages a change moves, and the largest difference; None where it moves none."""
    found = []
    for incident in stored():
        draft, other = credits_on(deal, [incident]), credits_on(deal, [incident], changes)
        if draft is not None and other is not None and draft != other:
            found.append(max(draft - other, other - draft, key=lambda one: one.amount))
    return (len(found), max(found, key=lambda one: one.amount)) if found else None


def moved_words(deal: Deal, changes: Mapping[str, Any]) -> tuple[str, Money | None]:
    """Return a sentence on what a change moves on the stored outages, and the money."""
    found = moved(deal, changes)
    if found is None:
        return "", None
    count, largest = found
    outages = "one of the stored outages" if count == 1 else f"{count} of the stored outages"
    return f" On one unit it moves the credit of {outages}, at most by {money_owed(largest)}.", largest


def credits_on(deal: Deal, incidents: Sequence[Incident], changes: Mapping[str, Any] | None = None) -> Money | None:
    """Return the credits of one unit of each service level for some outages, each in its own months.

    Parameters
    ----------
    changes : path of a term to the value to take instead.

    Returns
    -------
    None where the deal has no price, or the terms cannot be computed.
    """
    if deal.commercial is None:
        return None
    try:
        terms = _with(deal, changes or {})
        found = [one for view in services(deal) if view.name for one in _of_service(terms, deal, view.name, incidents)]
    except (SlakitError, TermsError, ValueError):
        return None
    return total(found, deal.commercial.currency) if found else None


def _with(deal: Deal, changes: Mapping[str, Any]) -> Deal:
    """Return the terms with changes, without limits over several units, which one unit alone cannot show."""
    amendment = Amendment.model_validate({"effective_from": FIRST_DAY, "set": {**changes, "credits.caps.year": None}})
    plain = deal.revise({"amendments": (amendment,)})
    return plain.at(amendment.effective_from)


def _of_service(terms: Deal, deal: Deal, service: str, incidents: Sequence[Incident]) -> list[Money]:
    view = next(one for one in services(deal) if one.name == service)
    fee = view.fee()
    if fee is None:
        return []
    amounts = []
    for name, level in view.levels.items():
        units = view.nodes if level.level == "node" else 1
        if not units:
            continue
        share = fee / Fraction(units)
        unit = UnitService(
            unit_id="unit",
            level=level.level,
            service=service,
            monthly_fee=(Decimal(share.numerator) / Decimal(share.denominator)).quantize(Decimal("0.01")),
        )
        one_level = terms.model_copy(
            update={"service_levels": {name: terms.service_levels[name]}, "cancellation": Cancellation()}
        )
        for incident in incidents:
            amounts.append(_credit(one_level, unit, incident))
    return amounts


def _credit(terms: Deal, unit: UnitService, incident: Incident) -> Money:
    moved = incident.model_copy(
        update={"unit_id": unit.unit_id, "level": unit.level, "monitor_id": None, "notice_at": incident.started_at}
    )
    calendar = period_calendar(terms, first_service=local_day(incident.started_at, terms.measurement.zone))
    first = calendar.of(incident.started_at)
    last = calendar.of(incident.ended_at) if incident.ended_at else first
    months = [first] if last == first else [first, first.plus(1)]
    return statement(terms, Records(incidents=[moved], units=[unit]), months).total
