"""Whole servers or racks within the power of a hall."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from math import floor
from typing import Any

from risk.core.data import hardware, hardware_generations


def equipment_kw(facility_mw: Decimal, pue: Decimal) -> Fraction:
    """Return the power left for equipment of what the facility draws. [kW]"""
    return Fraction(facility_mw) * 1000 / Fraction(pue)


def units_that_fit(kw: Decimal | Fraction, kw_per_unit: Decimal) -> int:
    """Return how many whole units a power feeds. [1]

    Parameters
    ----------
    kw : power for equipment. [kW]
    kw_per_unit : equipment power of one server or rack. [kW]

    Notes
    -----
    floor(kW / kW per unit), exactly: floor area, weight and cooling of the single rack are not looked at.

    Examples
    --------
    >>> [units_that_fit(Decimal(10_000), Decimal(kw)) for kw in (30, 140, 200)]
    [333, 71, 50]
    """
    return floor(Fraction(kw) / Fraction(kw_per_unit))


def racks_that_fit(facility_mw: Decimal, pue: Decimal) -> list[dict[str, Any]]:
    """Return for each hardware generation the whole racks, and their GPUs, that a facility feeds.

    Each has `hardware`, `title`, `rack_kw` [kW/rack], `racks` and `gpus` [1].
    """
    kw = equipment_kw(facility_mw, pue)
    rows = []
    for name in hardware_generations():
        data = hardware(name)
        racks = units_that_fit(kw, data.rack_kw.value)
        gpus = racks * int(data.gpus_per_node.value) * int(data.nodes_per_rack.value)
        rows.append(
            {"hardware": name, "title": data.title, "rack_kw": float(data.rack_kw), "racks": racks, "gpus": gpus}
        )
    return rows
