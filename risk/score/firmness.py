"""How far the debt rests on fees that are firm: the end of the firm term, the tail after it, and what covers that."""

from __future__ import annotations

from dataclasses import dataclass

from risk.core.setting import Setting
from risk.finance.loan import Schedule

EXACT = 1e-9
"""Months closer than this are the same. [month]"""
COVERS_A_TAIL = ("unsold_hours_put", "utilisation_floor", "revenue_floor", "index_price_floor", "leaseback")
"""Shapes of backstop that pay for capacity whose contract has run out."""


@dataclass(frozen=True, slots=True)
class Firmness:
    """The end of what is firm against the end of the debt. [month]"""

    firm_end: float
    """First moment at which a tranche may be without a contract though nothing has failed."""
    last_payment: int
    covered_to: float
    """End of a cover that pays for capacity under no contract; `firm_end` where there is none."""

    @property
    def tail(self) -> float:
        """Return the months of debt service after the firm term. [month]"""
        return _beyond(self.last_payment, self.firm_end)

    @property
    def uncovered_tail(self) -> float:
        """Return the months of it in which no cover is in force. [month]"""
        return _beyond(self.last_payment, max(self.firm_end, self.covered_to))


def firmness(setting: Setting, plan: Schedule) -> Firmness:
    """Return how firm the fees behind a loan are, every tranche on its date."""
    deal, line = setting.deal, setting.timeline
    firm = float(setting.term_ends(setting.planned_ready).min())
    leave = deal.cancellation.convenience
    if leave is not None:
        firm = min(firm, line.at(leave.first_exercise) + line.length(leave.notice))
    covered = firm
    if deal.backstop is not None and deal.backstop.shape in COVERS_A_TAIL:
        expires = deal.backstop.expires
        covered = line.at(expires) if expires is not None else float(plan.last_payment_month)
    return Firmness(firm, plan.last_payment_month, covered)


def _beyond(end: float, begin: float) -> float:
    return end - begin if end - begin > EXACT else 0.0
