"""What a missed level pays: base, caps, stacking, process and form. Shapes live with each level."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from schemas.base import Terms
from schemas.money import Rounding
from schemas.units import BusinessDays, Days, Flag, Share, WholeMonths


class CreditCaps(Terms):
    """Bounds on credits, each a share of a fee; no bound when not given."""

    unit: Share = Decimal(1)
    """Share of one unit's fee in the month. [1]"""
    month: Share | None = None
    """Share of the service's fee in the month. [1]"""
    year: Share | None = None
    """Share of the service's planned fees of the contract year, counted from the Ready-for-Service Date. [1]"""


class CreditProcess(Terms):
    """Who starts, by when."""

    mode: Literal["automatic", "claimed"] = "automatic"
    statement_business_days: BusinessDays = 10
    """Days after the period in which the provider sends its statement. [business day]"""
    window_days: Days = 30
    """Days in which a claim must be received. [day]"""
    window_from: Literal["period_end", "incident_end", "statement"] = "statement"
    late: Literal["forfeit", "none"] = "none"
    """What happens to a late claim."""
    correction_months: WholeMonths = 12
    """[month]"""


class CreditForm(Terms):
    """How a credit becomes money."""

    form: Literal["next_invoice", "cash", "future_credit"] = "next_invoice"
    cash_after_months: WholeMonths = 3
    """A credit unused this long is paid in cash. [month]"""
    cash_at_end: Flag = True
    expiry_months: WholeMonths | None = None
    """[month]"""
    pay_days: Days = 30
    """[day]"""


class Credits(Terms):
    """Rules shared by all service levels."""

    base: Literal["unit_fee_accrued", "service_fee_accrued"] = "unit_fee_accrued"
    """Fee the credit fraction is taken of."""
    includes_prepaid: Flag = True
    """Whether prepaid and drawn-down fees are in the base."""
    excludes: tuple[Literal["tax", "one_off", "pass_through_power"], ...] = (
        "tax",
        "one_off",
        "pass_through_power",
    )
    caps: CreditCaps = CreditCaps()
    between_levels: Literal["highest_level", "cumulative"] = "highest_level"
    """For one service in one month: the level that pays most, or all of them."""
    rounding: Rounding = "half_up"
    """Each line is rounded once, to the minor unit."""
    process: CreditProcess = CreditProcess()
    form: CreditForm = CreditForm()
