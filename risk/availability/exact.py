"""The diagram of one row, evaluated for a site of many like rows: exact probabilities and their derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.availability.blocks import at_least_down, exactly_down
from risk.availability.structure import RowDiagram

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class SiteValues:
    """A site of `rows` like rows that is down while at least `least` of them are.

    Notes
    -----
    The blocks of the site are asked first, so every state of theirs ends at one entry node, below which a row depends
    on its own blocks alone. Given the entry, rows fail independently with one probability: the number of rows down is
    binomial, and the site a mixture of these over the entries. Nothing is truncated.
    """

    diagram: RowDiagram
    rows: int
    least: int
    row_down: tuple[float, ...]
    """Probability that the row is down, given that the diagram has come to each node. [1]"""
    reached: tuple[float, ...]
    """Probability that the diagram comes to each node of the site's blocks and each entry. [1]"""
    site_down: tuple[float, ...]
    """Probability that the site is down, given each such node. [1]"""

    @property
    def unavailability(self) -> float:
        """Return the probability that the site is down. [1]"""
        return self.site_down[self.diagram.root]

    def entries(self) -> list[int]:
        """Return the entry nodes that are reached."""
        return [node for node, p in enumerate(self.reached) if p > 0 and self.diagram.is_entry(node)]

    def rows_down(self) -> FloatArray:
        """Return the probability of 0, 1 ... `rows` rows down, shape (rows + 1,). [1]"""
        number, law = np.arange(self.rows + 1), np.zeros(self.rows + 1)
        for node in self.entries():
            law += self.reached[node] * exactly_down(number, self.rows, self.row_down[node])
        return law

    def birnbaum(self, down: Sequence[float]) -> tuple[float, ...]:
        """Return by block how far the site's unavailability moves with that of one copy of it. [1]

        For a block of the row, of one row's copy.
        """
        diagram = self.diagram
        moves = [0.0] * len(diagram.names)
        for node, p in enumerate(self.reached):
            if p > 0 and not diagram.is_entry(node):
                better, worse = diagram.if_up[node], diagram.if_down[node]
                moves[diagram.variable[node]] += p * (self.site_down[worse] - self.site_down[better])
        entries = self.entries()
        last_straw = {  # probability that one more row down brings the site down
            node: self.reached[node] * float(exactly_down(self.least - 1, self.rows - 1, self.row_down[node]))
            for node in entries
        }
        for variable in range(diagram.shared, len(diagram.names)):
            slope = [0.0] * len(diagram.variable)
            for node in range(2, len(diagram.variable)):
                if not diagram.is_entry(node):
                    break
                worse, better = diagram.if_down[node], diagram.if_up[node]
                if diagram.variable[node] == variable:
                    slope[node] = self.row_down[worse] - self.row_down[better]
                else:
                    q = down[diagram.variable[node]]
                    slope[node] = q * slope[worse] + (1.0 - q) * slope[better]
            moves[variable] = sum(weight * slope[node] for node, weight in last_straw.items())
        return tuple(moves)


def site_values(diagram: RowDiagram, down: Sequence[float], rows: int, least: int) -> SiteValues:
    """Return the values of a site whose blocks are down with the probabilities `down`, in the diagram's order.

    Parameters
    ----------
    down
        Of each block, in the order of `diagram.names`. [1]
    rows
        Like rows of racks. [1]
    least
        Rows down that bring the site down. [1]
    """
    count = len(diagram.variable)
    row_down = [1.0, 0.0] + [0.0] * (count - 2)
    site_down = [0.0] * count
    for node in range(count):  # children before parents
        if node >= 2:
            q = down[diagram.variable[node]]
            worse, better = diagram.if_down[node], diagram.if_up[node]
            row_down[node] = q * row_down[worse] + (1.0 - q) * row_down[better]
            if not diagram.is_entry(node):
                site_down[node] = q * site_down[worse] + (1.0 - q) * site_down[better]
                continue
        site_down[node] = at_least_down(least, rows, row_down[node])
    reached = [0.0] * count
    reached[diagram.root] = 1.0
    for node in range(count - 1, 1, -1):
        if reached[node] > 0 and not diagram.is_entry(node):
            q = down[diagram.variable[node]]
            reached[diagram.if_down[node]] += reached[node] * q
            reached[diagram.if_up[node]] += reached[node] * (1.0 - q)
    return SiteValues(diagram, rows, least, tuple(row_down), tuple(reached), tuple(site_down))
