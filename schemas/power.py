"""Electrical power of what is sold: what it draws, what it costs, and what a hall built for less can become."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal, Self

from pydantic import model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.sources import SourcedAnnualRate
from schemas.units import (
    Amount,
    AmountAboveZero,
    AnnualRate,
    Identifier,
    Kilowatts,
    KilowattsPerGpu,
    KilowattsPerRack,
    Megawatts,
    MonthNumber,
    Positive,
    PowerUsageEffectiveness,
    Share,
)


class RentPath(Terms):
    """Rent of one kind of hardware by year."""

    rent: AmountAboveZero
    """At the start of the first year. [currency/GPU-hour]"""
    decay_per_year: SourcedAnnualRate | None = None
    """Continuous loss of rent a year; none when not given. [1/year]"""
    utilisation: Share
    """Share of hours rented. [1]"""


class Keep(Terms):
    """Go on renting the hardware that stands there."""

    option: Literal["keep"] = "keep"
    market: RentPath


class Repurpose(Terms):
    """Change the hall to other work on the same hardware."""

    option: Literal["repurpose"] = "repurpose"
    market: RentPath
    cost: Amount
    """Paid at the start. [currency]"""
    first_year_open: Share
    """Share of the first year in which it earns. [1]"""


class Retrofit(Terms):
    """Rebuild power and cooling for denser racks, sell the old hardware and buy new."""

    option: Literal["retrofit"] = "retrofit"
    cost_per_mw: Amount
    """Of the power of the facility, paid at the start. [currency/MW]"""
    rack_kw: KilowattsPerRack
    """Equipment power of one new rack. [kW/rack]"""
    gpus_per_rack: Positive
    gpu_price: Amount
    """[currency/GPU]"""
    first_year_open: Share
    """Share of the first year in which it earns; site rent runs all the same. [1]"""
    contract_rent: AmountAboveZero | None = None
    """Rent under a contract in the first years. [currency/GPU-hour]"""
    contract_years: MonthNumber | None = None
    """[year]"""
    contract_utilisation: Share = Decimal(1)
    """Share of hours the contract pays for. [1]"""
    market: RentPath
    """Rent after the contract; its first year is the first year of all."""

    @model_validator(mode="after")
    def _contract_is_whole(self) -> Self:
        if (self.contract_rent is None) != (self.contract_years is None):
            raise TermsError("one of contract_rent and contract_years", "both or neither", "give both")
        return self


class Sell(Terms):
    """Sell the hardware and give up the hall."""

    option: Literal["sell"] = "sell"
    cost_share: Share
    """Share of the proceeds spent on selling. [1]"""


class OldHardware(Terms):
    """What stands in the hall today."""

    server_kw: KilowattsPerRack
    """Equipment power of one server. [kW/server]"""
    gpus_per_server: Positive
    gpu_cost: Amount
    """What one GPU cost when new. [currency/GPU]"""
    sale_share: Share
    """Share of that cost realised in a sale. [1]"""


class DensityChoice(Terms):
    """A hall built for the racks of yesterday: keep, repurpose, retrofit or sell. A table beside the cash flow."""

    site: Identifier | None = None
    facility_mw: Megawatts
    """Power of the facility, cooling included. [MW]"""
    horizon_years: MonthNumber = 8
    """[year]"""
    discount_rate: AnnualRate
    """Annual effective. [1/year]"""
    old: OldHardware
    keep: Keep | None = None
    repurpose: Repurpose | None = None
    retrofit: Retrofit | None = None
    sell: Sell | None = None

    @model_validator(mode="after")
    def _is_a_choice(self) -> Self:
        if sum(option is not None for option in (self.keep, self.repurpose, self.retrofit, self.sell)) < 2:
            raise TermsError("fewer than two options", "at least two of keep, repurpose, retrofit, sell", "add one")
        return self


class Power(Terms):
    """Power that the equipment draws and what is paid for it."""

    kw_per_gpu: KilowattsPerGpu | None = None
    """Equipment power of one GPU with its share of the rack; the hardware file's when not given. [kW/GPU]"""
    pue: PowerUsageEffectiveness
    """Power of the site over that of its equipment. [1]"""
    price_per_mwh: Amount
    """[currency/MWh]"""
    idle_share: Share = Decimal(0)
    """Share of full power drawn by a ready GPU that is not in use. [1]"""
    site_rent_per_kw_month: Amount | None = None
    """Rent of the hall for each kW of equipment power, from the Ready-for-Service Date, delivered or not.
    [currency/kW-month]"""
    contracted_kw: Kilowatts | None = None
    """Equipment power that rent is paid for; that of the GPUs when not given. [kW]"""
    density_choice: DensityChoice | None = None
