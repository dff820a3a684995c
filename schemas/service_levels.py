"""What is promised per unit, and how it is measured."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.units import BusinessDays, Flag, Identifier, Minutes, MinutesOfAMonth, Positive, Share, Zone

Level = Literal["node", "scale_up_domain", "rack", "cluster", "hall", "site", "fabric", "storage", "control_plane"]
DownTest = Literal[
    "unreachable",
    "gpu_missing",
    "listed_fault",
    "quarantined",
    "volume_unreachable",
    "not_schedulable",
    "too_few_units",
    "fabric_down",
    "power_lost",
    "cooling_lost",
]

LATER_SHAPES = (
    "linear",
    "steps",
    "duration_table",
    "multiple_of_price",
    "per_breach",
    "hour_waiver",
    "onset_plus_hourly",
    "term_extension",
)
"""Credit shapes of published contracts that this version does not compute."""


class CreditBand(Terms):
    """One row of a credit table."""

    below: Share
    """The band applies when measured availability is strictly below this. [1]"""
    credit_fraction: Share
    """Share of the base credited. [1]"""


class CreditBands(Terms):
    """A table of bands: the greatest fraction whose threshold is above the availability, unrounded."""

    shape: Literal["bands"] = "bands"
    bands: tuple[CreditBand, ...] = Field(min_length=1, max_length=20)

    @model_validator(mode="after")
    def _from_the_highest_threshold_to_the_lowest(self) -> Self:
        for i, (previous, band) in enumerate(zip(self.bands, self.bands[1:], strict=False), start=1):
            if band.below >= previous.below:
                raise TermsError(
                    f"bands[{i}].below {band.below}",
                    f"less than bands[{i - 1}].below ({previous.below})",
                    "list bands from the highest threshold to the lowest",
                )
            if band.credit_fraction <= previous.credit_fraction:
                raise TermsError(
                    f"bands[{i}].credit_fraction {band.credit_fraction}",
                    f"more than bands[{i - 1}].credit_fraction ({previous.credit_fraction})",
                    "a lower availability must pay more; correct the fraction",
                )
        return self


def _known_shape(value: Any) -> Any:
    shape = value.get("shape") if isinstance(value, dict) else None
    if shape in LATER_SHAPES:
        raise TermsError(
            f"shape {shape!r}",
            "shape 'bands'",
            f"the shape {shape!r} is not computed by this version, so it is refused; use bands",
        )
    return value


CreditShape = Annotated[CreditBands, BeforeValidator(_known_shape)]


class Measurement(Terms):
    """How minutes are counted, for all levels unless one says otherwise."""

    zone: Zone = "UTC"
    """Zone whose midnights cut the calendar months."""
    month_length: Literal["actual", "fixed_30"] = "actual"
    """`fixed_30`: every month counts 43,200 minutes."""
    minute_rule: Literal["floor_piece", "floor_outage", "ceil_outage", "exact_seconds"] = "floor_piece"
    """`floor_piece`: each remaining piece of an outage is cut down to whole minutes after exclusions."""
    minimum_outage_minutes: MinutesOfAMonth = 1
    """Outages shorter than this do not count; tested on the whole outage. [min]"""
    minimum_test: Literal["at_least", "more_than"] = "at_least"
    merge_gap_minutes: Minutes = 5
    """Outages of one unit closer together than this are one outage. [min]"""
    gap_counts: Flag = False
    """Whether the gap between merged outages counts as downtime."""
    starts_at: Literal["first_failed_reading", "detection", "customer_notice", "ticket_confirmed"] = (
        "first_failed_reading"
    )
    ends_at: Literal["first_good", "readmission"] = "readmission"
    straddle: Literal["split", "start_month", "end_month"] = "split"
    """Month that gets the minutes of an outage over a month end."""
    first_partial: Literal["own_period", "none"] = "own_period"
    """`own_period`: a unit's first part-month is a short period; `none`: it is not measured."""
    monitor: Literal["provider", "provider_with_customer_access", "customer", "third_party"] = (
        "provider_with_customer_access"
    )
    monitor_interval_seconds: Positive = 60
    """[s]"""
    monitor_fallback: Flag = True
    """Whether the customer's monitor decides while the monitor of record is silent."""
    conflict: Literal["provider", "customer", "longer", "shorter", "expert"] = "expert"
    """Who or what decides when two monitors differ."""
    objection_business_days: BusinessDays = 20
    """[business day]"""
    expert_business_days: BusinessDays = 20
    """[business day]"""


class MeasurementOverride(Terms):
    """Counting rules of one level that differ from `measurement`."""

    minimum_outage_minutes: MinutesOfAMonth | None = None
    """[min]"""
    minimum_test: Literal["at_least", "more_than"] | None = None
    minute_rule: Literal["floor_piece", "floor_outage", "ceil_outage", "exact_seconds"] | None = None
    merge_gap_minutes: Minutes | None = None
    """[min]"""
    month_length: Literal["actual", "fixed_30"] | None = None


class ServiceLevel(Terms):
    """One promise: a unit, a test of being down, a target and the price of missing it."""

    level: Level
    service: Identifier | None = None
    """Service whose units are measured; may be left out when the deal has one service."""
    target: Share
    """Promised availability of one unit in one month. [1]"""
    down_tests: tuple[DownTest, ...] = (
        "unreachable",
        "gpu_missing",
        "listed_fault",
        "quarantined",
        "volume_unreachable",
    )
    nodes_needed_share: Share | None = None
    """For a cluster: it is up while at least this share of its nodes, rounded up, is up. [1]"""
    k: Positive | None = None
    """For a rack or scale-up domain: nodes that must be up. [1]"""
    n: Positive | None = None
    """For a rack or scale-up domain: nodes in it. [1]"""
    excluded_leave: Literal["down_only", "both"] = "down_only"
    """Excluded minutes leave the downtime only, or the window too."""
    aggregation: Literal["per_unit", "fleet_mean"] = "per_unit"
    measured_from: Literal["each_tranche", "all_ready"] = "each_tranche"
    """`each_tranche`: a tranche is measured from its own readiness; `all_ready`: nothing is measured in a month unless
    every tranche of the service that is under contract is ready for the whole of it."""
    measurement: MeasurementOverride | None = None
    credit: CreditShape

    @model_validator(mode="after")
    def _needs_fit_the_level(self) -> Self:
        if (self.k is None) != (self.n is None):
            raise TermsError("one of k and n", "both or neither", "give k and n together")
        if self.k is not None and self.n is not None and self.k > self.n:
            raise TermsError(f"k {self.k} of n {self.n}", "k <= n", "lower k")
        if self.k is not None and self.level not in ("rack", "scale_up_domain"):
            raise TermsError(
                f"k and n on level {self.level!r}",
                "level rack or scale_up_domain",
                "use nodes_needed_share for a cluster",
            )
        if self.level == "cluster" and self.nodes_needed_share is None:
            raise TermsError(
                "no nodes_needed_share",
                "the share of nodes a cluster needs to be up",
                "add nodes_needed_share, for example 0.95",
            )
        first = self.credit.bands[0].below
        if first > self.target:
            raise TermsError(
                f"first band below {first}, target {self.target}",
                "no band above the target",
                "lower the band or raise the target",
            )
        return self
