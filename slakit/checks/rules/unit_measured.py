"""A failed node that no line of the table measures.

Not expressible in this version, so not looked at: order lines of single racks, credits that are multiples of a price.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from risk.core.data import Hardware, hardware, hardware_generations
from schemas.credit_shapes import CreditBands
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
    availability = 1 - outage / (month * 60)
    here = _paid(view, availability, fee, nodes)
    table = _finest(view).credit
    per_node = credit_fraction(table, availability) * fee / nodes
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


def credit_fraction(table: CreditBands, availability: Fraction) -> Fraction:
    """Return the share of the fee that a table pays at an availability. [1]"""
    due = [Fraction(band.credit_fraction) for band in table.bands if availability < Fraction(band.below)]
    return max(due, default=Fraction(0))


def _finest(view: ServiceView) -> ServiceLevel:
    """Return the level of the smallest unit measured."""
    order = ("node", "scale_up_domain", "rack", "hall", "cluster", "site", "fabric", "storage", "control_plane")
    return min(view.levels.values(), key=lambda level: order.index(level.level))


def _paid(view: ServiceView, availability: Fraction, fee: Fraction, nodes: int) -> Fraction:
    """Return what the draft pays for one node down, over all its levels. [currency]"""
    credits = [_level_pays(level, availability, fee, nodes) for level in view.levels.values()]
    return sum(credits, Fraction(0)) if view.deal.credits.between_levels == "cumulative" else max(credits)


def _level_pays(level: ServiceLevel, availability: Fraction, fee: Fraction, nodes: int) -> Fraction:
    if level.level == "node":
        if level.aggregation == "fleet_mean":
            return credit_fraction(level.credit, 1 - (1 - availability) / nodes) * fee
        return credit_fraction(level.credit, availability) * fee / nodes
    if level.level in _DOMAINS and level.k and level.n:
        return (
            credit_fraction(level.credit, availability) * fee * level.n / nodes
            if level.n - 1 < level.k
            else Fraction(0)
        )
    if level.level == "cluster" and level.nodes_needed_share is not None:
        needed = -int(-(level.nodes_needed_share * nodes) // Decimal(1))
        return credit_fraction(level.credit, availability) * fee if nodes - 1 < needed else Fraction(0)
    return Fraction(0)
