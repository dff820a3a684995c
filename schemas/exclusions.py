"""What does not count as downtime: a closed list, each head with its budget."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from schemas.base import Terms
from schemas.units import Days, Flag, Hours, Share, Text

Head = Literal[
    "scheduled",
    "emergency",
    "force_majeure",
    "customer_act",
    "customer_hold",
    "suspension",
    "test_at_customer_request",
]
ForceMajeureEvent = Literal[
    "natural_disaster_beyond_design_basis",
    "war",
    "terrorism",
    "epidemic_order",
    "government_act",
    "grid_collapse_beyond_autonomy",
    "cyber_attack",
    "congestion",
    "utility_power",
    "supplier_delay",
    "own_labour",
]
NeverForceMajeure = Literal[
    "utility_power_within_autonomy",
    "redundant_plant",
    "supplier_delay",
    "landlord_delay",
    "price",
    "cyber_attack",
    "own_labour",
    "own_misstatement",
    "own_operating_error",
]


class ScheduledMaintenance(Terms):
    """Planned work: valid only with notice, within a budget of hours."""

    notice_days: Days = 7
    """[day]"""
    cap_unit_month_hours: Hours | None = None
    """Greatest excluded time of one unit in one month; no cap when not given. [h]"""
    cap_cluster_quarter_hours: Hours | None = None
    """Greatest time of one contract quarter in which any unit of a cluster may be excluded; no cap when absent. [h]"""
    over_cap: Literal["counts"] = "counts"
    """Minutes over the cap are downtime, used up in time order."""
    partial_notice: Literal["void", "late_part_counts"] = "void"
    """What late notice does: no exclusion at all, or none before the notice period has run."""
    windows: Text | None = None
    """When planned work may be done, in words."""
    max_concurrent_fraction: Share | None = None
    """Greatest share of units under planned work at once. [1]"""
    checkpoint_warning_hours: Hours | None = None
    """Warning before a node is taken, so that work can be saved. [h]"""


class EmergencyMaintenance(Terms):
    """Urgent work: short notice, its own allowance a quarter."""

    min_notice_hours: Hours
    """[h]"""
    cap_quarter_hours: Hours | None = None
    """Greatest excluded time of one unit in one contract quarter; no cap when not given. [h]"""
    stale_patch_days: Days | None = None
    """A fix that was public for longer than this before the work is no emergency; no limit when absent. [day]"""


class ForceMajeure(Terms):
    """Events neither side could stop or plan for."""

    events: tuple[ForceMajeureEvent, ...] = (
        "natural_disaster_beyond_design_basis",
        "war",
        "terrorism",
        "epidemic_order",
        "government_act",
        "grid_collapse_beyond_autonomy",
    )
    never: tuple[NeverForceMajeure, ...] = (
        "utility_power_within_autonomy",
        "redundant_plant",
        "supplier_delay",
        "landlord_delay",
        "price",
        "cyber_attack",
        "own_labour",
        "own_misstatement",
        "own_operating_error",
    )
    notice_days: Days = 3
    """Relief does not reach back further than this before the notice. [day]"""
    fee_during: Literal["abates", "continues"] = "abates"
    max_consecutive_days: Days = 60
    """After this either side may end the affected units. [day]"""
    max_days_in_180: Days = 90
    """[day]"""


class Exclusions(Terms):
    """The closed list of heads and the rules they share."""

    heads: tuple[Head, ...] = (
        "scheduled",
        "emergency",
        "force_majeure",
        "customer_act",
        "customer_hold",
        "suspension",
        "test_at_customer_request",
    )
    open_ended: Flag = False
    """Whether the printed list says `including`, which swallows the promise."""
    burden: Literal["provider", "customer"] = "provider"
    """Who proves an exclusion."""
    report_days: Days | None = None
    """Days after an excluded outage in which its root-cause report must be received, or it counts; none is asked when
    absent. [day]"""
    recovery_grace_hours: Hours = Decimal(0)
    """Time after the end of a window in which bringing a unit back is still excluded. [h]"""
    year_cap_hours: Hours | None = None
    """Greatest excluded time of one unit in one contract year, over all heads; no cap when absent. [h]"""
    concurrent: Literal["excluded_only_if_sole", "excluded_if_any"] = "excluded_only_if_sole"
    scheduled: ScheduledMaintenance = ScheduledMaintenance()
    emergency: EmergencyMaintenance | None = None
    force_majeure: ForceMajeure = ForceMajeure()
