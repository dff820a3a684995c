"""Records and terms of one statement, checked and indexed; histories of units are worked out once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, date, datetime
from functools import cached_property

from risk.contract_rules import roll_up
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.contract_rules.excluded_downtime import Case
from risk.contract_rules.intervals import END, Spans, union
from risk.contract_rules.measurement_period import month_span
from risk.contract_rules.records import Records, Unit, UnitTree
from risk.contract_rules.roll_up import Child
from risk.contract_rules.unit_history import ClockedIncident, UnitHistory, clocked, unit_history
from schemas.cancellation import BadMonths
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.incidents import Incident, Notice
from schemas.periods import Month
from schemas.service_levels import ServiceLevel

MONTHS_PER_YEAR = 12


class Register:
    """What one statement reads."""

    def __init__(self, deal: Deal, records: Records, periods: Sequence[Month], as_of: datetime | None = None) -> None:
        """Check the records and find the months that must be computed for the periods asked for."""
        if as_of is not None and as_of.tzinfo is None:
            raise DealError([Problem("as_of", as_of.isoformat(), "a time with its offset", "add Z or an offset")])
        if not periods:
            raise DealError([Problem("periods", "none", "at least one month", "name a month such as 2026-10")])
        if not records.units:
            raise MissingTermError(
                "units", "a statement of credits", "list the units in service, with their monthly fees"
            )
        self.deal, self.records = deal, records
        self.as_of = as_of.astimezone(UTC) if as_of else None
        self.periods = tuple(sorted(set(periods)))
        zone = deal.measurement.zone
        self._terms: dict[int, Deal] = {}
        self.first_months = {
            service: self._first_month(service, zone) for service in dict.fromkeys(u.service for u in records.units)
        }
        self.months = self._months()
        self.tree = UnitTree(records.units, month_span(self.months[0], zone)[0])
        self.open_until = self.as_of or month_span(self.periods[-1], zone)[1]
        self.known_until = self.as_of or END
        self._clocked: dict[tuple[str, int], tuple[ClockedIncident, ...]] = {}
        self._histories: dict[tuple[str, str | None, CountingRules, int, bool], UnitHistory] = {}
        self._work_of_cluster: dict[tuple[str, int], Spans] = {}
        self._children: dict[tuple[str, int], tuple[Child, ...]] = {}
        self._check()

    @property
    def currency(self) -> str:
        """Return the currency of the fees on record."""
        if self.deal.commercial is not None:
            return self.deal.commercial.currency
        if self.deal.finance is not None:
            return self.deal.finance.currency
        raise MissingTermError("commercial.currency", "a statement of credits", "add commercial with its currency")

    def terms(self, month: Month) -> Deal:
        """Return the terms of a month: amendments apply from the first month that starts on or after their date."""
        version = self._version(month)
        if version not in self._terms:
            self._terms[version] = self.deal.at(month.first_day()) if self.deal.amendments else self.deal
        return self._terms[version]

    def amendments(self, month: Month) -> tuple[date, ...]:
        """Return the dates of the amendments that apply to a month."""
        return tuple(a.effective_from for a in self.deal.amendments if a.effective_from <= month.first_day())

    def units_of(self, level: ServiceLevel) -> tuple[Unit, ...]:
        """Return the units that a service level measures, in the order of the records."""
        return tuple(
            unit
            for unit in self.tree.units.values()
            if unit.level == level.level and level.service in (None, unit.service)
        )

    def contract_year(self, service: str, month: Month) -> tuple[int, Month]:
        """Return the number of the contract year of a service that holds `month`, from 0, and its first month."""
        first = self.first_months[service]
        year = max(_months_between(first, month), 0) // MONTHS_PER_YEAR
        return year, first.plus(year * MONTHS_PER_YEAR)

    def history(self, unit: Unit, level_id: str | None, month: Month, *, in_cluster: bool = True) -> UnitHistory:
        """Return the history of a unit on the terms of `month`; without a level, under the general counting rules.

        Without `in_cluster` the allowance of the cluster for planned work, and what nodes bring about, are left out.
        """
        terms, version = self.terms(month), self._version(month)
        level = terms.service_levels[level_id] if level_id is not None else None
        rules = counting_rules(terms.measurement, level.measurement if level else None)
        cluster = self._planned_work(unit, month) if in_cluster else None
        key = (unit.id, level_id, rules, version, cluster is not None)
        if key not in self._histories:
            rolled: Spans = ()
            records = self.clocked(unit, month)
            if level is not None and in_cluster:
                children = self.children(unit, level, month)
                rolled = roll_up.exact(children, level, (), unit.in_service, unit.id, level_id or "").value.down
            self._histories[key] = unit_history(
                unit.id,
                level_id,
                unit.in_service,
                records,
                Case(self.tree.names(unit.id), (), self.records.windows, self.notices, self.known_until, cluster),
                terms,
                rules,
                self.first_months[unit.service],
                rolled,
            )
        return self._histories[key]

    def clocked(self, unit: Unit, month: Month) -> tuple[ClockedIncident, ...]:
        """Return the incidents of a unit under the clock of the terms of `month`."""
        key = (unit.id, self._version(month))
        if key not in self._clocked:
            terms = self.terms(month)
            self._clocked[key] = tuple(
                clocked(incident, terms, unit.in_service, self.open_until, self.known_until)
                for incident in self.incidents.get(unit.id, ())
            )
        return self._clocked[key]

    def own_downtime(self, unit: Unit, month: Month) -> Spans:
        """Return downtime of the unit's own incidents, before flaps, minimum and exclusions."""
        return union(
            span
            for record in self.clocked(unit, month)
            if record.incident.state in ("down", "planned")
            for span in record.spans
        )

    def children(self, unit: Unit, level: ServiceLevel, month: Month) -> tuple[Child, ...]:
        """Return the nodes of a unit with their counted downtime, where the level is rolled up from nodes."""
        if level.nodes_needed_share is None and level.k is None:
            return ()
        key = (unit.id, self._version(month))
        if key not in self._children:
            nodes = self.tree.nodes_within(unit.id)
            self._children[key] = tuple(
                Child(node.in_service, self.history(node, self._level_of_node(node, month), month).counted)
                for node in nodes
            )
        return self._children[key]

    @cached_property
    def incidents(self) -> dict[str, list[Incident]]:
        """Return incidents by unit."""
        found: dict[str, list[Incident]] = {}
        for incident in self.records.incidents:
            found.setdefault(incident.unit_id, []).append(incident)
        return found

    @cached_property
    def notices(self) -> dict[str, Notice]:
        """Return the notices sent when the statement is made, by id."""
        return {notice.id: notice for notice in self.records.notices if notice.sent_at <= self.known_until}

    def _planned_work(self, unit: Unit, month: Month) -> tuple[str, Spans] | None:
        """Return the cluster of a unit and the time in which any unit of it was under scheduled maintenance.

        The units of a service that are in no cluster on record stand together. None where no allowance is agreed.
        """
        terms, version = self.terms(month), self._version(month)
        if terms.exclusions.scheduled.cap_cluster_quarter_hours is None:
            return None
        name = self.cluster_of(unit)
        if (name, version) not in self._work_of_cluster:
            self._work_of_cluster[name, version] = union(
                span
                for other in self.tree.units.values()
                if other.id in self.incidents and self.cluster_of(other) == name
                for level_id in (self.usual_level(other, month),)
                for span in self.history(other, level_id, month, in_cluster=False).excluded.by_head.get("scheduled", ())
            )
        return name, self._work_of_cluster[name, version]

    def usual_level(self, unit: Unit, month: Month) -> str | None:
        """Return the first service level that measures a unit, None where there is none."""
        levels = self.terms(month).service_levels.items()
        fits = (i for i, level in levels if level.level == unit.level and level.service in (None, unit.service))
        return next(fits, None)

    def cluster_of(self, unit: Unit) -> str:
        """Return the cluster that a unit is or stands in, or its service where no cluster is on record."""
        units = self.tree.units
        return next(
            (name for name in sorted(self.tree.names(unit.id)) if name in units and units[name].level == "cluster"),
            unit.service,
        )

    def _level_of_node(self, node: Unit, month: Month) -> str | None:
        """Return the service level whose counting rules apply to a node that is rolled up; None: the general ones."""
        terms = self.terms(month)
        levels = [
            name
            for name, level in terms.service_levels.items()
            if level.level == "node" and level.service in (None, node.service)
        ]
        rules = {counting_rules(terms.measurement, terms.service_levels[name].measurement) for name in levels}
        if len(rules) > 1:
            raise NotComputedError(
                f"service_levels.{levels[-1]}.measurement",
                f"which of the counting rules of {' and '.join(levels)} a node is rolled up with",
                "give the node levels of one service the same rules",
            )
        return levels[0] if levels else None

    def _version(self, month: Month) -> int:
        return sum(a.effective_from <= month.first_day() for a in self.deal.amendments)

    def _first_month(self, service: str, zone: str) -> Month:
        """Return the first month of the first contract year of a service."""
        starts = [u.in_service_from for u in self.records.units if u.service == service and u.in_service_from]
        if starts:
            return Month.of(min(starts), zone)
        if self.deal.delivery is not None and service in self.deal.services:
            dates = [
                tranche.ready_for_service_date
                for name in self.deal.services[service].tranches
                if isinstance((tranche := self.deal.delivery.tranches[name]).ready_for_service_date, date)
            ]
            if dates:
                first = min(day for day in dates if isinstance(day, date))
                return min(Month(first.year, first.month), self.periods[0])
        return self.periods[0]

    def _months(self) -> tuple[Month, ...]:
        """Return the months to compute: the periods, the contract year before them, and the months rights look at."""
        asked = self.periods[0]
        looks_back = max(
            (
                limb.m
                for month in self.periods
                if (chronic := self.terms(month).cancellation.chronic_failure) is not None
                for limb in chronic.limbs
                if isinstance(limb, BadMonths)
            ),
            default=1,
        )
        year_starts = [self.contract_year(service, asked)[1] for service in self.first_months]
        first = max(min(self.first_months.values()), min(*year_starts, asked.plus(1 - looks_back)))
        if any(self._looks_at_whole_term(month) for month in self.periods):
            first = min(self.first_months.values())
        first = min(first, asked)
        return tuple(first.plus(i) for i in range(_months_between(first, self.periods[-1]) + 1))

    def _looks_at_whole_term(self, month: Month) -> bool:
        """Return whether what is owed in a month depends on all credits given before."""
        caps = self.terms(month).credits.caps
        return caps.term is not None or caps.carry_forward

    def _check(self) -> None:
        problems = [
            Problem(
                f"incidents[{incident.id}].level",
                f"{incident.level!r} for unit {incident.unit_id!r}",
                f"{self.tree.units[incident.unit_id].level!r}, the level of that unit",
                "correct the incident or the unit",
            )
            for incident in self.records.incidents
            if incident.unit_id in self.tree.units and incident.level != self.tree.units[incident.unit_id].level
        ]
        if self.deal.services:
            problems += [
                Problem(
                    f"units[{unit.id}].service",
                    repr(unit.service),
                    f"one of {', '.join(self.deal.services)}",
                    "name a service of the deal",
                )
                for unit in self.tree.units.values()
                if unit.service not in self.deal.services
            ]
        names = Counter(notice.id for notice in self.records.notices)
        problems += [
            Problem(f"notices[{name}]", "the id of two notices", "one", "give each notice its own id")
            for name, times in sorted(names.items())
            if times > 1
        ]
        if problems:
            raise DealError(problems)


def _months_between(first: Month, second: Month) -> int:
    return (second.year - first.year) * MONTHS_PER_YEAR + second.month - first.month
