"""What a score does not simulate, in words: what has no model, and what the deal gives no inputs for."""

from __future__ import annotations

from risk.engine import Model

NEVER = (
    "Change of law, export control, fraud, set-off in a dispute, support by the sponsor beyond the typed terms: not "
    "simulated."
)


def ignored(model: Model) -> list[str]:
    """Return what the deal gives no inputs for, what no risk simulates, then what each risk leaves out."""
    deal = model.setting.deal
    words = []
    if deal.assumptions.counterparties.customer is None:
        words.append("Default of the customer: no assumptions.counterparties.customer, so the customer always pays.")
    if deal.assumptions.reletting is None:
        words.append("Re-letting: no assumptions.reletting, so capacity earns nothing once its contract is over.")
    return [*words, NEVER, *model.ignores()]
