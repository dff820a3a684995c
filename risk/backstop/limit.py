"""Most that a cover pays: in all, in each twelve months from close, and as it falls over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schemas.backstop import Cover

FloatArray = NDArray[np.float64]
YEAR = 12
"""Months of a year of cover, counted from close. [month]"""


@dataclass(frozen=True, slots=True)
class Limit:
    """Limits of one cover; infinite where none is agreed.

    Notes
    -----
    In month m all that has been paid may not exceed amount x max(1 - (m - start)/n, 0), n the months over which the
    amount falls: what was paid early is taken off the lower amount of later. The yearly amount starts anew in months 1,
    13, 25 ... and what is left of a year lapses.
    """

    amount: float
    """[currency]"""
    amount_per_year: float
    """[currency]"""
    amortisation_months: int | None

    @classmethod
    def of(cls, terms: Cover) -> Limit:
        """Return the limits typed in a backstop."""
        return cls(
            amount=float(terms.amount) if terms.amount is not None else np.inf,
            amount_per_year=float(terms.amount_per_year) if terms.amount_per_year is not None else np.inf,
            amortisation_months=terms.amortisation_months,
        )

    @property
    def is_none(self) -> bool:
        """Return whether nothing limits the cover."""
        return bool(np.isinf(self.amount) and np.isinf(self.amount_per_year))

    @staticmethod
    def begins_year(month: int) -> bool:
        """Return whether a year of cover begins with a month."""
        return (month - 1) % YEAR == 0

    def left(self, month: int, starts: FloatArray, paid: FloatArray) -> FloatArray:
        """Return what is left of the amount in a month, shape (draws,). [currency]

        Parameters
        ----------
        starts : when the cover starts, infinite if not yet known, shape (draws,). [month]
        paid : all that has been paid, shape (draws,). [currency]
        """
        if self.amortisation_months is None:
            return np.asarray(np.maximum(self.amount - paid, 0.0))
        elapsed = np.maximum(month - starts, 0.0)
        return np.asarray(np.maximum(self.amount * (1.0 - elapsed / self.amortisation_months) - paid, 0.0))

    def room(self, month: int, starts: FloatArray, paid: FloatArray, paid_this_year: FloatArray) -> FloatArray:
        """Return the most that can be paid in a month, shape (draws,). [currency]"""
        return np.asarray(
            np.minimum(self.left(month, starts, paid), np.maximum(self.amount_per_year - paid_this_year, 0.0))
        )
