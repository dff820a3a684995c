"""What a service has been credited up to a period, and what exceeded a cap and can still be owed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from risk.contract_rules import caps
from risk.contract_rules.lines import Limit, Line, Loss, reduced_to
from risk.core.computed import Step
from schemas.credits import Credits
from schemas.money import Money, total, zero
from schemas.periods import Period


@dataclass(frozen=True, slots=True)
class Account:
    """Credits of one service before a period."""

    year: int
    """Contract year that `given_in_year` belongs to, from 0. [1]"""
    given_in_year: Money
    given_in_term: Money
    carried: tuple[tuple[Period, Money], ...] = ()
    """Credits of earlier periods that exceeded the caps of these and can still be owed, the oldest first."""

    @classmethod
    def opened(cls, currency: str) -> Account:
        """Return the account of a service that has been credited nothing."""
        return cls(0, zero(currency), zero(currency))

    def in_year(self, year: int) -> Account:
        """Return the account at the start of a period of a contract year."""
        return self if year == self.year else replace(self, year=year, given_in_year=zero(self.given_in_year.currency))

    @property
    def carried_sum(self) -> Money:
        """Return what can still be owed of earlier periods."""
        return total((amount for _, amount in self.carried), self.given_in_year.currency)


@dataclass(frozen=True, slots=True)
class Capped:
    """Lines of one service in one period after the caps of month, year and term."""

    lines: tuple[Line, ...]
    brought_forward: Money
    """What is owed now of earlier periods."""
    account: Account
    limits: dict[caps.CapOf, Limit]
    steps: tuple[Step, ...]


def capped(
    lines: Sequence[Line], account: Account, amounts: dict[caps.CapOf, Money | None], credits: Credits, month: Period
) -> Capped:
    """Return what the caps leave of the lines of one service, and of the credits carried from earlier periods.

    Parameters
    ----------
    amounts : cap of the month, of the contract year and of the term; no cap where None.

    Notes
    -----
    What is carried is owed before the lines of the period and goes through the caps like these. What exceeds the cap of
    the month is carried where the contract says so; what exceeds a later cap is lost.
    """
    currency = account.given_in_year.currency
    terms, done = credits.caps, tuple(lines)
    carries = terms.carry_forward
    spent: dict[caps.CapOf, Money] = {
        "month": zero(currency),
        "year": account.given_in_year,
        "term": account.given_in_term,
    }
    reasons: dict[caps.CapOf, Loss] = {
        "month": "carried_forward" if carries else "month_cap",
        "year": "year_cap",
        "term": "term_cap",
    }
    steps: list[Step] = []
    limits: dict[caps.CapOf, Limit] = {}
    brought, carried = account.carried_sum, account.carried
    before = total((line.payable for line in done), currency)
    for of in ("month", "year", "term"):
        cap = amounts[of]
        released = brought
        if cap is not None and cap - spent[of] < brought:
            released = max(cap - spent[of], zero(currency), key=lambda money: money.amount)
        if account.carried:
            rule = "credits carried from earlier periods are owed first, under the caps of this period; owed of them"
            facts = {"carried": brought, "cap": cap, "given_before": spent[of]}
            steps.append(Step(caps.LOST_PARAGRAPH, rule, released, facts, "credits.caps.carry_forward"))
        if of == "month":
            carried = _left(carried, released)
        found = caps.exact(
            [line.payable for line in done],
            cap,
            spent[of] + released,
            of=of,
            share=getattr(terms, of),
            of_previous=of == "month" and terms.month_of == "previous_period",
            carries=of == "month" and carries,
        )
        steps += found.steps
        done = _reduced(done, found.value, reasons[of], found.steps)
        brought = released
        if of == "month" and carries:
            over = before - total((line.payable for line in done), currency)
            carried = (*carried, (month, over)) if over.amount else carried
        if cap is not None:
            after = spent[of] + brought + total((line.payable for line in done), currency)
            limits[of] = Limit(cap, spent[of], after)
    given = brought + total((line.payable for line in done), currency)
    now = Account(account.year, account.given_in_year + given, account.given_in_term + given, carried)
    return Capped(done, brought, now, limits, tuple(steps))


def _left(carried: tuple[tuple[Period, Money], ...], released: Money) -> tuple[tuple[Period, Money], ...]:
    """Return what stays carried after `released` has been taken off the oldest."""
    found: list[tuple[Period, Money]] = []
    for month, amount in carried:
        taken = min(amount, released, key=lambda money: money.amount)
        released -= taken
        if amount != taken:
            found.append((month, amount - taken))
    return tuple(found)


def _reduced(
    lines: tuple[Line, ...], owed: tuple[Money, ...], reason: Loss, steps: tuple[Step, ...]
) -> tuple[Line, ...]:
    """Return the lines with what a cap leaves of each."""
    return tuple(
        line if amount == line.payable else reduced_to(line, amount, reason, steps)
        for line, amount in zip(lines, owed, strict=True)
    )
