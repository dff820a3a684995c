"""Credits of a statement replayed with plain sums, written from the words of the contract.

Minutes come from `replay_of_minutes`. Nothing here comes from `risk.contract_rules` but the line that results are
compared with.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

from replay_of_minutes import (
    PER_HOUR,
    PER_MINUTE,
    Case,
    MinutesOfPeriod,
    Replay,
    first_of_month,
    midnight,
    moment_of,
    month_index,
    months_later,
    runs,
)

from schemas.cancellation import BadMonths, CumulativeHours, SingleOutage
from schemas.incidents import Notice
from schemas.service_levels import ServiceLevel

HOLIDAYS = frozenset(
    date(year, month, day)
    for year, days in {
        2025: ((12, 25),),
        2026: (
            *((1, 1), (1, 19), (2, 12), (2, 16), (5, 25), (6, 19), (7, 3), (7, 4), (9, 7), (10, 12), (11, 3), (11, 11)),
            *((11, 26), (12, 25)),
        ),
        2027: ((1, 1), (1, 18), (2, 12), (2, 15), (5, 31), (6, 18), (6, 19), (7, 4), (7, 5)),
    }.items()
    for month, day in days
)
"""Holidays in New York around the months that are replayed."""


@dataclass
class ReplayLine:
    """One unit of one level in one period."""

    period: date
    level: str
    unit: str
    service: str
    minutes: MinutesOfPeriod
    credit: Decimal
    payable: Decimal
    claim_by: datetime | None = None
    days_added: int = 0


@dataclass
class ReplayRight:
    form: str
    level: str
    unit: str
    arises: datetime


@dataclass
class ReplaySettlement:
    credit: Decimal
    payable: Decimal
    brought_forward: Decimal
    carried_forward: Decimal


@dataclass
class Result:
    lines: list[ReplayLine]
    settlements: dict[tuple[date, str], ReplaySettlement]
    rights: list[ReplayRight] = field(default_factory=list)

    @property
    def total(self) -> Decimal:
        return sum((s.payable for s in self.settlements.values()), Decimal(0))


class Money(Replay):
    """Everything about fees and credits."""

    def replay(self) -> Result:
        carried: dict[str, list[Decimal]] = {service: [] for service in self.service_start}
        given: dict[tuple[str, int], Decimal] = defaultdict(Decimal)
        given_in_term: dict[str, Decimal] = defaultdict(Decimal)
        result = Result([], {})
        self.availabilities: dict[tuple[str, str], list[tuple[date, Fraction | None]]] = defaultdict(list)
        for period in self.all_periods:
            lines = self.lines(period)
            for line in lines:
                history = self.availabilities[line.level, line.unit]
                history.append((period[1], line.minutes.availability))
            for service in self.service_start:
                mine = [line for line in lines if line.service == service]
                if not mine and not carried[service]:
                    continue
                settlement = self.settle(service, period, mine, carried, given, given_in_term)
                if period in self.case.periods:
                    result.settlements[period[0], service] = settlement
            if period in self.case.periods:
                result.lines += lines
        result.rights = self.rights()
        return result

    # fees

    def accrued(self, unit: str, span: tuple[int, int], relief: set[int] | None = None) -> Fraction:
        """The fee of one unit for its time in service, each calendar month by itself."""
        found = Fraction(0)
        for start, end, record in self.spells[unit]:
            low, high = max(start, span[0]), min(end, span[1])
            while low < high:
                index = month_index(low, self.zone)
                month = midnight(first_of_month(index), self.zone), midnight(first_of_month(index + 1), self.zone)
                stop = min(high, month[1])
                free = sum(low <= t < stop for t in relief or ())
                found += Fraction(record.monthly_fee) * Fraction(stop - low - free, month[1] - month[0])
                low = stop
        return found

    def stands_for(self, unit: str, level: ServiceLevel) -> str:
        """The unit whose fee is looked at."""
        if level.base_share is None or any(record.monthly_fee for _, _, record in self.spells[unit]):
            return unit
        priced = (n for n in self.ancestors(unit) if any(r.monthly_fee for _, _, r in self.spells.get(n, ())))
        return next(priced, unit)

    def unit_fee(self, unit: str, level: ServiceLevel, m: MinutesOfPeriod, *, abated: bool = True) -> Fraction:
        """The fee of a unit, or the share of the fee of the unit around it that stands for one."""
        name = self.stands_for(unit, level)
        level_id = next(i for i, other in self.deal.service_levels.items() if other is level)
        if name == unit:
            return self.accrued(unit, m.span, self.relief(unit, level_id) if abated else None)
        both = ((max(m.span[0], start), min(m.span[1], end)) for start, end, _ in self.spells[unit])
        parts = (
            self.accrued(name, span, self.relief(unit, level_id) if abated else None)
            for span in both
            if span[0] < span[1]
        )
        return Fraction(level.base_share or 0) * sum(parts, Fraction(0))

    def prepaid(self, unit: str) -> Fraction:
        return Fraction(self.unit[unit].prepaid_fraction)

    def relief(self, unit: str, level_id: str | None) -> set[int]:
        """Time in which force majeure kept a unit down and its fee stops."""
        if self.deal.exclusions.force_majeure.fee_during == "continues":
            return set()
        return self.history(unit, level_id).force_majeure

    def service_fee(self, service: str, span: tuple[int, int], *, credited: bool = False) -> Fraction:
        """The fee of a service; units of several levels stand for the same money."""
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for name, record in self.unit.items():
            if record.service == service and not record.spare:
                fee = self.accrued(name, span, self.relief(name, None))
                if credited and not self.deal.credits.includes_prepaid:
                    fee *= 1 - self.prepaid(name)
                sums[record.level] += fee
        return max(sums.values(), default=Fraction(0))

    def planned(self, service: str, first: int, months: int) -> Fraction:
        span = midnight(first_of_month(first), self.zone), midnight(first_of_month(first + months), self.zone)
        sums: dict[str, Fraction] = defaultdict(Fraction)
        for name, record in self.unit.items():
            if record.service != service or record.spare:
                continue
            spells = sorted((s for s in self.spells[name] if s[0] < span[1] and s[1] > span[0]), key=lambda s: s[0])
            if spells:
                sums[record.level] += Fraction(spells[0][2].monthly_fee) * months
        return max(sums.values(), default=Fraction(0))

    # lines

    def lines(self, period: tuple[date, date]) -> list[ReplayLine]:
        found = []
        for level_id, level in self.deal.service_levels.items():
            drafts = []
            for name, record in self.unit.items():
                if record.level != level.level or record.spare or level.service not in (None, record.service):
                    continue
                measured = self.measured(name, level_id, period)
                if measured is not None:
                    drafts.append((name, measured))
            if level.aggregation == "fleet_mean":
                known = [m.availability for _, m in drafts if m.availability is not None]
                for _, m in drafts:
                    if m.availability is not None:
                        m.availability = sum(known, Fraction(0)) / len(known)
            for name, measured in drafts:
                credit, days = self.credit(name, level, measured, period)
                line = ReplayLine(
                    period[0], level_id, name, self.unit[name].service, measured, credit, credit, None, days
                )
                found.append(line)
        return found

    def credit(
        self, unit: str, level: ServiceLevel, m: MinutesOfPeriod, period: tuple[date, date]
    ) -> tuple[Decimal, int]:
        credits = self.deal.credits
        unit_fee = self.unit_fee(unit, level, m)
        hours = Fraction(self.served(unit, m.span), PER_HOUR)
        price = self.unit_fee(unit, level, m, abated=False) / hours if hours else Fraction(0)
        base = unit_fee if credits.includes_prepaid else unit_fee * (1 - self.prepaid(self.stands_for(unit, level)))
        if credits.base == "service_fee_accrued":
            base = self.service_fee(self.unit[unit].service, m.span, credited=True)
        elif credits.base == "order_fee_accrued":
            base = sum((self.service_fee(s, m.span, credited=True) for s in self.service_start), Fraction(0))
        share, money, days = Fraction(0), Fraction(0), 0
        terms: Any = level.credit
        a = m.availability
        gap = (
            max(Fraction(0), Fraction(level.target) - a) if level.target is not None and a is not None else Fraction(0)
        )
        counted = m.counted
        match terms.shape:
            case "bands":
                rows = [Fraction(b.credit_fraction) for b in terms.bands if a is not None and a < Fraction(b.below)]
                share = max(rows, default=Fraction(0))
            case "linear":
                share = min(Fraction(terms.cap), Fraction(terms.slope) * gap)
            case "steps":
                steps = gap / Fraction(terms.step)
                number = -(-steps // 1) if terms.counted == "started" else steps // 1
                share = min(Fraction(terms.cap), number * Fraction(terms.credit_fraction))
            case "duration_table":
                looked = [p.minutes for p in m.outages] if terms.per == "outage" else [counted]
                sum_hours = Fraction(0)
                for length in looked:
                    rows = [Fraction(r.credit_hours) for r in terms.rows if r.from_minutes <= length]
                    if length > 0 and rows:
                        sum_hours += rows[-1]
                if terms.cap_hours is not None:
                    sum_hours = min(sum_hours, Fraction(terms.cap_hours))
                money = sum_hours * price
            case "multiple_of_price":
                if counted > 0:
                    money = max(Fraction(terms.multiple) * price * counted / 60, Fraction(terms.least))
            case "per_breach":
                number = sum(p.starts_here for p in m.outages)
                share = min(Fraction(terms.at_risk), number * Fraction(terms.credit_fraction))
            case "hour_waiver":
                by_hour: dict[object, int] = defaultdict(int)
                for t in set().union(*(p.ticks for p in m.outages)):
                    local = moment_of(t).astimezone(ZoneInfo(self.zone))
                    by_hour[local.date(), local.hour, local.utcoffset()] += 1
                waived = sum(n > terms.minutes_in_clock_hour * PER_MINUTE for n in by_hour.values())
                money = waived * price
            case "onset_plus_hourly":

                def so_far(c: Fraction) -> Fraction:
                    if c <= 0 or c < terms.free_minutes:
                        return Fraction(0)
                    pieces = (c - terms.free_minutes) / terms.hour_minutes
                    number = -(-pieces // 1) if terms.counted == "started" else pieces // 1
                    return Fraction(terms.onset) + number * Fraction(terms.hourly)

                if terms.per == "period":
                    share = so_far(counted)
                else:
                    share = sum((so_far(p.before + p.minutes) - so_far(p.before) for p in m.outages), Fraction(0))
                share = min(Fraction(terms.cap), share)
            case "term_extension":
                days = max((r.days for r in terms.rows if a is not None and a < Fraction(r.below)), default=0)
        exact = min(money + share * base, Fraction(credits.caps.unit) * unit_fee)
        return self.rounded(exact), days

    def rounded(self, value: Fraction) -> Decimal:
        cents = value * 100
        whole = cents // 1
        rest = cents - whole
        how = self.deal.credits.rounding
        up = how != "down" and (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and (how == "half_up" or whole % 2)))
        return Decimal(int(whole) + bool(up)) / 100

    # settlement

    def settle(
        self,
        service: str,
        period: tuple[date, date],
        lines: list[ReplayLine],
        carried: dict[str, list[Decimal]],
        given: dict[tuple[str, int], Decimal],
        given_in_term: dict[str, Decimal],
    ) -> ReplaySettlement:
        credits = self.deal.credits
        for line in lines:
            if line.payable <= credits.minimum_payable:
                line.payable = Decimal(0)
        self.choose(period, lines)
        if credits.process.mode == "claimed":
            for line in lines:
                self.claim(line, period)
        span = self.span(period)
        year = (period[0].year * 12 + period[0].month - 1 - self.first_month[service]) // 12
        year = max(year, 0)
        caps: list[Decimal | None] = [None, None, None]
        if credits.caps.month is not None:
            fee = self.service_fee(service, span)
            if credits.caps.month_of == "previous_period":
                place = self.all_periods.index(period)
                fee = self.service_fee(service, self.span(self.all_periods[place - 1])) if place else Fraction(0)
            caps[0] = self.rounded(Fraction(credits.caps.month) * fee)
        if credits.caps.year is not None:
            fee = self.planned(service, self.first_month[service] + 12 * year, 12)
            caps[1] = self.rounded(Fraction(credits.caps.year) * fee)
        if credits.caps.term is not None:
            assert self.deal.commercial is not None
            fee = self.planned(service, self.first_month[service], int(self.deal.commercial.term.months))
            caps[2] = self.rounded(Fraction(credits.caps.term) * fee)
        used = [Decimal(0), given[service, year], given_in_term[service]]
        old = carried[service]
        owed_old = sum(old, Decimal(0))
        owed = [line.payable for line in lines]
        earned = sum(owed, Decimal(0))
        for i in range(3):
            cap = caps[i]
            if cap is None:
                continue
            room = max(Decimal(0), cap - used[i])
            released = min(owed_old, room)
            if i == 0 and credits.caps.carry_forward:
                carried[service] = [x for x in _after(old, released) if x]
            owed_old = released
            left = _reduced(owed, room - released)
            if i == 0 and credits.caps.carry_forward and sum(owed) > sum(left):
                carried[service].append(sum(owed, Decimal(0)) - sum(left, Decimal(0)))
            owed = left
        if caps[0] is None:
            carried[service] = []
        for line, amount in zip(lines, owed, strict=True):
            line.payable = amount
        paid = sum(owed, Decimal(0)) + owed_old
        given[service, year] += paid
        given_in_term[service] += paid
        del earned
        return ReplaySettlement(
            sum((line.credit for line in lines), Decimal(0)), paid, owed_old, sum(carried[service], Decimal(0))
        )

    def choose(self, period: tuple[date, date], lines: list[ReplayLine]) -> None:
        """One level or all."""
        rule = self.deal.credits.between_levels
        sums: dict[str, Decimal] = {}
        for line in lines:
            sums[line.level] = sums.get(line.level, Decimal(0)) + line.payable
        if rule == "cumulative" or not sums:
            return
        if rule == "parent_absorbs_children":
            paid = {line.unit for line in lines if line.payable}
            for line in lines:
                if paid & set(self.ancestors(line.unit)):
                    line.payable = Decimal(0)
            return
        order = [name for name in self.deal.service_levels if name in sums]
        chosen = max(order, key=lambda name: sums[name])
        if rule == "choose_one":
            units = set().union(*(self.names(line.unit) for line in lines))
            claims = [n for n in self.claims(period) if not n.unit_ids or units & set(n.unit_ids)]
            named = [n for n in claims if n.service_level in sums]
            if named:
                chosen = str(named[0].service_level)
        for line in lines:
            if line.level != chosen:
                line.payable = Decimal(0)

    def received(self, notice: Notice) -> datetime:
        return notice.received_at or notice.sent_at

    def claims(self, period: tuple[date, date]) -> list[Notice]:
        """Claims for a period, by receipt."""
        start, end = (moment_of(t) for t in self.span(period))
        found = []
        for notice in self.case.notices:
            if notice.kind != "claim" or (self.case.as_of and self.received(notice) > self.case.as_of):
                continue
            if notice.covers_from is None and notice.covers_to is None:
                covers = self.received(notice) >= end
            else:
                covers = (notice.covers_from is None or notice.covers_from < end) and (
                    notice.covers_to is None or notice.covers_to > start
                )
            if covers:
                found.append(notice)
        return sorted(found, key=self.received)

    def claim(self, line: ReplayLine, period: tuple[date, date]) -> None:
        if not line.payable:
            return  # nothing to claim
        terms = self.deal.credits.process
        line.claim_by = self.late_from(line, period)
        mine = [n for n in self.claims(period) if not n.unit_ids or self.names(line.unit) & set(n.unit_ids)]
        if line.claim_by is None:
            late = False
        elif mine:
            late = self.received(mine[0]) >= line.claim_by
        else:
            late = self.case.as_of is not None and self.case.as_of >= line.claim_by
        if late and terms.late == "forfeit":
            line.payable = Decimal(0)
        elif late and terms.late == "reduced":
            line.payable = self.rounded(Fraction(line.payable) * Fraction(terms.late_share))

    def late_from(self, line: ReplayLine, period: tuple[date, date]) -> datetime | None:
        terms = self.deal.credits.process
        day = self.claim_event(line, period)
        if day is None:
            return None
        inclusive = self.terms.day_count == "include_event_day"
        if terms.window_business_days is not None:
            left = terms.window_business_days
            last = day - timedelta(days=1) if inclusive else day
            while left:
                last += timedelta(days=1)
                left -= last.weekday() < 5 and last not in HOLIDAYS
        elif terms.window_months is not None:
            last = months_later(day, terms.window_months) - timedelta(days=inclusive)
        else:
            last = day + timedelta(days=terms.window_days - inclusive)
        return moment_of(midnight(last + timedelta(days=1), self.zone))

    def claim_event(self, line: ReplayLine, period: tuple[date, date]) -> date | None:
        """The day from which the days of a claim are counted."""
        source = self.deal.credits.process.window_from
        if source == "period_end":
            return period[1] - timedelta(days=1)
        if source == "next_period_end":
            return self._period_of(period[1])[1] - timedelta(days=1)
        if source == "statement":
            end = moment_of(self.span(period)[1])
            sent = [
                self.received(n)
                for n in self.case.notices
                if n.kind == "credit_statement"
                and not (self.case.as_of and self.received(n) > self.case.as_of)
                and (
                    self.received(n) >= end
                    if n.covers_from is None and n.covers_to is None
                    else (n.covers_from or datetime.min.replace(tzinfo=UTC)) < end
                    and (n.covers_to or datetime.max.replace(tzinfo=UTC)) > moment_of(self.span(period)[0])
                )
            ]
            return min(sent).astimezone(ZoneInfo(self.zone)).date() if sent else None
        history = self.history(line.unit, line.level)
        low, high = line.minutes.span
        mine = [o.ticks for o in history.outages if o.counts and o.ticks[0] < high and o.ticks[-1] >= low]
        if not mine:
            return None  # nothing from which the days could be counted
        tick = mine[-1][-1] if source == "incident_end" else mine[-1][0]
        return moment_of(tick).astimezone(ZoneInfo(self.zone)).date()

    # rights

    def rights(self) -> list[ReplayRight]:
        chronic = self.deal.cancellation.chronic_failure
        found: list[ReplayRight] = []
        for limb in chronic.limbs if chronic else ():
            if not isinstance(limb, BadMonths | SingleOutage | CumulativeHours):
                continue
            level = self.deal.service_levels[limb.service_level]
            for unit, record in self.unit.items():
                if record.level != level.level or record.spare or level.service not in (None, record.service):
                    continue
                if isinstance(limb, BadMonths):
                    moments = self.bad_months(limb, unit)
                else:
                    history = self.history(unit, limb.service_level)
                    if isinstance(limb, SingleOutage):
                        moments = []
                        for outage in history.outages:
                            good = [t for t in outage.ticks if outage.counts and t not in history.excluded]
                            if len(good) > Fraction(limb.hours) * PER_HOUR:
                                moments.append(good[int(Fraction(limb.hours) * PER_HOUR)])
                    else:
                        moments = self.rolling(limb, history.counted)
                found += [ReplayRight(limb.form, limb.service_level, unit, moment_of(t)) for t in moments]
        return found

    def bad_months(self, limb: BadMonths, unit: str) -> list[int]:
        months = self.availabilities[limb.service_level, unit]
        bad = [a is not None and a < Fraction(limb.below) for _, a in months]
        return [
            midnight(months[i][0], self.zone)
            for i in range(len(months))
            if (self.case.as_of is None or moment_of(midnight(months[i][0], self.zone)) <= self.case.as_of)
            and bad[i]
            and sum(bad[max(0, i + 1 - limb.m) : i + 1]) >= limb.k
        ]

    @staticmethod
    def rolling(limb: CumulativeHours, counted: set[int]) -> list[int]:
        """Ticks at whose start the time in the window behind them comes to be more than the limb's hours."""
        limit, window = Fraction(limb.hours) * PER_HOUR, limb.window_days * 24 * PER_HOUR
        found = []
        for run in runs(counted):
            inside = sum(run[0] - window <= t < run[0] for t in counted)
            over = inside > limit
            for t in run:
                inside += 1 - (t - window in counted)
                if inside > limit and not over:
                    found.append(t)
                over = inside > limit
        return found


def _after(parts: list[Decimal], taken: Decimal) -> list[Decimal]:
    """What is left of parts, the oldest first."""
    found = []
    for part in parts:
        now = min(part, taken)
        taken -= now
        found.append(part - now)
    return found


def _reduced(lines: list[Decimal], room: Decimal) -> list[Decimal]:
    """Lines reduced in proportion to a sum, running sums cut down to the cent."""
    asked = sum(lines, Decimal(0))
    if asked <= room:
        return lines
    found, running, before = [], Fraction(0), Fraction(0)
    for line in lines:
        running += Fraction(line)
        now = Fraction(running * Fraction(room) / Fraction(asked) * 100 // 1, 100)
        found.append(Decimal(int((now - before) * 100)) / 100)
        before = now
    return found


def replay(case: Case) -> Result:
    return Money(case).replay()
