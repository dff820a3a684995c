"""Who pays or takes over if the customer, the market or the value of the GPUs fails."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError, TermsErrors
from schemas.periods import DatePoint
from schemas.units import Amount, AmountAboveZero, AnnualRate, Flag, Identifier, MonthNumber, Share

WayOfEnding = Literal["payment_default", "insolvency", "chronic_failure", "long_stop", "convenience"]
Starts = Literal["signing", "rfs_each_tranche", "rfs_all", "rent_commenced", "date"]
"""`signing`: financial close; `rfs_each_tranche`: for each tranche once it is ready; `rfs_all`: once all tranches are
ready for a whole month; `rent_commenced`: once the first fee is due; `date`: on `start_date`."""


class Cover(Terms):
    """What every backstop has: a provider, a start, an end, a limit and a price."""

    provider: Identifier
    """Party of `parties` that gives it."""
    starts: Starts = "rfs_all"
    start_date: DatePoint | None = None
    """With `starts: date`, the day on which cover begins."""
    expires: DatePoint | None = None
    """End of the cover; with the loan or the months simulated when not given."""
    amount: AmountAboveZero | None = None
    """Greatest sum in all; no limit when not given. [currency]"""
    amount_per_year: AmountAboveZero | None = None
    """Greatest sum in twelve months counted from close; no limit when not given. [currency]"""
    amortisation_months: MonthNumber | None = None
    """Months over which `amount` falls to nothing in equal parts from the start; level when not given."""
    fee_rate: AnnualRate = Decimal(0)
    """Yearly fee as a share of `amount`, a twelfth each month from the first debt payment. [1/year]"""
    revenue_share: Share = Decimal(0)
    """Share of market revenue above `revenue_share_above` that goes to the provider once cover has started. [1]"""
    revenue_share_above: Amount = Decimal(0)
    """[currency/month]"""
    assignable: Flag | None = None
    """Whether the lender may go on claiming after a default of the loan; by shape when not given: yes for a payment
    guarantee, no for the others."""

    @model_validator(mode="after")
    def _cover_is_whole(self) -> Self:
        wrong = []
        if self.starts == "date" and self.start_date is None:
            wrong.append(TermsError("starts 'date' without start_date", "start_date", "add the day on which it starts"))
        if self.starts != "date" and self.start_date is not None:
            wrong.append(
                TermsError(
                    f"start_date with starts {self.starts!r}",
                    "start_date with `starts: date` alone",
                    "remove start_date, or write starts: date",
                )
            )
        if self.amount is None and self.amortisation_months is not None:
            wrong.append(TermsError("amortisation_months without amount", "amount", "give the amount that falls"))
        if self.amount is None and self.fee_rate:
            wrong.append(
                TermsError("fee_rate without amount", "amount, of which the fee is a share", "give the amount")
            )
        if self.revenue_share_above and not self.revenue_share:
            wrong.append(
                TermsError(
                    "revenue_share_above without revenue_share",
                    "revenue_share, which is taken of revenue above that level",
                    "give the share, or remove revenue_share_above",
                )
            )
        if wrong:
            raise TermsErrors(wrong)
        return self


class FloorCover(Cover):
    """Cover of capacity at a floor."""

    floor_fraction: Share = Decimal(1)
    """Share of the covered capacity that the floor is given for. [1]"""
    covers: Literal["out_of_contract", "all"] = "out_of_contract"
    """Capacity counted: GPUs that are ready and under no contract, or all GPUs that are ready."""


class UnsoldHoursPut(FloorCover):
    """The provider buys unsold hours at a floor rent."""

    shape: Literal["unsold_hours_put"]
    floor_rent: AmountAboveZero
    """[currency/GPU-hour]"""


class UtilisationFloor(FloorCover):
    """The provider pays market rent for hours below a share sold."""

    shape: Literal["utilisation_floor"]


class RevenueFloor(FloorCover):
    """The provider makes market revenue up to a floor."""

    shape: Literal["revenue_floor"]
    floor_rent: AmountAboveZero
    """[currency/GPU-hour]"""


class IndexPriceFloor(FloorCover):
    """The provider pays what a rent index falls short of a strike, whatever the deal earns."""

    shape: Literal["index_price_floor"]
    floor_rent: AmountAboveZero
    """Strike. [currency/GPU-hour]"""


class Leaseback(Cover):
    """The provider rents the capacity at a fixed rent and keeps its market revenue."""

    shape: Literal["leaseback"]
    floor_rent: AmountAboveZero
    """[currency/GPU-hour]"""


class PaymentGuarantee(Cover):
    """A guarantor pays the rent when the customer does not."""

    shape: Literal["payment_guarantee"]
    starts: Starts = "rfs_each_tranche"
    triggers: tuple[WayOfEnding, ...] = Field(min_length=1)
    """Ways of ending that it answers for."""
    net_of_reletting: Flag = True
    """Whether income from letting again reduces the claim."""


class ResidualGuarantee(Cover):
    """The provider makes the value of the GPUs up to a threshold on a date, if it is then under no contract."""

    shape: Literal["residual_guarantee"]
    threshold: AmountAboveZero
    """[currency]"""
    at: DatePoint
    """Day on which value is measured."""


class FirstLoss(Cover):
    """The provider bears a share of the lender's loss, up to a size."""

    shape: Literal["first_loss"]
    starts: Starts = "signing"
    share: Share = Decimal(1)
    """Share of the loss that is borne. [1]"""


Backstop = Annotated[
    UnsoldHoursPut
    | UtilisationFloor
    | RevenueFloor
    | IndexPriceFloor
    | Leaseback
    | PaymentGuarantee
    | ResidualGuarantee
    | FirstLoss,
    Field(discriminator="shape"),
]
"""Cover by its unit: hours, index, revenue, claim, value or loss."""
