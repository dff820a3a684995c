"""Records of what happened, which rules read and importers write."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Terms
from schemas.errors import TermsError
from schemas.exclusions import Head
from schemas.parties import CauseParty
from schemas.service_levels import Level
from schemas.units import Amount, Identifier, Name, Share, Text

RecordId = Annotated[str, Field(min_length=1, max_length=200)]


class Incident(Terms):
    """One spell in which a unit was not all right: from `started_at` up to, not including, `ended_at`."""

    id: RecordId
    level: Level
    unit_id: RecordId
    state: Literal["down", "degraded", "planned", "unknown"] = "down"
    started_at: AwareDatetime
    """First failed reading of the monitor of record."""
    ended_at: AwareDatetime | None = None
    """First good reading; open when absent."""
    detected_at: AwareDatetime | None = None
    notice_at: AwareDatetime | None = None
    """The customer's notice."""
    ticket_at: AwareDatetime | None = None
    readmitted_at: AwareDatetime | None = None
    """Unit passed its checks and took work again."""
    monitor_id: Name | None = None
    cause: Name | None = None
    cause_party: CauseParty = "unknown"
    parent_id: RecordId | None = None
    """Incident of a higher level that caused this one."""
    evidence: Text | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.ended_at is not None and self.ended_at < self.started_at:
            raise TermsError(
                f"ended_at {self.ended_at}",
                f"not before started_at {self.started_at}",
                "correct one of the times",
            )
        return self


class Window(Terms):
    """A spell that a head of exclusion may cover."""

    id: RecordId
    kind: Head
    starts_at: AwareDatetime
    ends_at: AwareDatetime
    unit_ids: tuple[RecordId, ...] = ()
    """Units it covers; all when empty."""
    notice_id: RecordId | None = None
    event: Name | None = None
    """For force majeure: the kind of event, a word of `exclusions.force_majeure.events`."""

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.ends_at < self.starts_at:
            raise TermsError(
                f"ends_at {self.ends_at}",
                f"not before starts_at {self.starts_at}",
                "correct one of the times",
            )
        return self


class Notice(Terms):
    """A notice as sent and received."""

    id: RecordId
    kind: Name
    sent_at: AwareDatetime
    received_at: AwareDatetime | None = None
    unit_ids: tuple[RecordId, ...] = ()
    """Units it names; all when empty."""
    covers_from: AwareDatetime | None = None
    covers_to: AwareDatetime | None = None


class UnitService(Terms):
    """When one unit was in service, and its fee."""

    unit_id: RecordId
    level: Level
    service: Identifier
    monthly_fee: Amount
    """Fee of the unit for a full month, prepaid and drawn-down parts included. [currency]"""
    prepaid_fraction: Share = Decimal(0)
    """Share of that fee paid ahead. [1]"""
    in_service_from: AwareDatetime | None = None
    """Ready for service from the first period on when absent."""
    in_service_to: AwareDatetime | None = None
    parent_id: RecordId | None = None
    """Unit that contains this one."""
