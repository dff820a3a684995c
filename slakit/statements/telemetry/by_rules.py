"""Lines of nodes by the exact rules, from the same spells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from schemas.deal import Deal
from schemas.errors import NotComputedError
from schemas.incidents import Incident, UnitService
from schemas.periods import Period
from slakit.statements.telemetry import states
from slakit.statements.telemetry.lines import NUMBERS
from slakit.statements.telemetry.rows import OPEN_END
from slakit.statements.telemetry.spells import Spells
from slakit.statements.telemetry.times import at


def lines_by_rules(
    deal: Deal,
    fees: Sequence[UnitService],
    nodes: Sequence[str],
    months: Sequence[Period],
    spells: Spells,
    which: NDArray[np.bool_],
) -> list[dict[str, Any]]:
    """Return the lines of some nodes by the exact rules, one row each."""
    from risk.contract_rules.statement import Records, statement

    concerned = spells.where(which[spells.unit])
    incidents = incidents_of(concerned, nodes)
    stated = statement(deal, Records(incidents=incidents, units=tuple(fees)), months)
    asked = {name for name, one in zip(nodes, which.tolist(), strict=True) if one}
    rows = []
    for line in stated.lines:
        if line.unit not in asked:
            continue
        value = line.availability
        whole = [
            line.window_minutes,
            line.down_minutes,
            line.excluded_minutes,
            line.disregarded_minutes,
            line.counted_minutes,
            line.unknown_minutes,
            value.numerator if value is not None else 0,
            value.denominator if value is not None else 0,
        ]
        if any(number != int(number) for number in whole):
            remedy = "use `slakit credits`, which shows parts of minutes"
            raise NotComputedError("measurement", f"parts of minutes of {line.unit!r} in a table of minutes", remedy)
        rows.append(
            {
                "period": str(line.period),
                "service_level": line.service_level,
                "service": [line.service],
                "unit": [line.unit],
                **{name: [int(number)] for name, number in zip(NUMBERS, whole, strict=True)},
                "credit_fraction": [f"{line.credit_fraction:f}"],
                "credit": [f"{line.credit.amount:f}"],
                "currency": line.credit.currency,
            }
        )
    return rows


def incidents_of(spells: Spells, names: Sequence[str]) -> tuple[Incident, ...]:
    """Return spells as incidents of nodes, without evidence."""
    wide = (spells.unit, spells.state, spells.start, spells.end, spells.line)
    return tuple(
        Incident(
            id=f"{names[unit]}:{i}"[:200],
            level="node",
            unit_id=names[unit],
            state=states.NAMES[state],
            started_at=at(start),
            ended_at=at(end) if end < OPEN_END else None,
        )
        for i, (unit, state, start, end, _) in enumerate(zip(*(v.tolist() for v in wide), strict=True))
    )
