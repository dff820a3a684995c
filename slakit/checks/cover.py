"""When the cover of a backstop runs, with every tranche on its date, and what it is called."""

from __future__ import annotations

from risk.core.calendar import timeline
from schemas.backstop import Backstop
from schemas.deal import Deal
from schemas.periods import DatePoint

_WORDS = {
    "unsold_hours_put": "put on unsold hours",
    "utilisation_floor": "utilisation floor",
    "revenue_floor": "revenue floor",
    "index_price_floor": "index floor",
    "leaseback": "leaseback",
    "payment_guarantee": "guarantee",
    "residual_guarantee": "residual value guarantee",
    "first_loss": "first loss cover",
}


def cover_in_words(backstop: Backstop) -> str:
    """Return what people call a cover of this shape."""
    return _WORDS[backstop.shape]


def months_after_close(deal: Deal, point: DatePoint) -> float:
    """Return where a date falls among the months of a financed deal. [month after close]"""
    assert deal.finance is not None
    return timeline(deal.finance.close, 1, deal.assumptions.calendar, deal.measurement.zone).at(point)


def cover_starts(deal: Deal) -> float | None:
    """Return when cover starts, None where the deal has no dates of delivery. [month after close]

    The first rent falls due with the first tranche; cover that starts for each tranche starts with the first.
    """
    backstop = deal.backstop
    assert backstop is not None
    if backstop.starts == "signing":
        return 0.0
    if backstop.start_date is not None:
        return months_after_close(deal, backstop.start_date)
    if deal.delivery is None:
        return None
    ready = [months_after_close(deal, tranche.ready_for_service_date) for tranche in deal.delivery.tranches.values()]
    return max(ready) if backstop.starts == "rfs_all" else min(ready)
