"""What is promised per unit, and how it is measured."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from schemas.base import Terms
from schemas.credit_shapes import NEEDS_TARGET, CreditBands, CreditShape
from schemas.errors import TermsError
from schemas.units import (
    BusinessDays,
    Days,
    Flag,
    Hours,
    Identifier,
    Key,
    Minutes,
    MinutesOfAMonth,
    Name,
    Number,
    Positive,
    Share,
    Zone,
)

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


class Measurement(Terms):
    """How minutes are counted, for all levels unless one says otherwise."""

    zone: Zone = "UTC"
    """Zone whose midnights cut the measurement periods."""
    period: Literal["calendar_month", "billing_month", "rolling_days", "quarter", "year"] = "calendar_month"
    """`billing_month`: from `billing_day` to the day before it in the next month; `rolling_days`: `rolling_days` each,
    one after the other from the first day of service; quarters and years of the calendar."""
    billing_day: Annotated[Positive, Field(le=28)] = 1
    """First day of a billing month. [1]"""
    rolling_days: Annotated[Positive, Field(le=366)] = 30
    """[day]"""
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
    backdate_limit_hours: Hours | None = None
    """An outage never starts more than this before the customer's notice or the ticket; no limit when absent. [h]"""
    ends_at: Literal["first_good", "readmission"] = "readmission"
    straddle: Literal["split", "start_month", "end_month"] = "split"
    """Month that gets the minutes of an outage over a month end."""
    first_partial: Literal["own_period", "merge_next", "none"] = "own_period"
    """`own_period`: a unit's first part of a period is a short period; `merge_next`: it is measured together with the
    next one; `none`: it is not measured."""
    min_window_days: Days = 0
    """A first part of a period shorter than this is measured together with the next one. [day]"""
    amendment_applies: Literal["next_period", "at_incident", "at_date_split"] = "next_period"
    """`next_period`: an amendment applies from the first period that starts on or after its date; `at_incident`: the
    terms in force when an outage starts decide about it; `at_date_split`: the period is divided at the date."""
    monitor: Literal["provider", "provider_with_customer_access", "customer", "third_party"] = (
        "provider_with_customer_access"
    )
    monitor_interval_seconds: Positive = 60
    """[s]"""
    monitor_fallback: Flag = True
    """Whether the customer's monitor decides while the monitor of record is silent."""
    monitors: dict[
        Annotated[str, Field(min_length=1, max_length=200)], Literal["provider", "customer", "third_party"]
    ] = {}
    """Monitor as its records name it to whose it is."""
    conflict: Literal["provider", "customer", "longer", "shorter", "expert"] = "expert"
    """Who or what decides when two monitors differ; until an expert has, only what is undisputed counts."""
    fault_list: dict[Key, Literal["down", "degraded", "application", "no_event"]] = {}
    """Fault code as logs name it to what it means under the contract, whatever state the log gives it; once there is a
    list, a code that is not on it is the application's."""
    business_calendars: tuple[Name, ...] = ()
    """Holidays that are no Business Days, such as `US-NY` or `NYSE`; Saturdays and Sundays never are."""
    day_count: Literal["exclude_event_day", "include_event_day"] = "exclude_event_day"
    """Whether the day after an event is day 1, or the day of the event itself."""
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


class DegradedMetric(Terms):
    """One measure of performance below which a unit that answers still counts as degraded."""

    baseline: Number | None = None
    """Accepted value, in the unit of the metric; records give shares of it when absent."""
    floor: Share = Decimal("0.90")
    """Share of the baseline below which the unit is degraded. [1]"""
    minimum_minutes: Minutes = 30
    """Shortest spell below the floor that counts. [min]"""
    weight: Literal["none", "shortfall", "full"] = "shortfall"
    """What a degraded minute counts: nothing, one less measured over baseline, or a full minute."""


class ServiceLevel(Terms):
    """One promise: a unit, a test of being down, a target and the price of missing it."""

    level: Level
    service: Identifier | None = None
    """Service whose units are measured; may be left out when the deal has one service."""
    target: Share | None = None
    """Promised availability of one unit in one period; none where the credit does not look at availability. [1]"""
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
    down_when: Literal["too_few_up", "any_down", "all_down", "capacity_share"] = "too_few_up"
    """For a unit that contains nodes: while fewer are up than it needs, any of them is down, all of them are, or, with
    `capacity_share`, each minute in the share of its nodes that is down."""
    spares_count: Flag = False
    """Whether spare nodes stand among the nodes of a rack or cluster."""
    requires: tuple[Literal["fabric", "storage", "control_plane"], ...] = ()
    """Levels of which a unit within, or beside it in the same parent, must be up for it to be up."""
    degraded: dict[Key, DegradedMetric] = {}
    """Metric, as records name it, to when it counts."""
    base_share: Share | None = None
    """Share of the fee of the containing unit that stands for this one, which has no fee of its own. [1]"""
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
        if self.level == "cluster" and self.nodes_needed_share is None and self.down_when == "too_few_up":
            raise TermsError(
                "no nodes_needed_share",
                "the share of nodes a cluster needs to be up",
                "add nodes_needed_share, for example 0.95",
            )
        if self.target is None and self.credit.shape in NEEDS_TARGET:
            raise TermsError(
                f"no target and a credit of shape {self.credit.shape!r}", "a target", "add target, for example 0.995"
            )
        first = self.credit.bands[0].below if isinstance(self.credit, CreditBands) else None
        if first is not None and self.target is not None and first > self.target:
            raise TermsError(
                f"first band below {first}, target {self.target}",
                "no band above the target",
                "lower the band or raise the target",
            )
        return self
