"""A target that is missed only when every unit is down together.

Not expressible in this version, so not looked at: tests that need a failed relaunch elsewhere before a unit is down.
"""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from schemas.service_levels import ServiceLevel
from slakit.checks.fees import services
from slakit.checks.finding import Concern, Raised
from slakit.reports.figures import agreed_percent

ID = "trap-02-all-down-at-once"
CONCERN = Concern(provider="note", customer="warning", lender="note", insurer="warning")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield levels that one surviving unit of many keeps up."""
    for name, level in deal.service_levels.items():
        if level.k == 1 and level.n is not None and level.n > 1:
            yield Raised(
                CONCERN,
                "domain-availability.k-of-n",
                f"service_levels.{name}.k",
                f"{_promise(level)} is missed only if all {level.n} nodes are down "
                "together; one that still works keeps the rest from counting.",
            )
    for view in services(deal):
        for name, level in view.levels.items():
            share, nodes = level.nodes_needed_share, view.nodes
            if share is None or level.level != "cluster":
                continue
            if share == 0 or (nodes is not None and nodes > 1 and share * nodes <= 1):
                among = f"all {nodes:,} nodes" if nodes else "all nodes"
                yield Raised(
                    CONCERN,
                    "cluster-availability.k-of-n",
                    f"service_levels.{name}.nodes_needed_share",
                    f"{_promise(level)} for the cluster is missed only if {among} are down "
                    "together; a synchronous job stops long before that.",
                )


def _promise(level: ServiceLevel) -> str:
    """Return what the level promises, in words."""
    return "The level" if level.target is None else f"The target of {agreed_percent(level.target)}"
