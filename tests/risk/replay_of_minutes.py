"""Minutes of a statement replayed on a grid of twenty seconds with plain sets, from the words of the contract.

Nothing here comes from `risk.contract_rules`. Every time of the records lies on the grid, so each tick is wholly down
or wholly up, and a set of ticks says all there is to say about a unit.
"""

from __future__ import annotations

import calendar
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from schemas.deal import Deal
from schemas.incidents import Incident, LedgerEntry, Notice, UnitService, Window
from schemas.service_levels import ServiceLevel

TICK = 20
"""[s]"""
FOREVER = 10**12
PER_MINUTE = 60 // TICK
PER_HOUR = 3600 // TICK
FREE_HEADS = ("force_majeure", "customer_act", "customer_hold", "suspension", "test_at_customer_request")
"""Heads that use up no allowance of their own."""
Ticks = set[int]


def tick_of(moment: datetime) -> int:
    seconds = int(moment.timestamp())
    assert seconds % TICK == 0
    return seconds // TICK


def moment_of(tick: int) -> datetime:
    return datetime.fromtimestamp(tick * TICK, UTC)


def midnight(day: date, zone: str) -> int:
    return tick_of(datetime(day.year, day.month, day.day, tzinfo=ZoneInfo(zone)))


def moment(day: date, zone: str) -> datetime:
    """Midnight that starts a day in a zone."""
    return moment_of(midnight(day, zone))


def days_later(moment: datetime, days: int, zone: str) -> datetime:
    """The same time of day in the zone."""
    local = moment.astimezone(ZoneInfo(zone)).replace(tzinfo=None) + timedelta(days=days)
    return local.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC)


def month_index(tick: int, zone: str) -> int:
    local = moment_of(tick).astimezone(ZoneInfo(zone))
    return local.year * 12 + local.month - 1


def first_of_month(index: int) -> date:
    return date(index // 12, index % 12 + 1, 1)


def runs(ticks: Iterable[int]) -> list[list[int]]:
    """Stretches of ticks without a hole."""
    found: list[list[int]] = []
    for tick in sorted(ticks):
        if found and found[-1][-1] == tick - 1:
            found[-1].append(tick)
        else:
            found.append([tick])
    return found


def minutes(count: int) -> Fraction:
    return Fraction(count, PER_MINUTE)


def whole_minutes(ticks: Iterable[int]) -> int:
    """Each stretch cut down to whole minutes."""
    return sum(len(run) // PER_MINUTE for run in runs(ticks))


@dataclass
class Case:
    """What a statement is made of."""

    deal: Deal
    incidents: Sequence[Incident]
    windows: Sequence[Window]
    notices: Sequence[Notice]
    units: Sequence[UnitService]
    periods: Sequence[tuple[date, date]]
    """First day and day after of each period asked for, one after the other."""
    as_of: datetime | None = None
    ledger: Sequence[LedgerEntry] = ()


@dataclass
class Counting:
    minimum: int
    more_than: bool
    rule: str
    gap: int
    fixed: bool


@dataclass
class Outage:
    ticks: list[int]
    counts: bool


@dataclass
class History:
    """One unit under the rules of one level, over all time."""

    outages: list[Outage]
    excluded: Ticks
    force_majeure: Ticks
    weights: dict[int, Fraction]
    """Ticks in which it was too slow, outside outages that count."""
    unknown: Ticks
    planned: Ticks
    """Excluded as planned work."""
    disputed: Ticks

    @property
    def counted(self) -> Ticks:
        return {t for outage in self.outages if outage.counts for t in outage.ticks} - self.excluded


@dataclass
class PricedOutage:
    """An outage as the credits of one period see it."""

    minutes: Fraction
    """Counted minutes in the period."""
    before: Fraction
    """Counted minutes in earlier time."""
    ticks: Ticks
    """Counted time in the period, not rounded."""
    starts_here: bool


@dataclass
class MinutesOfPeriod:
    span: tuple[int, int]
    window: Fraction
    down: Fraction
    excluded: Fraction
    disregarded: Fraction
    counted: Fraction
    unknown: Fraction
    disputed: Fraction
    degraded: Fraction
    availability: Fraction | None
    outages: list[PricedOutage]
    force_majeure: Ticks


class Replay:
    """Everything about units and minutes."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.deal = case.deal
        self.terms = case.deal.measurement
        self.zone = self.terms.zone
        self.spells: dict[str, list[tuple[int, int, UnitService]]] = defaultdict(list)
        self.unit: dict[str, UnitService] = {}
        first = midnight(case.periods[0][0], self.zone)
        for record in case.units:
            start = tick_of(record.in_service_from) if record.in_service_from else first
            end = tick_of(record.in_service_to) if record.in_service_to else FOREVER
            self.spells[record.unit_id].append((start, end, record))
            self.unit[record.unit_id] = record
        self.last = tick_of(case.as_of) if case.as_of else midnight(case.periods[-1][1], self.zone)
        self.horizon = tick_of(case.as_of) if case.as_of else self.last + 120 * 24 * PER_HOUR
        self.service_start = {
            service: min(s[0][0] for u, s in self.spells.items() if self.unit[u].service == service)
            for service in {u.service for u in case.units}
        }
        self.first_month = {s: month_index(t, self.zone) for s, t in self.service_start.items()}
        self.all_periods = self._all_periods()
        self._histories: dict[tuple[str, str | None, bool], History] = {}

    # periods

    def _period_of(self, day: date) -> tuple[date, date]:
        kind = self.terms.period
        if kind == "rolling_days":
            begin = min(moment_of(t).astimezone(ZoneInfo(self.zone)).date() for t in self.service_start.values())
            length = timedelta(days=self.terms.rolling_days)
            start = begin + (day - begin) // length * length
            return start, start + length
        index = day.year * 12 + day.month - 1
        if kind == "calendar_month":
            return first_of_month(index), first_of_month(index + 1)
        if kind == "quarter":
            return first_of_month(index // 3 * 3), first_of_month(index // 3 * 3 + 3)
        if kind == "year":
            return date(day.year, 1, 1), date(day.year + 1, 1, 1)
        if day.day < self.terms.billing_day:
            index -= 1
        return tuple(first_of_month(i).replace(day=self.terms.billing_day) for i in (index, index + 1))  # type: ignore[return-value]

    def _all_periods(self) -> list[tuple[date, date]]:
        """Every period from the first service to the last one asked for."""
        start = moment_of(min(self.service_start.values())).astimezone(ZoneInfo(self.zone)).date()
        found = [self._period_of(min(start, self.case.periods[0][0]))]
        while found[-1][1] < self.case.periods[-1][1]:
            found.append(self._period_of(found[-1][1]))
        assert set(self.case.periods) <= set(found)
        return found

    def span(self, period: tuple[date, date]) -> tuple[int, int]:
        return midnight(period[0], self.zone), midnight(period[1], self.zone)

    def served(self, unit: str, span: tuple[int, int]) -> int:
        """Ticks in service."""
        return sum(max(0, min(end, span[1]) - max(start, span[0])) for start, end, _ in self.spells[unit])

    def in_service(self, unit: str, tick: int) -> bool:
        return any(start <= tick < end for start, end, _ in self.spells[unit])

    def clip(self, unit: str, start: int, end: int) -> Ticks:
        found: Ticks = set()
        for low, high, _ in self.spells[unit]:
            found |= set(range(max(start, low), min(end, high, self.horizon)))
        return found

    def line_span(self, unit: str, period: tuple[date, date]) -> tuple[int, int] | None:
        """The time that the line of a unit for a period covers; None where it has none."""
        start, end = self.span(period)
        since = min(s for s, _, _ in self.spells[unit])
        if start < since < end:
            if self.terms.first_partial == "none":
                return None
            if self._waits(unit, since, period):
                return None
        place = self.all_periods.index(period)
        if place:
            before = self.all_periods[place - 1]
            low, high = self.span(before)
            if low < since < high and self.terms.first_partial != "none" and self._waits(unit, since, before):
                start = since
        return start, end

    def _waits(self, unit: str, since: int, period: tuple[date, date]) -> bool:
        """Whether a first part of a period is measured with the next one."""
        start, end = self.span(self._period_of(period[1]))
        if not self.served(unit, (start, end)):
            return False  # there is no next one
        if self.terms.first_partial == "merge_next":
            return True
        enough = days_later(moment_of(since), self.terms.min_window_days, self.zone)
        return enough > moment_of(self.span(period)[1])

    # downtime

    def ancestors(self, unit: str) -> list[str]:
        found, name = [], self.unit[unit].parent_id
        while name is not None:
            found.append(name)
            name = self.unit[name].parent_id if name in self.unit else None
        return found

    def names(self, unit: str) -> set[str]:
        return {unit, *self.ancestors(unit)}

    def clocked(self, unit: str, states: Sequence[str]) -> list[tuple[Incident, Ticks]]:
        """Records of a unit with the time each covers under the contract's clock."""
        found = []
        for incident in self.case.incidents:
            if incident.unit_id != unit or incident.state not in states:
                continue
            start: datetime | None = incident.started_at
            if incident.state not in ("unknown",):
                if self.terms.starts_at == "detection":
                    known = [m for m in (incident.detected_at, incident.notice_at) if m]
                    start = min(known) if known else incident.started_at
                elif self.terms.starts_at == "customer_notice":
                    start = incident.notice_at
                elif self.terms.starts_at == "ticket_confirmed":
                    start = incident.ticket_at
                told = [m for m in (incident.notice_at, incident.ticket_at) if m]
                if start is not None and self.terms.backdate_limit_hours is not None and told:
                    start = max(start, min(told) - timedelta(hours=float(self.terms.backdate_limit_hours)))
            if start is None:
                continue
            end = incident.ended_at or (incident.readmitted_at if incident.state != "unknown" else None)
            if self.terms.ends_at == "readmission" and incident.readmitted_at:
                end = incident.readmitted_at
            until = self.last if end is None else tick_of(end)
            found.append((incident, self.clip(unit, tick_of(start), until)))
        return found

    def read(self, unit: str) -> tuple[Ticks, Ticks, Ticks]:
        """Time that counts as down, without a reading and in dispute, from what each party's monitors show."""
        terms = self.terms
        level = self.unit[unit].level
        watching = {i.monitor_id for i in self.case.incidents if self.unit[i.unit_id].level == level}
        first = terms.monitor if terms.monitor in ("customer", "third_party") else "provider"
        heard = sorted({terms.monitors[name] for name in watching if name is not None}, key=lambda p: p != first)
        shown: dict[str | None, Ticks] = defaultdict(set)
        silent: dict[str | None, Ticks] = defaultdict(set)
        for incident, ticks in self.clocked(unit, ("down", "planned", "unknown")):
            party = terms.monitors[incident.monitor_id] if incident.monitor_id is not None else None
            (silent if incident.state == "unknown" else shown)[party] |= ticks
        if not {i.monitor_id for i in self.case.incidents if i.unit_id == unit} - {None}:
            return shown[None], silent[None] - shown[None], set()
        down, unknown, disputed = set(shown[None]), set(silent[None]), set()
        for party in heard:
            shown[party] -= silent[party]
        together = runs(set().union(*(shown[party] for party in heard)))
        length_at: dict[int, dict[str, int]] = {}
        for run in together:
            lengths = {party: sum(t in shown[party] for t in run) for party in heard}
            length_at |= dict.fromkeys(run, lengths)
        for t in set().union(*(shown[party] | silent[party] for party in heard)):
            audible = [party for party in heard if t not in silent[party]]
            if not audible or (heard[0] not in audible and not terms.monitor_fallback):
                unknown.add(t)
                continue
            says = {party: t in shown[party] for party in audible}
            if len(set(says.values())) == 1:
                decides = audible[0]
            elif terms.conflict == "expert":
                disputed.add(t)
                continue
            elif terms.conflict in ("provider", "customer"):
                decides = next((p for p in audible if p == terms.conflict), audible[0])
            else:
                of_each = [length_at[t][party] for party in audible]
                wanted = max(of_each) if terms.conflict == "longer" else min(of_each)
                decides = audible[of_each.index(wanted)]
            if says[decides]:
                down.add(t)
        return down, unknown - down, disputed - shown[None]

    def counting(self, level_id: str | None) -> Counting:
        own = self.deal.service_levels[level_id].measurement if level_id else None

        def term(name: str) -> Any:
            value = getattr(own, name) if own is not None else None
            return getattr(self.terms, name) if value is None else value

        return Counting(
            term("minimum_outage_minutes") * PER_MINUTE,
            term("minimum_test") == "more_than",
            term("minute_rule"),
            term("merge_gap_minutes") * PER_MINUTE,
            term("month_length") == "fixed_30",
        )

    def outages(self, unit: str, down: Ticks, counting: Counting) -> list[Outage]:
        joined: list[list[int]] = []
        for run in runs(down):
            if joined and run[0] - joined[-1][-1] - 1 < counting.gap:
                if self.terms.gap_counts:
                    joined[-1] += [t for t in range(joined[-1][-1] + 1, run[0]) if self.in_service(unit, t)]
                joined[-1] += run
            else:
                joined.append(run)
        return [
            Outage(ticks, len(ticks) > counting.minimum or (not counting.more_than and len(ticks) == counting.minimum))
            for ticks in joined
        ]

    def level_of_node(self, node: str) -> str | None:
        for name, level in self.deal.service_levels.items():
            if level.level == self.unit[node].level and level.service in (None, self.unit[node].service):
                return name
        return None

    def nodes_within(self, unit: str, spares: bool) -> list[str]:
        return [
            name
            for name, record in self.unit.items()
            if record.level == "node" and unit in self.ancestors(name) and (spares or not record.spare)
        ]

    def rolled_up(self, unit: str, level: ServiceLevel) -> tuple[Ticks, dict[int, Fraction]]:
        """Ticks in which nodes, or units that are needed, bring a unit down, and those that count in part."""
        found: Ticks = set()
        partly: dict[int, Fraction] = {}
        nodes = self.nodes_within(unit, level.spares_count)
        if level.level not in ("node", "fabric", "storage", "control_plane") and nodes:
            down = {node: self.history(node, self.level_of_node(node)).counted for node in nodes}
            lost_at = Counter(t for ticks in down.values() for t in ticks)
            edges = {edge for node in nodes for spell in self.spells[node] for edge in spell[:2]}
            for low, end, _ in self.spells[unit]:
                high = max(low, min(end, self.horizon))
                stops = sorted({low, high, *(e for e in edges if low < e < high)})
                for start, stop in pairwise(stops):
                    serving = sum(self.in_service(node, start) for node in nodes)
                    if self._too_few(level, serving, 0):  # as long as no record ends it
                        until = min(stop, self.last) if stop == min(FOREVER, self.horizon) else stop
                        found |= set(range(start, until))
                        continue
                    for t, lost in lost_at.items():
                        if start <= t < stop and level.down_when == "capacity_share":
                            partly[t] = Fraction(lost, serving)
                        elif start <= t < stop and self._too_few(level, serving, lost):
                            found.add(t)
        for name, other in self.unit.items():
            if other.level in level.requires and name != unit:
                beside = other.parent_id is not None and other.parent_id == self.unit[unit].parent_id
                if beside or unit in self.ancestors(name):
                    needed = self.history(name, self.level_of_node(name)).counted
                    found |= {t for t in needed if self.in_service(unit, t)}
        return found, partly

    @staticmethod
    def _too_few(level: ServiceLevel, serving: int, lost: int) -> bool:
        if level.down_when == "any_down":
            return lost > 0
        if level.down_when == "all_down":
            return serving > 0 and lost == serving
        if level.down_when == "capacity_share":
            return False
        if level.k is not None:
            return serving - lost < level.k
        if level.nodes_needed_share is not None:
            return serving - lost < -((-Fraction(level.nodes_needed_share) * serving) // 1)
        return lost > 0

    def history(self, unit: str, level_id: str | None, *, alone: bool = False) -> History:
        """A unit under the rules of a level; alone: without its nodes and the hours of its cluster."""
        key = (unit, level_id, alone)
        if key not in self._histories:
            self._histories[key] = self._history(unit, level_id, alone=alone)
        return self._histories[key]

    def _history(self, unit: str, level_id: str | None, *, alone: bool) -> History:
        level = self.deal.service_levels[level_id] if level_id else None
        counting = self.counting(level_id)
        own, silent, disputed = self.read(unit)
        brought, partly = self.rolled_up(unit, level) if level and not alone else (set(), {})
        outages = self.outages(unit, own | brought, counting)
        lasting = {t for outage in outages if outage.counts for t in outage.ticks}
        everything = {t for outage in outages for t in outage.ticks}
        weights = self._slow(unit, level) if level else {}
        for t, share in partly.items():
            weights[t] = max(share, weights.get(t, Fraction(0)))
        weights = {t: w for t, w in weights.items() if t not in lasting}
        slow = set(weights) - set(partly)
        excluded, relief, planned = self._excluded(unit, lasting - brought, slow, alone=alone)
        measured = everything | set(weights)
        disputed -= measured
        return History(outages, excluded, relief, weights, silent - measured - disputed, planned, disputed)

    def _slow(self, unit: str, level: ServiceLevel) -> dict[int, Fraction]:
        found: dict[int, Fraction] = {}
        records = self.clocked(unit, ("degraded",))
        for name, metric in level.degraded.items():
            weight: dict[int, Fraction] = {}
            for incident, ticks in records:
                if incident.metric != name or incident.measured is None:
                    continue
                share = Fraction(incident.measured) / Fraction(metric.baseline or 1)
                if share >= Fraction(metric.floor):
                    continue
                counts = {"none": Fraction(0), "full": Fraction(1), "shortfall": max(Fraction(0), 1 - share)}
                for t in ticks:
                    weight[t] = max(weight.get(t, Fraction(0)), counts[metric.weight])
            for run in runs(weight):
                if len(run) >= metric.minimum_minutes * PER_MINUTE:
                    for t in run:
                        found[t] = max(found.get(t, Fraction(0)), weight[t])
        return found

    # exclusions

    def cluster_of(self, unit: str) -> str:
        """The cluster that a unit is or stands in, or its service where there is none."""
        clusters = [n for n in sorted(self.names(unit)) if n in self.unit and self.unit[n].level == "cluster"]
        return clusters[0] if clusters else self.unit[unit].service

    def _planned(self, unit: str) -> Ticks:
        """Planned work on a unit by itself, before the hours of its cluster are looked at."""
        return self.history(unit, self.level_of_node(unit), alone=True).planned

    def _excluded(self, unit: str, down: Ticks, slow: Ticks, *, alone: bool) -> tuple[Ticks, Ticks, Ticks]:
        """Excluded ticks, those that force majeure excuses, and planned work."""
        terms = self.deal.exclusions
        own = self.read(unit)[0]
        wanted = down | slow
        covered: dict[str, Ticks] = defaultdict(set)
        for window in self.case.windows:
            if window.kind in terms.heads and (not window.unit_ids or self.names(unit) & set(window.unit_ids)):
                covered[window.kind] |= self._with_grace(self._covers(unit, window), window, wanted) & wanted
        listed = {"unknown"} | ({"customer"} if "customer_act" in terms.heads else set())
        for head, parties in (("customer_act", listed), ("force_majeure", listed | {"third_party"})):
            for incident, ticks in self.clocked(unit, ("down", "planned", "degraded")):
                if incident.state != "degraded":
                    ticks &= own
                other = incident.cause_party not in parties
                never = head == "force_majeure" and incident.cause in terms.force_majeure.never
                if never or (other and terms.concurrent == "excluded_only_if_sole"):
                    covered[head] -= ticks
        first = self.first_month[self.unit[unit].service]
        free: Ticks = set().union(*(covered[head] for head in FREE_HEADS))
        budget = terms.scheduled.cap_unit_month_hours
        planned = self._within(covered["scheduled"] - free, budget, first, 1)
        if terms.scheduled.cap_cluster_quarter_hours is not None and not alone:
            work = planned.union(*(self._planned(n) for n in self.unit if self.cluster_of(n) == self.cluster_of(unit)))
            planned &= self._within(work, terms.scheduled.cap_cluster_quarter_hours, first, 3)
        urgent: Ticks = set()
        if terms.emergency is not None:
            urgent = self._within(covered["emergency"] - free - planned, terms.emergency.cap_quarter_hours, first, 3)
        excluded = self._within(free | planned | urgent, terms.year_cap_hours, first, 12)
        return excluded, covered["force_majeure"] & excluded & down, planned & excluded

    def _within(self, ticks: Ticks, hours: Any, first: int, months: int) -> Ticks:
        """What an allowance of some months each covers, used up in order of time."""
        if hours is None:
            return ticks
        used: dict[int, int] = defaultdict(int)
        found: Ticks = set()
        index = until = 0
        limit = Fraction(hours) * PER_HOUR // 1
        for t in sorted(ticks):
            if t >= until:
                index = month_index(t, self.zone)
                until = midnight(first_of_month(index + 1), self.zone)
            if used[(index - first) // months] < limit:
                used[(index - first) // months] += 1
                found.add(t)
        return found

    def _with_grace(self, ticks: Ticks, window: Window, wanted: Ticks) -> Ticks:
        """A window with the time that bringing the unit back takes after it, unless its work ran over."""
        end, grace = tick_of(window.ends_at), Fraction(self.deal.exclusions.recovery_grace_hours) * PER_HOUR
        if not ticks or max(ticks) + 1 != end or end - 1 not in wanted:
            return ticks
        t, found = end, set(ticks)
        while t in wanted and t < end + grace:
            found.add(t)
            t += 1
        return found

    def _covers(self, unit: str, window: Window) -> Ticks:
        """The part of a window that is on the closed list for a unit that it names."""
        terms = self.deal.exclusions
        start, end = window.starts_at, window.ends_at
        if window.kind in ("scheduled", "emergency", "force_majeure"):
            notice = next((n for n in self.case.notices if n.id == window.notice_id), None)
            if notice is None or (self.case.as_of is not None and notice.sent_at > self.case.as_of):
                return set()
            if notice.unit_ids and not self.names(unit) & set(notice.unit_ids):
                return set()
            if window.kind == "force_majeure":
                events = terms.force_majeure
                if window.event not in events.events or window.event in events.never:
                    return set()
                start = max(start, days_later(notice.sent_at, -events.notice_days, self.zone))
            else:
                announced = notice.covers_from or start, notice.covers_to or end
                begins = start
                start, end = max(start, announced[0]), min(end, announced[1])
                if window.kind == "scheduled":
                    good_from = days_later(notice.sent_at, terms.scheduled.notice_days, self.zone)
                    if good_from > begins:
                        if terms.scheduled.partial_notice == "void":
                            return set()
                        start = max(start, good_from)
                else:
                    urgent = terms.emergency
                    assert urgent is not None
                    if notice.sent_at + timedelta(hours=float(urgent.min_notice_hours)) > begins:
                        return set()
                    public = window.fix_published_at
                    limit = urgent.stale_patch_days
                    if public and limit is not None and begins > days_later(public, limit, self.zone):
                        return set()
        return set(range(tick_of(start), tick_of(end))) if start < end else set()

    # minutes of one period

    def measured(self, unit: str, level_id: str, period: tuple[date, date]) -> MinutesOfPeriod | None:
        span = self.line_span(unit, period)
        if span is None:
            return None
        level = self.deal.service_levels[level_id]
        counting = self.counting(level_id)
        history = self.history(unit, level_id)
        window = Fraction(self.served(unit, span) // PER_MINUTE)
        whole = self.span(period)
        if counting.fixed and self.terms.period != "rolling_days" and self.served(unit, whole) == whole[1] - whole[0]:
            months = {"quarter": 3, "year": 12}.get(self.terms.period, 1)
            window = Fraction(43_200 * months + self.served(unit, (span[0], whole[0])) // PER_MINUTE)
        if self.served(unit, span) == 0:
            return None
        down = excluded = Fraction(0)
        priced = []
        for outage in history.outages:
            if outage.ticks[-1] < span[0] and self.terms.straddle != "start_month":
                continue
            if outage.ticks[0] >= span[1] and self.terms.straddle != "end_month":
                continue
            mine = self._belongs(outage, span)
            if not outage.counts:
                down += self._count(outage, mine - set(history.weights), counting)
                continue
            down += self._count(outage, mine, counting)
            excluded += self._count(outage, mine & history.excluded, counting)
            good = set(outage.ticks) - history.excluded
            here = mine & good
            earlier = {t for t in good if t < span[0]} if self.terms.straddle == "split" else set()
            now = self._count(outage, here, counting)
            before = self._count(outage, earlier, counting)
            if here:
                priced.append(PricedOutage(now, before, here, before == 0 and now > 0))
        if self.deal.credits.within_level == "worst_outage" and priced:
            most = max(p.minutes for p in priced)
            priced = [next(p for p in priced if p.minutes == most)]
        counted = sum((p.minutes for p in priced), Fraction(0))
        down_counted = counted
        degraded = weighted = Fraction(0)
        slow = {t: w for t, w in history.weights.items() if span[0] <= t < span[1]}
        longest = Fraction(0)
        for weight in set(slow.values()):
            for run in runs(t for t, w in slow.items() if w == weight):
                left = self._plainly(set(run) - history.excluded, counting)
                out = self._plainly(set(run) & history.excluded, counting)
                down += self._plainly(set(run), counting)
                excluded += out
                degraded += left
                weighted += left * weight
                longest = max(longest, left * weight)
        if self.deal.credits.within_level == "worst_outage":  # a stretch of slowness is looked at like an outage
            weighted = longest if longest > counted else Fraction(0)
            down_counted = Fraction(0) if longest > counted else counted
            counted = max(counted, longest)
        else:
            counted += weighted
        unknown, disputed = (
            minutes(number) if counting.rule == "exact_seconds" else Fraction(number // PER_MINUTE)
            for ticks in (history.unknown, history.disputed)
            for number in (sum(span[0] <= t < span[1] for t in ticks),)
        )
        availability: Fraction | None = None
        if window:
            below = window - excluded if level.excluded_leave == "both" else window
            availability = max(Fraction(0), 1 - counted / below) if below > 0 else Fraction(1)
        relief = {t for t in history.force_majeure if span[0] <= t < span[1]}
        return MinutesOfPeriod(
            span,
            window,
            down,
            excluded,
            down - excluded - down_counted - degraded,
            counted,
            unknown,
            disputed,
            degraded,
            availability,
            priced,
            relief,
        )

    @staticmethod
    def _plainly(ticks: Ticks, counting: Counting) -> Fraction:
        return minutes(len(ticks)) if counting.rule == "exact_seconds" else Fraction(whole_minutes(ticks))

    def _belongs(self, outage: Outage, span: tuple[int, int]) -> Ticks:
        """The downtime of an outage that a period gets."""
        if self.terms.straddle == "split":
            return {t for t in outage.ticks if span[0] <= t < span[1]}
        edge = outage.ticks[0] if self.terms.straddle == "start_month" else outage.ticks[-1]
        return set(outage.ticks) if span[0] <= edge < span[1] else set()

    def _count(self, outage: Outage, part: Ticks, counting: Counting) -> Fraction:
        """The minutes of a part of an outage."""
        if counting.rule == "exact_seconds":
            return minutes(len(part))
        if counting.rule == "floor_piece":
            return Fraction(whole_minutes(part))
        length = len(outage.ticks)
        number = length // PER_MINUTE if counting.rule == "floor_outage" else -(-length // PER_MINUTE)
        return Fraction(sum(outage.ticks[i * PER_MINUTE] in part for i in range(number)))


def months_later(day: date, months: int) -> date:
    index = day.year * 12 + day.month - 1 + months
    year, month = index // 12, index % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
