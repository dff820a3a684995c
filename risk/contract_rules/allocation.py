"""What becomes of credits over the invoices that follow: set off, paid in money, expired, lost, or still unused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules.credit_form import SET_OFF, cash_from, expires_on, payable_by
from schemas.credits import CreditForm
from schemas.errors import MissingTermError
from schemas.money import Money, rounded_to_minor_unit, total, zero
from schemas.periods import Month

DAYS_PER_YEAR = 365
"""Days over which a yearly rate is counted. [day]"""


@dataclass(frozen=True, slots=True)
class Given:
    """One credit as it was stated."""

    month: Month
    """Last calendar month of the period that it was earned in."""
    amount: Money
    stated_on: date
    """Day on which its statement was received."""


@dataclass(frozen=True, slots=True)
class Allocated:
    """What becomes of one credit; all parts and `unused` add up to it."""

    credit: Given
    set_off: Mapping[Month, Money] = field(default_factory=dict)
    """Month of an invoice to what was set off in it."""
    cash: Mapping[date, Money] = field(default_factory=dict)
    """Last day for payment to what is paid in money by then."""
    added_days: Money | None = None
    """Part that is given as days at no charge at the end of the term."""
    expired: Money | None = None
    lost_at_end: Money | None = None
    """Part that is unused when the term ends and is not paid."""
    unused: Money | None = None
    """Part that may still be set off."""

    @property
    def settled(self) -> Money:
        """Return what was set off or is paid in money."""
        return total((*self.set_off.values(), *self.cash.values()), self.credit.amount.currency)


def allocated(
    credits: list[Given],
    invoices: Mapping[Month, Money],
    form: CreditForm,
    *,
    ends: date | None = None,
    until: date | None = None,
) -> tuple[Allocated, ...]:
    """Return what becomes of each credit, the oldest first.

    Parameters
    ----------
    credits : credits after all caps, each with the day of its statement.
    invoices : amount of the invoice of each calendar month before credits: of all services for `next_invoice`, of the
        service alone for the forms that look at it.
    form : the terms.
    ends : last day of the term; None while it is not known.
    until : last day that is looked at; the end of the term, or the last invoice, when not given.

    Raises
    ------
    MissingTermError
        When a form that needs the end of the term is asked for without it.

    Notes
    -----
    An invoice is dated the last day of its month. A credit can be set off in a later month than that in which it was
    earned, from its statement on, until it expires or turns into money, whichever is first; what does not fit into one
    invoice waits for the next. `spread_over_term` takes an equal part in each invoice left of the term, the running sum
    cut down to the smallest unit of the currency.
    """
    if ends is None and form.form in ("spread_over_term", "added_days"):
        raise MissingTermError("commercial.term", f"credits of form {form.form!r}", "give the end of the term")
    months = sorted(month for month in invoices if ends is None or last_day(month) <= ends)
    last = ends or max([last_day(month) for month in months], default=date.min)
    until = until or last
    rows = [_Running(one, form, ends) for one in sorted(credits, key=lambda one: (one.stated_on, one.month))]
    for month in months:
        day = last_day(month)
        if day > until:
            break
        room = invoices[month]
        for row in rows:
            room -= row.take(month, day, room, months)
    return tuple(row.closed(until) for row in rows)


def present_value(rows: tuple[Allocated, ...], yearly_rate: float, ends: date | None = None) -> float:
    """Return what credits are worth on the days of their statements. [currency]

    Parameters
    ----------
    yearly_rate : rate at which later money is discounted. [1/year]
    ends : last day of the term, when days at no charge are worth their fee.

    Raises
    ------
    MissingTermError
        When days are added at an end that is not given.

    Notes
    -----
    Each part is divided by `(1 + rate) ** (days / 365)`. What expires, is lost or is still unused is worth nothing.
    """
    worth = 0.0
    for row in rows:
        parts = [(last_day(month), amount) for month, amount in row.set_off.items()]
        parts += list(row.cash.items())
        if row.added_days is not None:
            if ends is None:
                raise MissingTermError("commercial.term", "the value of days added", "give the end of the term")
            parts.append((ends, row.added_days))
        for day, amount in parts:
            wait = max((day - row.credit.stated_on).days, 0) / DAYS_PER_YEAR
            worth += float(amount.amount) / (1 + yearly_rate) ** wait
    return worth


def last_day(month: Month) -> date:
    """Return the last day of a month."""
    return month.plus(1).first_day() - timedelta(days=1)


class _Running:
    """One credit on its way through the invoices."""

    def __init__(self, credit: Given, form: CreditForm, ends: date | None) -> None:
        self.credit, self.form, self.ends = credit, form, ends
        self.nothing = zero(credit.amount.currency)
        self.left = credit.amount
        self.set_off: dict[Month, Money] = {}
        self.expires = expires_on(credit.stated_on, form)
        self.turns_into_cash = cash_from(credit.stated_on, form)
        if self.turns_into_cash is not None and self.expires is not None and self.expires < self.turns_into_cash:
            self.turns_into_cash = None

    def take(self, month: Month, day: date, room: Money, months: list[Month]) -> Money:
        """Return what is set off in the invoice of a month dated `day`, at most `room`."""
        closes = min((d for d in (self.expires, self.turns_into_cash) if d is not None), default=date.max)
        if self.form.form not in SET_OFF or not self._may_stand_in(month) or day > closes:
            return self.nothing
        part = min(self.left, self._part(month, months), room, key=lambda money: money.amount)
        if part.amount <= 0:
            return self.nothing
        self.set_off[month] = part
        self.left -= part
        return part

    def _may_stand_in(self, month: Month) -> bool:
        return self.credit.month < month and self.credit.stated_on <= last_day(month)

    def _part(self, month: Month, months: list[Month]) -> Money:
        """Return what may be set off by a month and has not been yet."""
        if self.form.form != "spread_over_term":
            return self.left
        assert self.ends is not None
        mine = [m for m in _months_to(months[0], self.ends) if self._may_stand_in(m)]
        due = Fraction(self.credit.amount.amount) * (mine.index(month) + 1) / len(mine)
        amount = rounded_to_minor_unit(due, self.nothing.currency, "down")
        done = total(self.set_off.values(), self.nothing.currency)
        return Money(max(amount - done.amount, Decimal(0)), self.nothing.currency)

    def closed(self, until: date) -> Allocated:
        """Return what became of the credit by the end of a day."""
        left = self.left if self.left.amount else None
        if left is None:
            return Allocated(self.credit, self.set_off)
        if self.form.form == "added_days":
            return Allocated(self.credit, self.set_off, added_days=left)
        if self.turns_into_cash is not None and self.turns_into_cash <= until:
            return Allocated(self.credit, self.set_off, {payable_by(self.turns_into_cash, self.form): left})
        if self.expires is not None and self.expires <= until:
            return Allocated(self.credit, self.set_off, expired=left)
        if self.ends is not None and self.ends <= until:
            if self.form.cash_at_end:
                return Allocated(self.credit, self.set_off, {payable_by(self.ends, self.form): left})
            return Allocated(self.credit, self.set_off, lost_at_end=left)
        return Allocated(self.credit, self.set_off, unused=left)


def _months_to(first: Month, ends: date) -> list[Month]:
    """Return the months from `first` on whose last day the term reaches."""
    found = [first]
    while last_day(found[-1].plus(1)) <= ends:
        found.append(found[-1].plus(1))
    return found
