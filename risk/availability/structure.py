"""The structure of one row of racks as a binary decision diagram, flattened to lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from schemas.errors import NotComputedError
from schemas.topology import AllOf, AnyOf, AtLeast, ComponentBlock, Topology, members

if TYPE_CHECKING:
    from oxidd.bdd import BDDFunction, BDDManager

MOST_NODES = 200_000
"""Greatest diagram that is evaluated; a limit of the method."""
WORKING_NODES = 1 << 21
"""Nodes that may exist while the diagram is built."""
DOWN, UP = 0, 1
"""The two end nodes."""


@dataclass(frozen=True, slots=True)
class RowDiagram:
    """Whether one row is served, by the blocks of the site first and then by the blocks of the row.

    Nodes 0 and 1 are the ends down and up; every other node stands after its children.
    """

    names: tuple[str, ...]
    """Component blocks in the order in which the diagram asks for them."""
    shared: int
    """How many of them belong to the site; the rest belong to the row. [1]"""
    variable: tuple[int, ...]
    """Block asked for at each node, an index into `names`; past the end for the two ends."""
    if_down: tuple[int, ...]
    if_up: tuple[int, ...]
    root: int

    def is_entry(self, node: int) -> bool:
        """Return whether `node` depends on nothing but the row's own blocks."""
        return self.variable[node] >= self.shared


def blocks_in_order(topology: Topology) -> tuple[str, ...]:
    """Return every block that `rows.up_when` needs, members before what they make up."""
    done: dict[str, None] = {}
    stack = [(topology.rows.up_when, False)]
    while stack:
        name, opened = stack.pop()
        if name in done:
            continue
        if opened:
            done[name] = None
            continue
        stack.append((name, True))
        stack.extend((member, False) for member in reversed(members(topology.blocks[name])))
    return tuple(done)


def row_diagram(topology: Topology, path: str) -> RowDiagram:
    """Return the diagram of one row.

    Raises
    ------
    NotComputedError
        When it is too large to be exact in reasonable time.
    """
    from oxidd.bdd import BDDManager

    order = blocks_in_order(topology)
    leaves = [(name, block) for name in order if isinstance(block := topology.blocks[name], ComponentBlock)]
    site = [name for name, block in leaves if block.per == "site"]
    row = [name for name, block in leaves if block.per == "row"]
    names = (*site, *row)
    manager = BDDManager(WORKING_NODES, WORKING_NODES // 4, 1)
    manager.add_vars(len(names))
    try:
        served = _function(topology, order, {name: manager.var(i) for i, name in enumerate(names)}, manager)
    except MemoryError:
        raise _too_large(path) from None
    return _flat(served, names, len(site), path)


def _function(
    topology: Topology, order: tuple[str, ...], known: dict[str, BDDFunction], manager: BDDManager
) -> BDDFunction:
    """Return the function that is true while the row is served."""
    for name in order:
        match topology.blocks[name]:
            case AllOf(all_of=parts):
                total = manager.true()
                for part in parts:
                    total = total & known[part]
                known[name] = total
            case AnyOf(any_of=parts):
                total = manager.false()
                for part in parts:
                    total = total | known[part]
                known[name] = total
            case AtLeast(at_least=least, of=parts):
                # reach[k]: at least k of the parts looked at so far work, from the last to the first
                reach = [manager.true()] + [manager.false()] * least
                for part in reversed(parts):
                    reach[1:] = [known[part].ite(reach[k - 1], reach[k]) for k in range(1, least + 1)]
                known[name] = reach[least]
    return known[topology.rows.up_when]


def _flat(served: BDDFunction, names: tuple[str, ...], shared: int, path: str) -> RowDiagram:
    """Return the diagram as lists, children before parents."""
    if served.node_count() > MOST_NODES:
        raise _too_large(path)
    found: dict[BDDFunction, tuple[int, BDDFunction, BDDFunction]] = {}
    stack = [served]
    while stack:
        function = stack.pop()
        if function in found:
            continue
        children = function.cofactors()
        variable = function.node_var()
        if children is None or variable is None:
            continue
        if_up, if_down = children
        found[function] = (variable, if_down, if_up)
        stack += [if_down, if_up]
    ordered = sorted(found, key=lambda function: -found[function][0])
    index = {function: i for i, function in enumerate(ordered, start=2)}

    def position(function: BDDFunction) -> int:
        if function in index:
            return index[function]
        return UP if function.valid() else DOWN

    past = len(names)
    return RowDiagram(
        names=names,
        shared=shared,
        variable=(past, past, *(found[f][0] for f in ordered)),
        if_down=(DOWN, UP, *(position(found[f][1]) for f in ordered)),
        if_up=(DOWN, UP, *(position(found[f][2]) for f in ordered)),
        root=position(served),
    )


def _too_large(path: str) -> NotComputedError:
    return NotComputedError(
        path,
        f"a structure of more than {MOST_NODES:,} decision nodes",
        "merge like components into one block with count and needed, or give each row its own blocks (per: row)",
    )
