"""Minimal cut sets: the smallest sets of blocks whose failure together takes the site down."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from risk.availability.structure import DOWN, RowDiagram

HIGHEST_ORDER = 6
"""Components in the largest cut sets that are looked for."""
MOST_COMPARISONS = 1_000_000
"""Comparisons of two cut sets above which larger ones are not looked for; a limit of the method."""


@dataclass(frozen=True, slots=True)
class CutSet:
    """Blocks that take the site down together and no fewer, with all sets that are like it but for the rows."""

    site_blocks: tuple[str, ...]
    row_blocks: tuple[tuple[str, ...], ...]
    """For each row involved, the row's own blocks."""
    order: int
    """Components that must be down. [1]"""
    alike: int
    """Sets of this form, one for each choice of rows. [1]"""
    probability: float
    """That all blocks of one such set are down. [1]"""
    per_hour: float
    """How often one such set comes to be down. [1/h]"""

    @property
    def mean_hours(self) -> float:
        """Return the mean time until a block of the set is back. [h]"""
        return self.probability / self.per_hour if self.per_hour > 0 else 0.0


@dataclass(frozen=True, slots=True)
class CutSets:
    """Minimal cut sets up to an order, the most frequent first."""

    sets: tuple[CutSet, ...]
    highest_order: int
    """Every minimal cut set of at most this many components is here. [1]"""

    def shares(self) -> tuple[float, ...]:
        """Return the share of each form in the sum of the frequencies of all. [1]"""
        total = sum(s.alike * s.per_hour for s in self.sets)
        return tuple(s.alike * s.per_hour / total if total > 0 else 0.0 for s in self.sets)


def minimal_cut_sets(
    diagram: RowDiagram,
    orders: Sequence[int],
    down: Sequence[float],
    per_hour: Sequence[float],
    rows: int,
    least: int,
) -> CutSets:
    """Return the minimal cut sets of a site that is down while at least `least` of its like rows are.

    Parameters
    ----------
    orders, down, per_hour
        Of each block: components that must be down [1], probability of being down [1], how often [1/h].

    Notes
    -----
    A set comes to be down at the rate: sum over its blocks of (rate of that block x probability that the others are
    down), which is exact for independent blocks.
    """
    found = CutSets((), 0)
    for highest in range(1, HIGHEST_ORDER + 1):
        of_row = _row_cut_sets(diagram, orders, highest)
        if of_row is None:
            break
        forms = _site_forms(of_row, diagram.shared, orders, least, highest)
        if forms is None:
            break
        sets = [_cut_set(diagram, form, orders, down, per_hour, rows) for form in forms]
        sets.sort(key=lambda s: (-s.alike * s.per_hour, s.order, s.site_blocks, s.row_blocks))
        found = CutSets(tuple(sets), highest)
    return found


def _row_cut_sets(diagram: RowDiagram, orders: Sequence[int], highest: int) -> list[int] | None:
    """Return the minimal cut sets of one row as bit masks of blocks; None when that takes too long."""
    sets: list[list[int]] = [[] for _ in diagram.variable]
    sets[DOWN] = [0]
    sizes = {0: 0}
    compared = 0
    for node in range(2, len(diagram.variable)):
        without = sets[diagram.if_up[node]]
        bit = 1 << diagram.variable[node]
        order = orders[diagram.variable[node]]
        smaller = [mask for mask in sets[diagram.if_down[node]] if sizes[mask] + order <= highest]
        compared += len(smaller) * len(without)
        if compared > MOST_COMPARISONS:
            return None
        more = [mask | bit for mask in smaller if not any(kept & ~(mask | bit) == 0 for kept in without)]
        sizes.update((mask | bit, sizes[mask] + order) for mask in smaller)
        sets[node] = without + more
    return sets[diagram.root]


def _order(mask: int, orders: Sequence[int]) -> int:
    return sum(orders[i] for i in _bits(mask))


def _bits(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


Form = tuple[int, tuple[int, ...]]
"""Blocks of the site, and for each row involved the row's own blocks."""


def _site_forms(of_row: list[int], shared: int, orders: Sequence[int], least: int, highest: int) -> list[Form] | None:
    """Return the forms of the site's minimal cut sets; None when that takes too long."""
    site_mask = (1 << shared) - 1
    whole = [mask for mask in of_row if mask & ~site_mask == 0]
    partial = [mask for mask in of_row if mask & ~site_mask]
    forms: list[Form] = [(mask, ()) for mask in whole]
    tried = 0
    stack: list[tuple[int, int, tuple[int, ...], int]] = [(0, 0, (), 0)]
    seen: set[Form] = set()
    while stack:
        start, site, chosen, used = stack.pop()
        if len(chosen) == least:
            form = (site, tuple(sorted(chosen)))
            tried += len(of_row) if least > 1 else 0
            if form not in seen and (least == 1 or _is_minimal(form, partial, whole)):
                seen.add(form)
                forms.append(form)
            continue
        for i in range(start, len(partial)):
            tried += 1
            if tried > MOST_COMPARISONS:
                return None
            own = partial[i] & ~site_mask
            grown = site | (partial[i] & site_mask)
            order = used + _order(own, orders)
            if order + _order(grown, orders) <= highest:
                stack.append((i, grown, (*chosen, own), order))
    return forms


def _is_minimal(form: Form, partial: list[int], whole: list[int]) -> bool:
    """Return whether no part of `form` takes the site down by itself."""
    site, chosen = form
    if any(mask & ~site == 0 for mask in whole):
        return False

    def row_is_down(site_blocks: int, own: int) -> bool:
        return any(mask & ~(site_blocks | own) == 0 for mask in partial)

    for own in set(chosen):
        if any(row_is_down(site, own & ~(1 << i)) for i in _bits(own)):
            return False
    return not any(all(row_is_down(site & ~(1 << i), own) for own in chosen) for i in _bits(site))


def _cut_set(
    diagram: RowDiagram,
    form: Form,
    orders: Sequence[int],
    down: Sequence[float],
    per_hour: Sequence[float],
    rows: int,
) -> CutSet:
    """Return a form with its figures."""
    site, chosen = form
    blocks = [*_bits(site), *(i for own in chosen for i in _bits(own))]
    probability = math.prod(down[i] for i in blocks)
    frequency = sum(
        per_hour[blocks[j]] * math.prod(down[i] for k, i in enumerate(blocks) if k != j) for j in range(len(blocks))
    )
    alike = math.perm(rows, len(chosen))
    for copies in Counter(chosen).values():
        alike //= math.factorial(copies)
    return CutSet(
        site_blocks=tuple(diagram.names[i] for i in _bits(site)),
        row_blocks=tuple(tuple(diagram.names[i] for i in _bits(own)) for own in chosen),
        order=_order(site, orders) + sum(_order(own, orders) for own in chosen),
        alike=alike,
        probability=probability,
        per_hour=frequency,
    )
