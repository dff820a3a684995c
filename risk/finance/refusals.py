"""Terms of the debt that need others, refused by name where those are missing."""

from __future__ import annotations

from risk.core.setting import Setting
from risk.finance.loan import last_payment_month
from schemas.errors import MissingTermError, NotComputedError
from schemas.finance import Finance, Loan


def refuse_what_is_missing(terms: Finance, loan: Loan, setting: Setting) -> None:
    """Refuse terms of the debt whose figures cannot be computed from the deal.

    Raises
    ------
    MissingTermError
        When GPUs are to be sold that nothing gives a value.
    NotComputedError
        When a loan is sculpted to cash that is not simulated, or follows from the loan itself.
    """
    _value(terms, setting)
    if loan.profile == "sculpted":
        _whole_life(loan, setting, "finance.loan.target_dscr")
        if setting.deal.assumptions.prescribed.cfads is not None:
            raise NotComputedError(
                "finance.loan.profile",
                "a loan sculpted to cash that is itself a multiple of its debt service",
                "remove assumptions.prescribed.cfads, or choose another profile",
            )
    if terms.covenants.minimum_llcr is not None:
        _whole_life(loan, setting, "finance.covenants.minimum_llcr")


def _value(terms: Finance, setting: Setting) -> None:
    """Refuse a recovery from the sale of GPUs that nothing gives a value."""
    assumed = setting.deal.assumptions
    if terms.recovery is None or assumed.prescribed.lgd is not None or assumed.prescribed.gpu_value is not None:
        return
    for name, given in (("market", assumed.market), ("value", assumed.value)):
        if given is None:
            raise MissingTermError(f"assumptions.{name}", "finance.recovery", "give it, or remove finance.recovery")


def _whole_life(loan: Loan, setting: Setting, path: str) -> None:
    """Refuse a term that looks at cash to the loan's end where fewer months are simulated."""
    last = last_payment_month(loan)
    if setting.months < last:
        raise NotComputedError(
            path,
            f"cash to the last payment in month {last}, of which {setting.months} months are simulated,",
            "raise finance.horizon_months",
        )
