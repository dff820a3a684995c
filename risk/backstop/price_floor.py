"""Value of an index price floor by closed form, where rent is lognormal and nothing limits the cover."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

FloatArray = NDArray[np.float64]


def put_on_forward(
    forward: ArrayLike, strike: float, volatility: float, years: ArrayLike, discount_rate: float
) -> FloatArray:
    """Return today's value of max(strike - rent, 0) of one hour on a date, shapes broadcast. [currency/GPU-hour]

    Parameters
    ----------
    forward : expected rent on the date, above 0. [currency/GPU-hour]
    volatility : standard deviation of the logarithm of rent over a year, above 0. [1/year^0.5]
    years : from today to the date, above 0. [year]
    discount_rate : continuous. [1/year]

    Notes
    -----
    exp(-r T) (K Phi(-d2) - F Phi(-d1)), d1 = (ln(F/K) + v^2 T/2)/(v sqrt T), d2 = d1 - v sqrt T. Right for a lognormal
    rent whose expected value is the forward; what bears the risk is not priced.

    References
    ----------
    F. Black, The pricing of commodity contracts, Journal of Financial Economics 3 (1976).

    Examples
    --------
    >>> float(put_on_forward(2.0, 2.0, 0.4, 1.0, 0.0).round(6))
    0.317039
    """
    forward, years = np.asarray(forward, dtype=float), np.asarray(years, dtype=float)
    spread = volatility * np.sqrt(years)
    above = (np.log(forward / strike) + spread**2 / 2) / spread
    return np.asarray(np.exp(-discount_rate * years) * (strike * ndtr(spread - above) - forward * ndtr(-above)))


def price_floor_value(
    *,
    spot_rent: float,
    decay_per_year: float,
    volatility: float,
    strike: float,
    discount_rate: float,
    hours: ArrayLike,
) -> float:
    """Return today's value of an index price floor without limit that pays at each month's end. [currency]

    Parameters
    ----------
    spot_rent : rent today. [currency/GPU-hour]
    decay_per_year : continuous loss of expected rent. [1/year]
    volatility : of a random walk of log rent that keeps its mean; monthly noise x sqrt(12). [1/year^0.5]
    discount_rate : continuous. [1/year]
    hours : covered GPU-hours of months 1..M, shape (months,). [h]
    """
    hours = np.asarray(hours, dtype=float)
    years = np.arange(1, len(hours) + 1) / 12
    forward = spot_rent * np.exp(-decay_per_year * years)
    return float(hours @ put_on_forward(forward, strike, volatility, years, discount_rate))
