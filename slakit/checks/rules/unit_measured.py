"""A failed node that no line of the table measures.

Not expressible in this version, so not looked at: order lines of single racks.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from risk.contract_rules import credit_shape
from risk.core.data import Hardware, hardware, hardware_generations
from schemas.credit_shapes import NEEDS_TARGET
from schemas.deal import Deal
from schemas.service_levels import ServiceLevel
from slakit.checks.fees import ServiceView, services
from slakit.checks.finding import Concern, Raised
from slakit.checks.standards import exact, standards
from slakit.reports.figures import money_owed

ID = "trap-01-unit-measured"
CONCERN = Concern(provider="note", customer="error", lender="warning", insurer="warning")

_DOMAINS = ("scale_up_domain", "rack")


def find(deal: Deal) -> Iterator[Raised]:
    """Yield services sold by the node whose nodes, or scale-up domains, nobody measures."""
    for view in services(deal):
        if not _sold_by_node(view):
            continue
        per_node = {name: level for name, level in view.levels.items() if level.level == "node"}
        for name, level in per_node.items():
            if level.aggregation == "fleet_mean":
                yield from _raised(
                    view,
                    "service-levels.per-unit",
                    f"service_levels.{name}.aggregation",
                    "Nodes are measured by the mean of the fleet, so one dead node disappears in it.",
                )
        if view.levels and not per_node:
            units = ", ".join(dict.fromkeys(level.level.replace("_", " ") for level in view.levels.values()))
            yield from _raised(
                view,
                "node-availability.per-slot",
                f"services.{view.name}",
                f"A node can be down all month and no line of the table measures it: what is measured is the {units}.",
            )
        yield from _domains(view)


def _sold_by_node(view: ServiceView) -> bool:
    """Whether nodes can be told apart in what is sold: they are counted, or their hardware is known."""
    return any(cluster.units.node or cluster.hardware for cluster in view.clusters)


def _domains(view: ServiceView) -> Iterator[Raised]:
    """Yield a service of rack-scale hardware without a number of nodes that must work together."""
    if not view.levels or any(level.level in _DOMAINS and level.k for level in view.levels.values()):
        return
    for cluster in view.clusters:
        generation = _generation(cluster.hardware)
        if generation is not None and generation.domain_nodes.value > 1:
            nodes = generation.domain_nodes.value
            yield Raised(
                CONCERN,
                "domain-availability.k-of-n",
                f"services.{view.name}",
                f"{generation.title}: {nodes:f} nodes form one scale-up domain, and no service level says how many of "
                "them must work together. A job that needs the whole domain stops while every measured unit may be up.",
            )
            return


def _generation(name: str | None) -> Hardware | None:
    return hardware(name) if name in hardware_generations() else None


def _raised(view: ServiceView, paragraph: str, path: str, start: str) -> Iterator[Raised]:
    """Yield the finding with what one outage of one node would pay, here and measured by the node."""
    outage, month = exact(standards().reference_outage), exact(standards().reference_month)
    fee, nodes = view.fee(month), view.nodes
    if fee is None or not nodes or view.deal.commercial is None:
        yield Raised(CONCERN, paragraph, path, start)
        return
    here = _paid(view, int(outage), int(month * 60), fee, nodes)
    by_node = _share(_finest(view), int(outage), int(month * 60))
    if here is None or by_node is None:
        yield Raised(CONCERN, paragraph, path, start)
        return
    per_node = by_node * fee / nodes
    paid, measured = view.money(here), view.money(per_node)
    assert paid is not None
    assert measured is not None
    yield Raised(
        CONCERN,
        paragraph,
        path,
        f"{start} One node down {int(outage):,} minutes of a month of {int(month / 24)} days pays {money_owed(paid)} "
        f"here; by the same table, measured per node, it would pay {money_owed(measured)}.",
        view.money(per_node - here) if per_node > here else None,
    )


def _share(level: ServiceLevel, minutes: int, window: int, availability: Fraction | None = None) -> Fraction | None:
    """Return the share of a unit's fee that one outage earns, None where the contract does not say. [1]"""
    return credit_shape.of_one_outage(minutes, window, level, level.level, availability)


def _finest(view: ServiceView) -> ServiceLevel:
    """Return the level of the smallest unit measured."""
    order = ("node", "scale_up_domain", "rack", "hall", "cluster", "site", "fabric", "storage", "control_plane")
    return min(view.levels.values(), key=lambda level: order.index(level.level))


def _paid(view: ServiceView, minutes: int, window: int, fee: Fraction, nodes: int) -> Fraction | None:
    """Return what the draft pays for one node down, over all its levels; None where one does not say. [currency]"""
    credits: list[Fraction] = []
    for level in view.levels.values():
        paid = _level_pays(level, minutes, window, fee, nodes)
        if paid is None:
            return None
        credits.append(paid)
    return sum(credits, Fraction(0)) if view.deal.credits.between_levels == "cumulative" else max(credits)


def _level_pays(level: ServiceLevel, minutes: int, window: int, fee: Fraction, nodes: int) -> Fraction | None:
    units = _units_down(level, nodes)
    if not units:
        return Fraction(0)
    mean = None
    if level.level == "node" and level.aggregation == "fleet_mean" and level.credit.shape in NEEDS_TARGET:
        mean, units = 1 - Fraction(minutes, window) / nodes, Fraction(nodes)
    share = _share(level, minutes, window, mean)
    return None if share is None else share * fee * units / nodes


def _units_down(level: ServiceLevel, nodes: int) -> Fraction:
    """Return the nodes of the unit that one node takes down with it, 0 where the unit stays up. [1]"""
    if level.level == "node":
        return Fraction(1)
    if level.level in _DOMAINS and level.k and level.n:
        return Fraction(level.n if level.n - 1 < level.k else 0)
    if level.level == "cluster" and level.nodes_needed_share is not None:
        needed = -int(-(level.nodes_needed_share * nodes) // Decimal(1))
        return Fraction(nodes if nodes - 1 < needed else 0)
    return Fraction(0)
