"""Records of what happened, which rules read and importers write."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import AwareDatetime, Field, model_validator

from schemas.base import Terms
from schemas.delivery import ExtensionHead
from schemas.errors import TermsError
from schemas.exclusions import Head
from schemas.parties import CauseParty
from schemas.service_levels import Level
from schemas.units import Amount, Day, Days, Flag, Identifier, Name, Number, Positive, Share, Text

RecordId = Annotated[str, Field(min_length=1, max_length=200)]


class Evidence(Terms):
    """A line of a log on which a record rests."""

    file: Name
    """Name of the file, without folders."""
    line: Positive | None = None
    """Its number from 1, where the file has lines."""
    text: Text
    """The line, printable and cut to length."""

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line is not None else self.file


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
    metric: Name | None = None
    """For a degraded unit: what was measured, a name of the contract's list of metrics."""
    measured: Number | None = None
    """The value of that metric, in its unit, or as a share of its baseline where the contract names no baseline."""
    fault_code: Name | None = None
    """Code of a fault as the contract lists it, for example an XID."""
    evidence: tuple[Evidence, ...] = ()

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
    fix_published_at: AwareDatetime | None = None
    """For emergency work: when the fix became public."""
    evidence: tuple[Evidence, ...] = ()

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
    service_level: Identifier | None = None
    """For a claim: the service level that the customer chooses where it must choose one."""


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
    hourly_price: Amount | None = None
    """Price of the unit for an hour; the monthly fee over the hours of the month when absent. [currency/h]"""
    accrues_by_hour: Flag = False
    """Whether the fee is the hourly price for every hour in service; `monthly_fee` is then that of a mean month of 730
    hours, which caps of the year and the term plan with."""

    @model_validator(mode="after")
    def _hours_have_a_price(self) -> Self:
        if self.accrues_by_hour and self.hourly_price is None:
            raise TermsError("accrues_by_hour without hourly_price", "the price of an hour", "add hourly_price")
        return self

    spare: Flag = False
    """Whether it stands ready beside the contracted units: it has no fee, and counts among nodes only where the
    contract says so."""


class Ticket(Terms):
    """A call for help, as the ticket system shows it."""

    id: RecordId
    severity: Identifier
    opened_at: AwareDatetime
    first_response_at: AwareDatetime | None = None
    """First answer of an engineer."""
    resolved_at: AwareDatetime | None = None
    service: Identifier | None = None
    unit_ids: tuple[RecordId, ...] = ()
    evidence: tuple[Evidence, ...] = ()


class LedgerEntry(Terms):
    """Money of one service in one calendar month, as the accounts show it."""

    month: Annotated[str, Field(pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$")]
    service: Identifier
    invoiced: Amount
    """Amount of the invoice for the month, before credits. [currency]"""
    prepayment_applied: Amount = Decimal(0)
    """Part of the fee taken from prepayment. [currency]"""
    credits_given: Amount | None = None
    """Credits stated for the month, where they were settled already. [currency]"""
    credits_used: Amount = Decimal(0)
    """Credits set off in this invoice. [currency]"""


class DelayEvent(Terms):
    """A cause that held up a tranche, and the notice by which an extension was asked for."""

    id: RecordId
    head: ExtensionHead
    from_day: Day
    """First day held up."""
    to_day: Day
    """First day on which work went on."""
    critical_days: Days | None = None
    """Days by which it delays the tranche, the first of them; all when absent. [day]"""
    notice_at: AwareDatetime | None = None
    """When notice was given; none was when absent."""
    tranches: tuple[Identifier, ...] = ()
    """Tranches it held up; all when empty."""
    event: Name | None = None
    """For force majeure: the kind of event, a word of `exclusions.force_majeure.events`."""
    evidence: tuple[Evidence, ...] = ()

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Self:
        if self.to_day < self.from_day:
            raise TermsError(f"to_day {self.to_day}", f"not before from_day {self.from_day}", "correct one of the days")
        return self
