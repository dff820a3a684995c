"""Who pays or takes over if the customer fails. Read by the checks; not simulated by this version."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from schemas.base import Terms
from schemas.units import Amount, Identifier, Positive

WayOfEnding = Literal["payment_default", "insolvency", "chronic_failure", "long_stop", "convenience"]


class PaymentGuarantee(Terms):
    """A guarantor pays the rent, or a sum, when the customer does not."""

    shape: Literal["payment_guarantee"] = "payment_guarantee"
    provider: Identifier
    """Party of `parties` that gives it."""
    triggers: tuple[WayOfEnding, ...] = Field(min_length=1)
    """Ways of ending that it answers for."""
    starts: Literal["signing", "rfs_each_tranche", "rfs_all"] = "rfs_each_tranche"
    amount: Amount
    """Greatest sum at the start. [currency]"""
    amortisation_months: Positive
    """Months over which it falls to nothing in equal parts, from its start. [month]"""


Backstop = PaymentGuarantee
