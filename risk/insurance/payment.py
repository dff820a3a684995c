"""What a layer pays for one outage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from schemas.insurance import ParametricLayer

FloatArray = NDArray[np.float64]


def payment(layer: ParametricLayer, length_hours: FloatArray) -> FloatArray:
    """Return what the layer pays for outages of these lengths, before its year cap, same shape. [currency]

    Parameters
    ----------
    length_hours : length of each outage, any shape. [h]

    Notes
    -----
    With rate r, wait w and event cap c: `deductible` r min(max(d - w, 0), c); `qualifying` r min(d, c) if d > w;
    `completed_hours` r floor(min(max(d - w, 0), c)). The cap is on hours paid under every trigger, so a qualifying
    layer whose cap is meant beyond the wait has the cap w + c.

    Examples
    --------
    An outage of nine and a half hours, 1,000 an hour beyond a wait of eight:

    >>> import numpy as np
    >>> for trigger in ("deductible", "qualifying", "completed_hours"):
    ...     terms = ParametricLayer(trigger=trigger, rate_per_hour="1000", wait_hours=8, premium_per_month="0")
    ...     print(trigger, payment(terms, np.array([9.5])))
    deductible [1500.]
    qualifying [9500.]
    completed_hours [1000.]
    """
    wait = float(layer.wait_hours)
    cap = float(layer.event_cap_hours) if layer.event_cap_hours is not None else np.inf
    if layer.trigger == "qualifying":
        hours = np.where(length_hours > wait, np.minimum(length_hours, cap), 0.0)
    else:
        hours = np.clip(length_hours - wait, 0.0, cap)
        if layer.trigger == "completed_hours":
            hours = np.floor(hours)
    return float(layer.rate_per_hour) * hours
