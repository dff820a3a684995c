"""What is paid for capacity that is reserved: a least share of it, or the share that is used where that is more."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from risk.core.computed import Computed, Step
from risk.core.setting import least_share, share_paid
from schemas.commercial import Charge
from schemas.errors import DealError, Problem
from schemas.money import Money, rounded_to_minor_unit

PARAGRAPH = "take-or-pay.use"
LEAST_PARAGRAPH = "take-or-pay.minimum"


def exact(price: Fraction, used: Fraction, charge: Charge, currency: str, path: str) -> Computed[Money]:
    """Return the fee of a month, rounded once.

    Parameters
    ----------
    price : what all the capacity in service costs in the month, see `monthly_price`. [currency]
    used : share of that capacity that the customer used. [1]
    charge : the terms; all of the capacity is paid for where they name no least share.
    path : path of the terms, for example `commercial.charges.compute`.

    Raises
    ------
    DealError
        When the share used is not from 0 to 1.
    """
    if not 0 <= used <= 1:
        raise DealError([Problem("used", str(used), "a share from 0 to 1", "divide hours used by hours in service")])
    least = Fraction(1 if charge.take_or_pay is None else charge.take_or_pay)
    term = f"{path}.take_or_pay"
    facts = {"price": price, "least_share": least}
    steps = [Step(LEAST_PARAGRAPH, "a least share of the price is due, used or not", least * price, facts, term)]
    due = max(least, used) * price
    money = Money(rounded_to_minor_unit(due, currency), currency)
    rule = "the fee is for the greater of the least share and the share used, rounded once"
    steps.append(Step(PARAGRAPH, rule, money, {"used": used, "least_share": least, "due": due}, term))
    return Computed(money, tuple(steps))


def arrays(used: NDArray[np.float64], charge: Charge) -> NDArray[np.float64]:
    """Return the share of the price that is due, shape as `used`. [1]

    Parameters
    ----------
    used : share of the capacity in service that the customer used, any shape. [1]
    """
    return share_paid(used, least_share(charge))
