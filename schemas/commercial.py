"""What is paid: price, term, prepayment, law."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.money import Currency
from schemas.periods import DatePoint
from schemas.units import Amount, Days, Identifier, MonthNumber, Name, Share, WholeMonths

Law = Literal["new_york", "england_wales", "delaware", "texas", "singapore", "ireland"]


class Price(Terms):
    """An amount per unit of something."""

    per: Literal["lump_month", "gpu_hour", "node_month", "kw_month"]
    """`lump_month`: the whole service, per month; `kw_month`: each contracted kW of equipment power, per month."""
    amount: Amount
    """[currency per unit]"""

    @property
    def counted(self) -> Literal["gpu", "node", "kw"] | None:
        """Return the field of `clusters.*.units` that the price counts; None where it is one sum for all."""
        match self.per:
            case "gpu_hour":
                return "gpu"
            case "node_month":
                return "node"
            case "kw_month":
                return "kw"
        return None


class Charge(Terms):
    """The fee of one service."""

    price: Price
    accrual: Literal["ready_fraction"] = "ready_fraction"
    """Fees run on the share of the month and of the units that are ready for service."""
    take_or_pay: Share | None = None
    """Share of the reserved capacity that is paid for whether used or not, use beyond it being paid as used; all of it
    when not given. [1]"""


class FirmTerm(Terms):
    """How long the contract runs."""

    months: MonthNumber
    """[month]"""
    starts: Literal["ready_for_service"] = "ready_for_service"
    """Each tranche's term runs from the day it is ready for service."""
    ends_by: DatePoint | None = None
    """Day on which the term of every tranche ends at the latest, however late it was ready."""


class Prepayment(Terms):
    """Fees paid ahead and credited back."""

    fraction: Share
    """Share of the fees of the firm term paid at financial close. [1]"""
    credited_from_month: MonthNumber
    """First month of the term in which it is credited, in equal monthly parts to the end of the term."""
    security: Literal["none", "letter_of_credit", "escrow", "lien"] = "none"


class Commercial(Terms):
    """Fees and term."""

    currency: Currency
    charges: dict[Identifier, Charge]
    """Service to its charge."""
    term: FirmTerm
    prepayment: Prepayment | None = None
    renewal_notice_days: Days = 180
    """[day]"""
    renewal_months: WholeMonths = 0
    """Months the customer may add by notice; 0 is no option. [month]"""
    payment_days: Days = 30
    """Days from invoice to payment. [day]"""
    governing_law: Law = "new_york"
    liability_cap_fraction: Share | None = None
    """General cap of liability as a share of twelve months' fees; no cap when not given. [1]"""
    expert_body: Name | None = None
    """Who names the expert for disputes of measurement."""

    @model_validator(mode="after")
    def _prepayment_is_credited_in_the_term(self) -> Self:
        if self.prepayment is not None and self.prepayment.credited_from_month > self.term.months:
            raise TermsError(
                f"prepayment.credited_from_month {self.prepayment.credited_from_month}",
                f"a month of the firm term of {self.term.months} months",
                "lower it, or lengthen commercial.term.months",
            )
        return self
