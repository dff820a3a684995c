"""What a missed level pays: base, caps, stacking, process and form. Shapes live with each level."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.money import Rounding
from schemas.units import Amount, BusinessDays, Days, Flag, Share, WholeMonths


class CreditCaps(Terms):
    """Bounds on credits, each a share of a fee; no bound when not given."""

    unit: Share = Decimal(1)
    """Share of one unit's fee in the month. [1]"""
    month: Share | None = None
    """Share of the service's fee in the period. [1]"""
    month_of: Literal["this_period", "previous_period"] = "this_period"
    """Period whose fee `month` is a share of."""
    year: Share | None = None
    """Share of the service's planned fees of the contract year, counted from the Ready-for-Service Date. [1]"""
    term: Share | None = None
    """Share of the service's planned fees of the whole term. [1]"""
    carry_forward: Flag = False
    """Whether what exceeds the cap of the period is owed in later ones, under their caps, instead of lost."""


class CreditProcess(Terms):
    """Who starts, by when."""

    mode: Literal["automatic", "claimed"] = "automatic"
    statement_business_days: BusinessDays = 10
    """Days after the period in which the provider sends its statement. [business day]"""
    window_days: Days = 30
    """Days in which a claim must be received. [day]"""
    window_business_days: BusinessDays | None = None
    """The window in Business Days, in place of days. [business day]"""
    window_months: WholeMonths | None = None
    """The window in months, in place of days. [month]"""
    window_from: Literal["period_end", "incident_end", "incident_start", "statement", "next_period_end"] = "statement"
    """`next_period_end`: the end of the period after the one in question."""
    late: Literal["forfeit", "reduced", "none"] = "none"
    """What happens to a late claim."""
    late_share: Share = Decimal("0.5")
    """Share of the credit that is left of a late claim where `late` is `reduced`. [1]"""
    correction_months: WholeMonths = 12
    """[month]"""

    @model_validator(mode="after")
    def _one_window(self) -> Self:
        given = [n for n in ("window_business_days", "window_months") if getattr(self, n) is not None]
        if given and "window_days" in self.model_fields_set:
            given.insert(0, "window_days")
        if len(given) > 1:
            raise TermsError(" and ".join(given), "one of them", "remove the others")
        return self


class CreditForm(Terms):
    """How a credit becomes money."""

    form: Literal["next_invoice", "cash", "future_credit", "spread_over_term", "added_days"] = "next_invoice"
    """`spread_over_term`: in equal parts against the invoices left of the term; `added_days`: days at no charge at its
    end."""
    cash_after_months: WholeMonths | None = 3
    """A credit unused this long is paid in cash; never when null. [month]"""
    cash_at_end: Flag = True
    expiry_months: WholeMonths | None = None
    """[month]"""
    pay_days: Days = 30
    """[day]"""


class Credits(Terms):
    """Rules shared by all service levels."""

    base: Literal["unit_fee_accrued", "service_fee_accrued", "order_fee_accrued", "invoiced"] = "unit_fee_accrued"
    """Fee the credit fraction is taken of; `invoiced`: what the ledger shows as invoiced for the service."""
    includes_prepaid: Flag = True
    """Whether prepaid and drawn-down fees are in the base."""
    excludes: tuple[Literal["tax", "one_off", "pass_through_power"], ...] = (
        "tax",
        "one_off",
        "pass_through_power",
    )
    caps: CreditCaps = CreditCaps()
    between_levels: Literal["highest_level", "cumulative", "parent_absorbs_children", "choose_one"] = "highest_level"
    """For one service in one period: the level that pays most; all of them; all but the units inside a unit that is
    credited itself; the one that the customer's claim names, the highest until it does."""
    between_heads: Literal["cumulative", "highest"] = "cumulative"
    """Credits for availability, late replacement and late response: all of them, or the head that pays most."""
    within_level: Literal["sum_minutes", "worst_outage"] = "sum_minutes"
    """Whether the downtime of a period is added up, or only its longest outage is looked at."""
    minimum_payable: Amount = Decimal(0)
    """A line of credit that is not more than this is not paid. [currency]"""
    rounding: Rounding = "half_up"
    """Each line is rounded once, to the minor unit."""
    process: CreditProcess = CreditProcess()
    form: CreditForm = CreditForm()
