"""The deal file: every section, and the checks that cross sections."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from copy import deepcopy
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from schemas.acceptance import Acceptance
from schemas.assumptions import Assumptions
from schemas.backstop import Backstop
from schemas.base import Terms
from schemas.cancellation import BadMonths, Cancellation, CapReached, ReplacementMissed
from schemas.capacity import Cluster, Service
from schemas.commercial import Commercial
from schemas.credits import Credits
from schemas.delivery import Delivery
from schemas.errors import TermsError, TermsErrors
from schemas.exclusions import Exclusions
from schemas.finance import Finance
from schemas.insurance import Insurance
from schemas.operations import Operations
from schemas.order_of_dates import (
    cover_over_before_it_starts,
    right_to_leave_before_close,
    term_over_before_it_starts,
)
from schemas.parties import Party
from schemas.power import Power
from schemas.residual_value import ResidualValue
from schemas.service_levels import Measurement, ServiceLevel
from schemas.sources import Provenance, Sourced
from schemas.topology import Site
from schemas.units import Day, Identifier, Name, Text

SCHEMA_VERSION = 1

NOT_AMENDED = ("schema_version", "amendments", "accepted_findings")
"""Sections that say nothing between the parties."""
_STEP = re.compile(r"([A-Za-z0-9_-]+)|\[([0-9]{1,9})\]")


class Amendment(Terms):
    """Changes to named terms from a date on."""

    effective_from: Day
    set: dict[str, Any] = Field(min_length=1, max_length=500)
    """Path of a term to its new value."""
    note: Text | None = None

    @model_validator(mode="after")
    def _changes_terms(self) -> Self:
        for path in self.set:
            if path in NOT_AMENDED or path.startswith(tuple(f"{name}{sign}" for name in NOT_AMENDED for sign in ".[")):
                raise TermsError(f"amendment path {path!r}", "a term", "an amendment changes terms only; delete it")
        return self


class AcceptedFinding(Terms):
    """A finding of `slakit check` that counsel accepts for signature."""

    reason: Text
    """Why it is accepted."""
    as_of: Day
    """Day of the decision."""


class Deal(Terms):
    """One deal: what is sold, where, on what terms and with whose money. Every section may be left out."""

    schema_version: Literal[1]
    title: Name = "Untitled deal"
    about: Text | None = None
    """What this deal is and what it is not, for the reader of the file."""
    parties: dict[Identifier, Party] = {}
    sites: dict[Identifier, Site] = {}
    clusters: dict[Identifier, Cluster] = {}
    services: dict[Identifier, Service] = {}
    measurement: Measurement = Measurement()
    service_levels: dict[Identifier, ServiceLevel] = {}
    exclusions: Exclusions = Exclusions()
    credits: Credits = Credits()
    acceptance: Acceptance = Acceptance()
    delivery: Delivery | None = None
    cancellation: Cancellation = Cancellation()
    commercial: Commercial | None = None
    operations: Operations = Operations()
    power: Power | None = None
    residual_value: ResidualValue | None = None
    backstop: Backstop | None = None
    insurance: Insurance | None = None
    finance: Finance | None = None
    assumptions: Assumptions = Assumptions()
    provenance: Provenance = {}
    unknown: dict[Annotated[str, Field(min_length=1, max_length=200)], Text] = {}
    """Path of a term that the contract, as known, leaves blank, to what is known about that: what turns on it is never
    computed."""
    amendments: tuple[Amendment, ...] = Field(default=(), max_length=200)
    accepted_findings: dict[Annotated[str, Field(min_length=1, max_length=100)], AcceptedFinding] = {}
    """Id of a finding to why it may stand: counsel then sees a note, every other reader still sees its severity."""

    @model_validator(mode="after")
    def _sections_agree(self) -> Self:
        wrong = [
            *self._names_that_lead_nowhere(),
            *self._roles_held_twice(),
            *self._currencies_apart(),
            *self._said_twice(),
            *self._values_that_nothing_gives(),
            *self._dates_out_of_order(),
            *self._unknown_and_known(),
        ]
        if not wrong:  # these two look up what those names stand for
            wrong = [*self._tranches_apart_from_services(), *self._bad_months_of_nodes()]
        if wrong:
            raise TermsErrors(wrong)
        return self

    def _names_that_lead_nowhere(self) -> Iterator[TermsError]:
        tranches = self.delivery.tranches if self.delivery else {}
        for name, cluster in self.clusters.items():
            yield from _unknown(f"clusters.{name}.site", cluster.site, self.sites, "sites")
        for name, service in self.services.items():
            for i, tranche in enumerate(service.tranches):
                yield from _unknown(f"services.{name}.tranches[{i}]", tranche, tranches, "delivery.tranches")
        for name, tranche_terms in tranches.items():
            yield from _unknown(f"delivery.tranches.{name}.cluster", tranche_terms.cluster, self.clusters, "clusters")
        for name, level in self.service_levels.items():
            yield from _unknown(f"service_levels.{name}.service", level.service, self.services, "services")
        if self.commercial:
            for name in self.commercial.charges:
                yield from _unknown(f"commercial.charges.{name}", name, self.services, "services")
        if self.cancellation.chronic_failure:
            for i, limb in enumerate(self.cancellation.chronic_failure.limbs):
                if isinstance(limb, (CapReached, ReplacementMissed)):
                    continue
                yield from _unknown(
                    f"cancellation.chronic_failure.limbs[{i}].service_level",
                    limb.service_level,
                    self.service_levels,
                    "service_levels",
                )
        if self.backstop:
            yield from _unknown("backstop.provider", self.backstop.provider, self.parties, "parties")
        for name, layer in self.insurance.layers.items() if self.insurance else ():
            yield from _unknown(f"insurance.layers.{name}.insurer", layer.insurer, self.parties, "parties")
        if self.power and self.power.density_choice:
            yield from _unknown("power.density_choice.site", self.power.density_choice.site, self.sites, "sites")

    def _roles_held_twice(self) -> Iterator[TermsError]:
        for role in ("provider", "customer"):
            holders = [name for name, party in self.parties.items() if party.role == role]
            if len(holders) > 1:
                yield TermsError(
                    f"parties {', '.join(holders)} with role {role}", "one", "give the others another role"
                )
        if self.backstop and self.backstop.provider in self.parties:
            role = self.parties[self.backstop.provider].role
            if role in ("provider", "customer"):
                yield TermsError(
                    f"backstop.provider = {self.backstop.provider!r}, the {role} of the contract",
                    "a party that is still there when the contract fails",
                    "name another party",
                )

    def _currencies_apart(self) -> Iterator[TermsError]:
        if self.finance and self.commercial and self.finance.currency != self.commercial.currency:
            yield TermsError(
                f"finance.currency {self.finance.currency} and commercial.currency {self.commercial.currency}",
                "one currency",
                "state all money of a deal in one currency",
            )
        money = self.finance or self.commercial
        for path, rent in self._rents() if money else ():
            assert money is not None
            if rent.unit.split("/")[0] != money.currency:
                yield TermsError(
                    f"{path} in {rent.unit} and money in {money.currency}",
                    "one currency",
                    "convert the rent and write its unit; slakit never does",
                )

    def _said_twice(self) -> Iterator[TermsError]:
        if self.power and self.finance and self.finance.operating_costs.power:
            yield TermsError(
                "power and finance.operating_costs.power",
                "one of them",
                "remove finance.operating_costs.power: the section power says what is drawn and paid",
            )

    def _values_that_nothing_gives(self) -> Iterator[TermsError]:
        """Yield terms that are held against the value of the GPUs in a deal that gives none."""
        assumptions = self.assumptions
        market = assumptions.prescribed.gpu_value is not None or bool(assumptions.value and assumptions.market)
        bases = {
            "market": (market, "assumptions.market with assumptions.value, or assumptions.prescribed.gpu_value"),
            "book": (self.residual_value is not None, "residual_value"),
            "floor": (
                bool(self.residual_value and assumptions.value and assumptions.market),
                "residual_value with assumptions.market and assumptions.value",
            ),
        }
        held: list[tuple[str, Literal["market", "book", "floor"]]] = []
        if self.finance and self.finance.loan and self.finance.loan.refinancing_ltv is not None:
            held.append(("finance.loan.refinancing_ltv", "market"))
        if self.finance and self.finance.covenants.maximum_ltv is not None:
            held.append(("finance.covenants.maximum_ltv", self.finance.covenants.ltv_basis))
        if self.backstop and self.backstop.shape == "residual_guarantee":
            held.append(("backstop.threshold", "market"))
        for path, basis in held:
            there, needed = bases[basis]
            if not there:
                yield TermsError(f"{path} without a {basis} value of the GPUs", needed, f"add {needed}")

    def _dates_out_of_order(self) -> Iterator[TermsError]:
        close = self.finance.close if self.finance else None
        yield from term_over_before_it_starts(self.commercial, self.delivery, close)
        yield from right_to_leave_before_close(self.cancellation, close)
        yield from cover_over_before_it_starts(self.backstop, self.delivery, close)

    def _rents(self) -> Iterator[tuple[str, Sourced]]:
        """Yield every rent per GPU-hour of the assumptions with its path."""
        if self.assumptions.market:
            yield "assumptions.market.spot_rent", self.assumptions.market.spot_rent
        if self.assumptions.value and self.assumptions.value.cash_cost:
            yield "assumptions.value.cash_cost", self.assumptions.value.cash_cost
        if self.finance and self.finance.recovery and self.finance.recovery.sale_cost:
            yield "finance.recovery.sale_cost", self.finance.recovery.sale_cost

    def _tranches_apart_from_services(self) -> Iterator[TermsError]:
        seen: dict[str, str] = {}
        for name, service in self.services.items() if self.delivery else ():
            assert self.delivery is not None
            for i, tranche in enumerate(service.tranches):
                if tranche in seen:
                    yield TermsError(
                        f"services.{name}.tranches[{i}] = {tranche!r}, which is also in service {seen[tranche]!r}",
                        "one service",
                        "split the tranche",
                    )
                seen[tranche] = name
            whole = sum((self.delivery.tranches[t].share_of_service for t in service.tranches), Decimal(0))
            if whole != 1:
                yield TermsError(
                    f"services.{name} with shares of service that add up to {whole}",
                    "1",
                    "correct delivery.tranches.*.share_of_service",
                )

    def _bad_months_of_nodes(self) -> Iterator[TermsError]:
        """Single nodes have no joint law over months here, so a right that looks at one is refused by name."""
        chronic = self.cancellation.chronic_failure
        for i, limb in enumerate(chronic.limbs if chronic else ()):
            if isinstance(limb, BadMonths) and self.service_levels[limb.service_level].level == "node":
                yield TermsError(
                    f"cancellation.chronic_failure.limbs[{i}] on level 'node'",
                    "a level above the node",
                    "point it at a rack, cluster or site level; rights that "
                    "look at single nodes are not computed by this version",
                )

    def _unknown_and_known(self) -> Iterator[TermsError]:
        """Yield paths said to be unknown that are no term, or whose term is given."""
        given = self.model_dump(mode="python", exclude_unset=True) if self.unknown else {}
        for path in self.unknown:
            try:
                value_at(self, path)
            except (KeyError, TermsError):
                yield TermsError(f"unknown path {path!r}", "a term of this deal", "correct the path")
                continue
            try:
                value_at(given, path)
            except KeyError:
                continue
            yield TermsError(f"{path} both given and said to be unknown", "one of the two", "remove one")

    def blank(self, *paths: str) -> str | None:
        """Return what is known about the first of `paths` that the contract leaves blank, None when all are stated.

        A path is blank too when one that contains it is.
        """
        for path in paths:
            for unknown, reason in self.unknown.items():
                if path == unknown or path.startswith((f"{unknown}.", f"{unknown}[")):
                    return f"{unknown} is not stated: {reason}"
        return None

    def at(self, day: date) -> Deal:
        """Return the plain terms of `day`: amendments in force are set and the whole is validated again.

        Raises
        ------
        TermsError
            When an amendment names a path that is not there.
        """
        return Deal.model_validate(self.data_at(day))

    def data_at(self, day: date) -> dict[str, Any]:
        """Return the plain data of `day`: amendments in force are set, nothing is validated yet."""
        data = self.model_dump(mode="python", exclude_unset=True)
        due = sorted((a for a in self.amendments if a.effective_from <= day), key=lambda a: a.effective_from)
        for amendment in due:
            for path, value in amendment.set.items():
                _set(data, path, deepcopy(value))  # a later amendment may set something inside it
        data["amendments"] = ()
        return data

    def party(self, role: str) -> Party | None:
        """Return the first party with `role`."""
        return next((party for party in self.parties.values() if party.role == role), None)


def steps_of(path: str) -> tuple[str | int, ...]:
    """Return the keys and indexes of a path such as `service_levels.nodes.credit.bands[1].below`."""
    if not path:
        raise TermsError("an empty path", "keys joined by dots, indexes in brackets", "write the path of a term")
    parts: list[str | int] = []
    position = 0
    while position < len(path):
        if path[position] == "." and parts:
            position += 1
        match = _STEP.match(path, position)
        if match is None:
            raise TermsError(f"path {path!r}", "keys joined by dots, indexes in brackets", "correct the path")
        parts.append(match[1] if match[1] is not None else int(match[2]))
        position = match.end()
    return tuple(parts)


def path_of(steps: tuple[str | int, ...]) -> str:
    """Return the path written from its keys and indexes."""
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else (f".{step}" if text else step)
    return text


def value_at(terms: object, path: str) -> Any:
    """Return the value at `path` of terms or plain data; raises KeyError when nothing is there."""
    value: Any = terms
    for step in steps_of(path):
        if isinstance(value, Terms):
            if not isinstance(step, str) or step not in type(value).model_fields:
                raise KeyError(path)
            value = getattr(value, step)
        elif isinstance(value, Mapping) or _has_item(value, step):
            value = value[step]
        else:
            raise KeyError(path)
    return value


def _has_item(value: object, step: str | int) -> bool:
    return isinstance(value, (list, tuple)) and isinstance(step, int) and step < len(value)


def _unknown(path: str, name: str | None, names: Mapping[str, object], section: str) -> Iterator[TermsError]:
    if name is not None and name not in names:
        known = ", ".join(sorted(names)[:8]) or f"nothing ({section} is empty)"
        yield TermsError(f"{path} = {name!r}", f"an entry of {section}: {known}", "correct the name or add the entry")


def _set(data: dict[str, Any], path: str, value: Any) -> None:
    """Set one path in nested dicts and lists; keys of the last step may be new, the rest must exist."""
    *trail, last = steps_of(path)
    holder: Any = data
    for step in trail:
        try:
            child = holder[step]
        except (KeyError, IndexError, TypeError):
            if isinstance(step, str) and isinstance(holder, dict):
                child = holder[step] = {}
            else:
                raise TermsError(f"amendment path {path!r}", "a path of this deal", "correct the path") from None
        if isinstance(child, tuple):
            child = list(child)
            holder[step] = child
        holder = child
    try:
        holder[last] = value
    except (IndexError, TypeError):
        raise TermsError(f"amendment path {path!r}", "a path of this deal", "correct the path") from None
