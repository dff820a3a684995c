"""Records and terms of one statement, checked and indexed; histories of units are worked out once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from functools import cached_property
from itertools import pairwise

from risk.contract_rules import affected, roll_up
from risk.contract_rules.counting_rules import CountingRules, counting_rules
from risk.contract_rules.deadlines import midnight
from risk.contract_rules.excluded_downtime import Case, Trace
from risk.contract_rules.intervals import END, START, Span, Spans, union
from risk.contract_rules.measurement_period import joins_next, month_span, period_calendar
from risk.contract_rules.records import Records, Unit, UnitTree
from risk.contract_rules.roll_up import Child, Needed
from risk.contract_rules.unit_history import (
    NOTHING_ROLLED_UP,
    ClockedIncident,
    UnitHistory,
    clocked,
    unit_history,
)
from risk.core.computed import Step
from schemas.cancellation import BadMonths
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem
from schemas.incidents import Incident, Notice
from schemas.periods import Cycle, Month, Part, Period, PeriodCalendar
from schemas.service_levels import ServiceLevel

MONTHS_PER_YEAR = 12
FIXED_TERMS = ("period", "billing_day", "rolling_days", "amendment_applies")
"""Terms of `measurement` that say what the periods are, and so cannot change from one to the next."""


class Register:
    """What one statement reads."""

    def __init__(self, deal: Deal, records: Records, periods: Sequence[Period], as_of: datetime | None = None) -> None:
        """Check the records and find the periods that must be computed for those asked for."""
        if as_of is not None and as_of.tzinfo is None:
            raise DealError([Problem("as_of", as_of.isoformat(), "a time with its offset", "add Z or an offset")])
        if not periods:
            raise DealError([Problem("periods", "none", "at least one", "name one such as 2026-10")])
        if not records.units:
            raise MissingTermError(
                "units", "a statement of credits", "list the units in service, with their monthly fees"
            )
        self.deal, self.records = deal, records
        self.as_of = as_of.astimezone(UTC) if as_of else None
        asked = sorted(set(periods))
        self.calendar: PeriodCalendar = period_calendar(deal, records.units, asked[0].first_day())
        self.periods = tuple(part for one in asked for part in self.calendar.parts(self._whole(one)))
        zone = deal.measurement.zone
        self._terms: dict[int, Deal] = {}
        self._refuse_other_periods()
        self.first_months = {
            service: self._first_month(service, zone) for service in dict.fromkeys(u.service for u in records.units)
        }
        self.months = self._months()
        self.tree = UnitTree(records.units, month_span(self.months[0], zone)[0])
        self.open_until = self.as_of or month_span(self.periods[-1], zone)[1]
        self.known_until = self.as_of or END
        self._clocked: dict[tuple[str, str | None, int], tuple[ClockedIncident, ...]] = {}
        self._histories: dict[tuple[str, str | None, CountingRules, int, bool], UnitHistory] = {}
        self._work_of_cluster: dict[tuple[str, int], Spans] = {}
        self._children: dict[tuple[str, bool, int], tuple[Child, ...]] = {}
        self._check()

    @property
    def currency(self) -> str:
        """Return the currency of the fees on record."""
        if self.deal.commercial is not None:
            return self.deal.commercial.currency
        if self.deal.finance is not None:
            return self.deal.finance.currency
        raise MissingTermError("commercial.currency", "a statement of credits", "add commercial with its currency")

    def terms(self, month: Period) -> Deal:
        """Return the terms of a period: amendments apply from the first period that starts on or after their date."""
        version = self._version(month)
        if version not in self._terms:
            self._terms[version] = self.deal.at(month.terms_day()) if self.deal.amendments else self.deal
        return self._terms[version]

    def amendments(self, month: Period) -> tuple[date, ...]:
        """Return the dates of the amendments that apply to a period."""
        return tuple(a.effective_from for a in self.deal.amendments if a.effective_from <= month.terms_day())

    def at_incident(self, month: Period) -> tuple[tuple[Period, Span], ...]:
        """Return a period on each set of terms that outages in it can have started under, with the time of these terms.

        None but where the terms in force at its start decide about an outage.
        """
        measurement = self.deal.measurement
        days = sorted({a.effective_from for a in self.deal.amendments if a.effective_from < month.day_after()})
        if measurement.amendment_applies != "at_incident" or not days or isinstance(month, Part):
            return ()
        assert isinstance(month, Month | Cycle)
        first, after = month.first_day(), month.day_after()
        edges = [START, *(midnight(day, measurement.zone) for day in days), END]
        return tuple(
            (Part(month, first, after, day), span) for day, span in zip((date.min, *days), pairwise(edges), strict=True)
        )

    def span_of(self, unit: Unit, month: Period) -> Span | None:
        """Return the time that the line of a unit for a period covers, None where it is measured with the next one."""
        zone = self.deal.measurement.zone
        span = month_span(month, zone)
        if joins_next(unit.in_service, span, self.terms(month).measurement):
            return None
        since = self.measured_since(unit, month)
        return span if since is None else (since, span[1])

    def measured_since(self, unit: Unit, month: Period) -> datetime | None:
        """Return the start of a unit's service where a period is measured together with the part before it."""
        if unit.in_service[0][0] >= month_span(month, self.deal.measurement.zone)[0]:
            return None
        before = self.calendar.plus(month, -1)
        span = month_span(before, self.deal.measurement.zone)
        return unit.in_service[0][0] if joins_next(unit.in_service, span, self.terms(before).measurement) else None

    def units_of(self, level: ServiceLevel) -> tuple[Unit, ...]:
        """Return the units that a service level measures, in the order of the records; spares are not measured."""
        return tuple(
            unit
            for unit in self.tree.units.values()
            if unit.level == level.level and level.service in (None, unit.service) and not unit.is_spare
        )

    def contract_year(self, service: str, month: Period) -> tuple[int, Month]:
        """Return the number of the contract year in which a period of a service starts, from 0, and its first month."""
        first = self.first_months[service]
        year = max(_month_of(month.first_day()).months_since(first), 0) // MONTHS_PER_YEAR
        return year, first.plus(year * MONTHS_PER_YEAR)

    def history(self, unit: Unit, level_id: str | None, month: Period, *, in_cluster: bool = True) -> UnitHistory:
        """Return the history of a unit on the terms of `month`; without a level, under the general counting rules.

        Without `in_cluster` the allowance of the cluster for planned work, and what nodes bring about, are left out.
        """
        terms, version = self.terms(month), self._version(month)
        level = terms.service_levels[level_id] if level_id is not None else None
        rules = counting_rules(terms.measurement, level.measurement if level else None)
        cluster = self._planned_work(unit, month) if in_cluster else None
        key = (unit.id, level_id, rules, version, cluster is not None)
        if key not in self._histories:
            rolled = NOTHING_ROLLED_UP
            records = self.clocked(unit, month, level_id)
            if level is not None and in_cluster:
                children, needed = self.children(unit, level, month), self.needed(unit, level, month)
                found = roll_up.exact(children, level, (), unit.in_service, unit.id, level_id or "", needed).value
                rolled = found.as_known(self.open_until, self.known_until)
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
                self._watching.get(unit.level, frozenset()),
            )
        return self._histories[key]

    def clocked(self, unit: Unit, month: Period, level_id: str | None = None) -> tuple[ClockedIncident, ...]:
        """Return the incidents of a unit under the clock of the terms of `month`.

        Parameters
        ----------
        level_id : service level whose tests may name what fails above the unit; None: the unit's own incidents alone.
        """
        key = (unit.id, level_id, self._version(month))
        if key not in self._clocked:
            terms = self.terms(month)
            own = self.incidents.get(unit.id, ())
            found = [clocked(one, terms, unit.in_service, self.open_until, self.known_until) for one in own]
            for one, steps in self._from_above(unit, level_id, month):
                copy = clocked(one, terms, unit.in_service, self.open_until, self.known_until)
                traces = tuple(Trace(span, step) for span in copy.spans[:1] for step in steps)
                found.append(replace(copy, traces=(*traces, *copy.traces)))
            self._clocked[key] = tuple(found)
        return self._clocked[key]

    def _from_above(
        self, unit: Unit, level_id: str | None, month: Period
    ) -> Iterator[tuple[Incident, tuple[Step, ...]]]:
        """Yield copies of incidents above a unit that bring it down under the tests of a service level."""
        level = self.terms(month).service_levels[level_id] if level_id is not None else None
        if level is None or level_id is None or not affected.looks_above(level):
            return
        above = self.tree.names(unit.id) - {unit.id}
        beside = (name for name, parent in self._fabrics if parent in above or parent == unit.id)
        for incident in (i for name in sorted({*above, *beside}) for i in self.incidents.get(name, ())):
            found = affected.exact(incident, unit, self.tree, level, level_id)
            if found.value is not None:
                yield found.value, found.steps

    @cached_property
    def _fabrics(self) -> tuple[tuple[str, str | None], ...]:
        """Fabrics on record, with the unit that each stands in."""
        return tuple((unit.id, unit.parent_id) for unit in self.tree.units.values() if unit.level == "fabric")

    @cached_property
    def _watching(self) -> dict[str, frozenset[str]]:
        """Monitors on record by the level of the units that they watch."""
        found: dict[str, set[str]] = {}
        for incident in self.records.incidents:
            if incident.monitor_id is not None:
                found.setdefault(incident.level, set()).add(incident.monitor_id)
        return {level: frozenset(names) for level, names in found.items()}

    def own_downtime(self, unit: Unit, month: Period, level_id: str | None = None) -> Spans:
        """Return downtime of the unit's own incidents, before flaps, minimum and exclusions."""
        return union(
            span
            for record in self.clocked(unit, month, level_id)
            if record.incident.state in ("down", "planned")
            for span in record.spans
        )

    def needed(self, unit: Unit, level: ServiceLevel, month: Period) -> tuple[Needed, ...]:
        """Return the units that a unit of a service level needs, with their counted downtime."""
        return tuple(
            Needed(other.id, other.level, self.history(other, self.usual_level(other, month), month).counted)
            for other in self.tree.needed_by(unit, level.requires)
        )

    def children(self, unit: Unit, level: ServiceLevel, month: Period) -> tuple[Child, ...]:
        """Return the nodes of a unit with their counted downtime, where the level is rolled up from nodes."""
        if not roll_up.is_rolled_up(level):
            return ()
        key = (unit.id, level.spares_count, self._version(month))
        if key not in self._children:
            nodes = self.tree.nodes_within(unit.id, spares=level.spares_count)
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

    def _planned_work(self, unit: Unit, month: Period) -> tuple[str, Spans] | None:
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

    def usual_level(self, unit: Unit, month: Period) -> str | None:
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

    def _level_of_node(self, node: Unit, month: Period) -> str | None:
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

    def _version(self, month: Period) -> int:
        return sum(a.effective_from <= month.terms_day() for a in self.deal.amendments)

    def _first_month(self, service: str, zone: str) -> Month:
        """Return the first month of the first contract year of a service."""
        asked = _month_of(self.periods[0].first_day())
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
                return min(_month_of(min(day for day in dates if isinstance(day, date))), asked)
        return asked

    def _months(self) -> tuple[Period, ...]:
        """Return the periods to compute: those asked for, the contract year before them, and those rights look at."""
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
        year_starts = [self.contract_year(service, asked)[1].first_day() for service in self.first_months]
        service_starts = min(self.first_months.values()).first_day()
        first = max(service_starts, min(*year_starts, self.calendar.plus(asked, 1 - looks_back).first_day()))
        if any(self._looks_at_whole_term(month) for month in self.periods):
            first = service_starts
        first = min(first, asked.first_day())
        return self.calendar.between(self.calendar.parts(self.calendar.containing(first))[0], self.periods[-1])

    def _looks_at_whole_term(self, month: Period) -> bool:
        """Return whether what is owed in a period depends on all credits given before."""
        caps = self.terms(month).credits.caps
        return caps.term is not None or caps.carry_forward

    def _whole(self, asked: Period) -> Month | Cycle:
        """Return a period that was asked for, if the contract has it."""
        period = self.calendar.containing(asked.first_day())
        if period != asked:
            found = f"{asked}, and periods of kind {self.calendar.kind!r}"
            raise DealError([Problem("periods", found, self.calendar.example, "name periods of the contract")])
        return period

    def _refuse_other_periods(self) -> None:
        """Refuse amendments that change what the periods are."""
        for i, amendment in enumerate(self.deal.amendments):
            for path in amendment.set:
                if path == "measurement" or path in {f"measurement.{name}" for name in FIXED_TERMS}:
                    raise NotComputedError(
                        f"amendments[{i}].set.{path}",
                        "periods that change their kind from one to the next",
                        "state the periods before and after the amendment on a deal file of their own",
                    )

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


def _month_of(day: date) -> Month:
    return Month(day.year, day.month)
