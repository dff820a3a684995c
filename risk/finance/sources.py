"""Sources and uses at close."""

from __future__ import annotations

from dataclasses import dataclass

from risk.finance.loan import Schedule
from schemas.finance import Finance


@dataclass(frozen=True, slots=True)
class SourcesAndUses:
    """What is paid with the money raised for the project, and where it comes from. [currency]"""

    capital_expenditure: float
    interest_during_construction: float
    commitment_fee: float
    reserve: float
    other_uses: float
    loan: float
    prepayment: float
    equity: float

    @property
    def uses(self) -> float:
        """Return the total of uses, which equals the total of sources."""
        return (
            self.capital_expenditure
            + self.interest_during_construction
            + self.commitment_fee
            + self.reserve
            + self.other_uses
        )


def sources_and_uses(terms: Finance, plan: Schedule | None, reserve: float, prepayment: float) -> SourcesAndUses:
    """Return sources and uses: equity is what loan and prepayment leave open.

    Parts of the loan drawn later count in full, as what they pay for does: equity goes in at close, the loan after it.
    """
    interest = plan.interest_during_construction if plan else 0.0
    fee = plan.commitment_fee if plan else 0.0
    loan = plan.commitment if plan else 0.0
    uses = float(terms.capital_expenditure) + interest + fee + reserve + float(terms.other_uses)
    return SourcesAndUses(
        capital_expenditure=float(terms.capital_expenditure),
        interest_during_construction=interest,
        commitment_fee=fee,
        reserve=reserve,
        other_uses=float(terms.other_uses),
        loan=loan,
        prepayment=prepayment,
        equity=uses - loan - prepayment,
    )
