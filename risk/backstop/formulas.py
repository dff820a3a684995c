"""What each shape of cover owes for one month, before its start, limit and provider are looked at.

Arrays have any shape, all the same or broadcastable; amounts are those of one month [currency], hours are GPU-hours of
the month, shares and fractions are of 1. Formulas are those of the method, section 11.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Figures = FloatArray | float


def unsold_hours_put(hours: Figures, sold_hours: Figures, floor_fraction: float, floor_rent: float) -> FloatArray:
    """Return floor rent for hours sold short of the covered fraction; nothing while the fleet is full. [currency]"""
    return np.asarray(floor_rent * np.maximum(floor_fraction * hours - sold_hours, 0.0))


def utilisation_floor(hours: Figures, sold_hours: Figures, floor_fraction: float, market_rent: Figures) -> FloatArray:
    """Return market rent for hours sold short of the covered fraction; little while rent is low. [currency]"""
    return np.asarray(market_rent * np.maximum(floor_fraction * hours - sold_hours, 0.0))


def revenue_floor(hours: Figures, market_revenue: Figures, floor_fraction: float, floor_rent: float) -> FloatArray:
    """Return what market revenue falls short of floor rent on the covered fraction of the hours. [currency]"""
    return np.asarray(np.maximum(floor_rent * floor_fraction * hours - market_revenue, 0.0))


def index_price_floor(hours: Figures, index: Figures, floor_fraction: float, strike: float) -> FloatArray:
    """Return what a rent index falls short of the strike, whatever the deal earns. [currency]"""
    return np.asarray(floor_fraction * hours * np.maximum(strike - index, 0.0))


def leaseback(hours: Figures, market_revenue: Figures, floor_rent: float) -> FloatArray:
    """Return rent for all hours less the market revenue that the lessee keeps; may be negative. [currency]"""
    return np.asarray(floor_rent * hours - market_revenue)


def payment_guarantee(rent_due: Figures, rent_paid: Figures) -> FloatArray:
    """Return rent due that was not paid. [currency]"""
    return np.asarray(np.maximum(rent_due - rent_paid, 0.0))


def residual_guarantee(value: Figures, threshold: float, renewed: NDArray[np.bool_] | bool) -> FloatArray:
    """Return what value falls short of the threshold; nothing where the lease was renewed. [currency]"""
    return np.asarray(np.where(renewed, 0.0, np.maximum(threshold - value, 0.0)))


def first_loss(loss: Figures, share: float) -> FloatArray:
    """Return the share of a lender's loss that the cover bears, before its size is looked at. [currency]"""
    return np.asarray(share * np.maximum(loss, 0.0))
