"""How far one failure spreads: what else ends when a tranche, an order or a financing ends."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import networkx as nx


@dataclass(frozen=True, slots=True)
class Link:
    """A clause by which the end of one contract lets another end."""

    first: str
    """What ends."""
    then: str
    """What may then end too."""
    causes: frozenset[str] = frozenset()
    """Causes for which the clause speaks; every cause when empty."""


def exact(
    started: Iterable[str], cause: str, links: Iterable[Link], revenue: Mapping[str, Fraction]
) -> tuple[frozenset[str], Fraction]:
    """Return everything that a cause can end, and the share of all revenue that ends with it. [1]

    Parameters
    ----------
    started : what the cause ends by itself.
    links : clauses of cross-default; they may run in circles.
    revenue : revenue of each part, which may name parts without links; parts without revenue carry nothing. [currency]
    """
    graph: nx.DiGraph[str] = nx.DiGraph()
    graph.add_nodes_from(started)
    first = set(graph)
    graph.add_edges_from((link.first, link.then) for link in links if not link.causes or cause in link.causes)
    ended = frozenset(first).union(*(nx.descendants(graph, part) for part in first))
    whole = sum(revenue.values(), Fraction(0))
    lost = sum((amount for part, amount in revenue.items() if part in ended), Fraction(0))
    return ended, lost / whole if whole else Fraction(0)
