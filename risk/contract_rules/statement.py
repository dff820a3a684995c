"""The pipeline: records and terms to lines, credits and rights, in the order of the package's docstring."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from fractions import Fraction

from risk.contract_rules.account import Account
from risk.contract_rules.head_lines import SERVICE_LEVELS, head_lines
from risk.contract_rules.level_lines import level_lines, lines_by_service
from risk.contract_rules.lines import Line, Right, Settlement, Statement
from risk.contract_rules.notes import checks, notes
from risk.contract_rules.records import Records
from risk.contract_rules.register import Register
from risk.contract_rules.rights import rights
from risk.contract_rules.service_fees import fees_of_services
from risk.contract_rules.settlement import settled, sum_of_losses
from schemas.deal import Deal
from schemas.money import total
from schemas.periods import Period

__all__ = ["Line", "Records", "Right", "Settlement", "Statement", "statement"]


def statement(deal: Deal, records: Records, periods: Sequence[Period], as_of: datetime | None = None) -> Statement:
    """Return the credits and rights of `periods`, with the steps that lead to each.

    Parameters
    ----------
    deal : the terms; each month is computed on those of the first day of the month.
    records : incidents, windows, notices and units. Records of earlier months belong to them too: the cap of the
        contract year, the allowance of a quarter and the months of a right look back.
    periods : months to state, in any order.
    as_of : when the statement is made: nothing after it is known, and an outage without an end runs up to it. Left out,
        everything on record is known and such an outage runs up to the end of the last period.

    Raises
    ------
    DealError
        When records contradict each other or the deal.
    MissingTermError
        When a term that the records call for is not in the deal.
    NotComputedError
        When the outcome turns on a term that this version cannot compute.
    """
    register = Register(deal, records, periods, as_of)
    currency = register.currency
    lines: list[Line] = []
    settlements: list[Settlement] = []
    accounts = {service: Account.opened(currency) for service in register.first_months}
    availabilities: dict[tuple[str, str], list[tuple[Period, Fraction | None]]] = {}
    for month in register.months:
        fees = fees_of_services(register, month)
        drafts = level_lines(register, month, fees)
        for line in drafts:
            availabilities.setdefault((line.service_level, line.unit), []).append((month, line.availability))
        drafts += head_lines(register, month, fees)
        by_service = dict(lines_by_service(drafts))
        for service in dict.fromkeys((*by_service, *accounts)):
            if service not in by_service and not accounts[service].carried:
                continue
            done, settlement, accounts[service] = settled(
                register, service, month, by_service.get(service, ()), fees[service], accounts[service]
            )
            settlements.append(settlement)
            if month in register.periods:
                lines += done
    levels = dict.fromkeys(name for month in register.months for name in register.terms(month).service_levels)
    heads = (name for name in SERVICE_LEVELS.values() if name not in levels)
    level_place = {name: i for i, name in enumerate((*levels, *heads))}
    unit_place = {name: i for i, name in enumerate((*register.tree.units, *register.first_months))}
    lines.sort(key=lambda line: (line.period, level_place[line.service_level], unit_place[line.unit]))
    stated = tuple(settlement for settlement in settlements if settlement.period in register.periods)
    return Statement(
        currency=currency,
        lines=tuple(lines),
        settlements=stated,
        rights=rights(register, availabilities, settlements),
        total=total((settlement.payable for settlement in stated), currency),
        lost=sum_of_losses(tuple(lines), currency),
        checks=checks(register),
        notes=notes(register),
    )
