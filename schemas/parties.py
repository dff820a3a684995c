"""Who signs, and who stands behind them."""

from __future__ import annotations

from typing import Literal

from schemas.base import Terms
from schemas.units import Name, Text

Role = Literal["provider", "customer", "lender", "guarantor", "landlord", "insurer", "supplier"]
CauseParty = Literal["provider", "customer", "lender", "guarantor", "landlord", "third_party", "unknown"]
"""Who caused an outage."""


class Party(Terms):
    """One party of the deal."""

    name: Name
    """Legal name as printed on the contract."""
    role: Role
    entity: Name | None = None
    """Kind and place of the entity, for example `a Delaware limited liability company`."""
    notice_address: Text | None = None
    """Where formal notices go."""
