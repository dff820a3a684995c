"""GPUs, nodes and racks that do not fit the hardware they are said to be.

A cluster of something that is not sold by the GPU says so by naming no hardware.
"""

from __future__ import annotations

from collections.abc import Iterator

from risk.core import data
from schemas.deal import Deal
from slakit.checks.finding import Raised, everybody

ID = "units-of-hardware"
CONCERN = everybody("warning")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield clusters whose GPUs are not their nodes times the GPUs of one node."""
    for name, cluster in deal.clusters.items():
        if cluster.hardware is None or cluster.units.node is None:
            continue
        if cluster.hardware not in data.hardware_generations():
            continue
        each = int(data.hardware(cluster.hardware).gpus_per_node.value)
        if cluster.units.node * each != cluster.units.gpu:
            yield Raised(
                CONCERN,
                "topology-definitions.gpu",
                f"clusters.{name}.units.gpu",
                f"{cluster.units.node:,} nodes of {cluster.hardware} hold {cluster.units.node * each:,} GPUs, "
                f"{each} each; the deal says {cluster.units.gpu:,}.",
            )
