"""Default of the customer and of the provider of the backstop, alone and together."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.counterparty.defaults import Counterparties
from risk.counterparty.law import default_probability, joint_default_law, joint_default_probability
from schemas.deal import Deal

__all__ = [
    "Counterparties",
    "default_probability",
    "from_deal",
    "joint_default_law",
    "joint_default_probability",
]


def from_deal(deal: Deal, setting: Setting) -> Counterparties | None:
    """Return the counterparties of the deal, or None where the credit of neither is given.

    Raises
    ------
    MissingTermError
        When the customer's hazard follows a market that the deal does not give.
    """
    terms = deal.assumptions.counterparties
    if terms.customer is None and terms.cover_provider is None:
        return None
    return Counterparties(setting, terms)
