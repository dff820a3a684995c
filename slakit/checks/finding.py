"""A finding, whom it concerns and how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.deal import AcceptedFinding
from schemas.money import Money

Severity = Literal["error", "warning", "note"]
"""`error`: no signature without a recorded reason; `warning`: it costs somebody money; `note`: worth knowing."""
Audience = Literal["lawyer", "lender", "insurer", "provider", "customer"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
AUDIENCES: tuple[Audience, ...] = ("lawyer", "lender", "insurer", "provider", "customer")


@dataclass(frozen=True, slots=True)
class Concern:
    """How severe a finding is for each reader; None: it does not concern that one."""

    provider: Severity | None
    customer: Severity | None
    lender: Severity | None
    insurer: Severity | None

    def of(self, audience: Audience) -> Severity | None:
        """Return the severity for one reader; counsel sees the highest of the four."""
        match audience:
            case "provider":
                return self.provider
            case "customer":
                return self.customer
            case "lender":
                return self.lender
            case "insurer":
                return self.insurer
        felt = {self.provider, self.customer, self.lender, self.insurer}
        return next((severity for severity in SEVERITIES if severity in felt), None)


def everybody(severity: Severity) -> Concern:
    """Return a concern that is the same for every reader."""
    return Concern(severity, severity, severity, severity)


@dataclass(frozen=True, slots=True)
class Raised:
    """What a rule found in the terms, before anybody reads it."""

    concern: Concern
    paragraph: str | None
    """Paragraph of the contract that prints the term; None where the contract prints none."""
    path: str
    message: str
    money: Money | None = None
    """Money at stake, where it follows from the terms by arithmetic alone."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding as its reader sees it."""

    id: str
    severity: Severity
    paragraph: str | None
    path: str
    message: str
    money: Money | None
    accepted: AcceptedFinding | None = None
    """Why counsel lets it stand; its severity is then a note."""
