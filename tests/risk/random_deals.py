"""Small deals and records drawn at random, on the grid of `replay_of_minutes`, to replay statements from."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from replay_of_minutes import TICK, Case

from schemas.deal import Deal
from schemas.incidents import Incident, Notice, UnitService, Window
from schemas.periods import Period, PeriodCalendar

ZONES = ("UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe")
HEADS = ("scheduled", "emergency", "customer_act", "customer_hold", "force_majeure", "suspension")


TWO_SERVICES = {
    "services": {"compute": {"tranches": ["first"]}, "disks": {"tranches": ["second"]}},
    "delivery": {"tranches": {name: {"ready_for_service_date": "2026-01-01"} for name in ("first", "second")}},
}


class Draw:
    """One deal with its records."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.pick = self.rng.choice
        self.zone = self.pick(ZONES)
        self.first = self.pick([date(2026, 2, 1), date(2026, 9, 1), date(2026, 10, 1), date(2026, 12, 1)])
        self.months = self.rng.randint(1, 4)

    def maybe(self, chance: float) -> bool:
        return self.rng.random() < chance

    def case(self) -> tuple[Case, list[Period]]:
        measurement = self.measurement()
        self.terms = measurement
        levels, units = self.levels_and_units()
        calendar = PeriodCalendar(
            measurement["period"],
            self.zone,
            measurement["billing_day"],
            measurement["rolling_days"],
            min(u.in_service_from for u in units if u.in_service_from).astimezone(ZoneInfo(self.zone)).date(),
        )
        first = calendar.containing(self.last_start)
        count = self.months if measurement["period"] in ("calendar_month", "billing_month", "rolling_days") else 1
        periods = [first.plus(i) for i in range(count)]
        self.start = int(periods[0].start(self.zone).timestamp()) // TICK
        self.end = int(periods[-1].end(self.zone).timestamp()) // TICK
        self.edges = [int(p.end(self.zone).timestamp()) // TICK for p in periods]
        exclusions = self.exclusions()
        credits = self.credits()
        begin = min(u.in_service_from for u in units if u.in_service_from)
        if any(u.in_service_from != begin or u.in_service_to for u in units):
            credits["base"] = "unit_fee_accrued"  # what the fee of a service is for a part of a period is left open
        deal = Deal.model_validate(
            {
                "schema_version": 1,
                "measurement": measurement,
                "service_levels": levels,
                "exclusions": exclusions,
                "credits": credits,
                "commercial": {"currency": "USD", "charges": {}, "term": {"months": 24}},
                "cancellation": self.cancellation(levels),
                **(TWO_SERVICES if "others" in levels else {}),
            }
        )
        incidents = self.incidents(units, levels)
        windows, notices = self.windows(units, incidents, exclusions)
        notices += self.claims(periods, deal, units)
        as_of = None
        if deal.credits.process.mode == "claimed" and self.maybe(0.5):
            as_of = self.moment(self.end) + timedelta(days=self.rng.randint(0, 60))
        elif self.maybe(0.15):
            as_of = self.moment(self.rng.randint(self.start, self.end + 4000))
        asked = periods if self.maybe(0.7) else periods[-self.rng.randint(1, len(periods)) :]
        case = Case(deal, incidents, windows, notices, units, [(p.first_day(), p.day_after()) for p in asked], as_of)
        return case, list(asked)

    # terms

    def measurement(self) -> dict[str, Any]:
        pick = self.pick
        return {
            "zone": self.zone,
            "period": pick(["calendar_month"] * 5 + ["billing_month", "billing_month", "quarter", "rolling_days"]),
            "billing_day": pick([5, 15, 28]),
            "rolling_days": pick([7, 30]),
            "month_length": pick(["actual"] * 4 + ["fixed_30"]),
            "minute_rule": pick(["floor_piece", "floor_piece", "floor_outage", "ceil_outage", "exact_seconds"]),
            "minimum_outage_minutes": pick([0, 1, 5, 60]),
            "minimum_test": pick(["at_least", "more_than"]),
            "merge_gap_minutes": pick([0, 1, 5, 240]),
            "gap_counts": self.maybe(0.4),
            "starts_at": pick(["first_failed_reading"] * 4 + ["detection", "customer_notice", "ticket_confirmed"]),
            "backdate_limit_hours": pick([None, None, None, "0.5"]),
            "ends_at": pick(["first_good", "readmission"]),
            "straddle": pick(["split", "split", "split", "start_month", "end_month"]),
            "first_partial": pick(["own_period", "own_period", "merge_next", "none"]),
            "min_window_days": pick([0, 0, 0, 5]),
            "monitors": {"m-1": "provider", "m-2": "customer"},
            "monitor": pick(["provider", "customer"]),
            "monitor_fallback": self.maybe(0.7),
            "conflict": pick(["provider", "customer", "longer", "shorter", "expert"]),
            "day_count": pick(["exclude_event_day", "exclude_event_day", "include_event_day"]),
        }

    def shape(self) -> dict[str, Any]:
        pick = self.pick
        share = lambda: pick(["0.01", "0.05", "0.1", "0.25", "0.333"])  # noqa: E731
        bands = [
            {"below": "0.999", "credit_fraction": "0.1"},
            {"below": "0.99", "credit_fraction": "0.25"},
            {"below": "0.95", "credit_fraction": "1"},
        ]
        return pick(
            [
                {"bands": bands},
                {"bands": bands},
                {"bands": bands},
                {"shape": "linear", "slope": pick(["1", "2", "7.5"]), "cap": pick(["1", "0.3"])},
                {
                    "shape": "steps",
                    "step": pick(["0.001", "0.01"]),
                    "credit_fraction": share(),
                    "counted": pick(["started", "completed"]),
                    "cap": pick(["1", "0.3"]),
                },
                {
                    "shape": "duration_table",
                    "rows": [
                        {"from_minutes": pick([0, 1]), "credit_hours": pick(["0", "1"])},
                        {"from_minutes": 30, "credit_hours": "12"},
                        {"from_minutes": 300, "credit_hours": "100.5"},
                    ],
                    "per": pick(["outage", "period"]),
                    "cap_hours": pick([None, "150"]),
                },
                {"shape": "multiple_of_price", "multiple": pick(["1", "10"]), "least": pick(["0", "12.34"])},
                {"shape": "per_breach", "credit_fraction": share(), "at_risk": pick(["1", "0.3"])},
                {"shape": "hour_waiver", "minutes_in_clock_hour": pick([0, 6, 59])},
                {
                    "shape": "onset_plus_hourly",
                    "onset": share(),
                    "hourly": pick(["0.01", "0.03"]),
                    "hour_minutes": pick([60, 15, 480]),
                    "free_minutes": pick([0, 0, 15, 60]),
                    "counted": pick(["started", "completed"]),
                    "per": pick(["outage", "outage", "period"]),
                    "cap": pick(["1", "0.4"]),
                },
                {"shape": "term_extension", "rows": [{"below": "0.999", "days": 3}, {"below": "0.95", "days": 15}]},
            ]
        )

    def level(self, kind: str) -> dict[str, Any]:
        level: dict[str, Any] = {
            "level": kind,
            "target": "0.999",
            "credit": self.shape(),
            "excluded_leave": self.pick(["down_only", "down_only", "both"]),
        }
        if level["credit"].get("bands") and self.maybe(0.15):
            level["aggregation"] = "fleet_mean"
        if self.maybe(0.3):
            level["measurement"] = {
                "minimum_outage_minutes": self.pick([None, 2, 10]),
                "merge_gap_minutes": self.pick([None, 0, 30]),
                "minute_rule": self.pick([None, "floor_piece", "exact_seconds"]),
            }
        if self.maybe(0.3):
            level["degraded"] = {
                "bandwidth": {
                    "baseline": self.pick([None, "400"]),
                    "floor": "0.9",
                    "minimum_minutes": self.pick([0, 30]),
                    "weight": self.pick(["none", "shortfall", "full"]),
                },
                "clock": {"floor": "0.8", "minimum_minutes": 10},
            }
        return level

    def levels_and_units(self) -> tuple[dict[str, Any], list[UnitService]]:
        zone = ZoneInfo(self.zone)
        begin = datetime(self.first.year, self.first.month, 1, tzinfo=zone)
        tree = self.pick(["nodes", "nodes", "cluster", "rack"])
        earlier = self.pick([0, 0, 0, 40, 330] if tree == "nodes" else [0, 0, 0, 40])
        begin -= timedelta(days=earlier)
        count = self.rng.randint(1, 4) if tree == "nodes" else self.rng.randint(2, 4)
        units: list[UnitService] = []
        levels: dict[str, Any] = {}
        parent = None
        if tree != "nodes":
            parent = "top"
            top = self.level(tree)
            if tree == "cluster":
                top["nodes_needed_share"] = self.pick(["0.5", "0.75", "1"])
            else:
                top["k"], top["n"] = self.rng.randint(1, count), count
            if self.maybe(0.3):
                top["spares_count"] = self.maybe(0.5)
                units.append(self.unit("spare", "node", "0", begin, parent, spare=True))
                if tree == "rack" and top["spares_count"]:
                    top["n"] += 1
            if self.maybe(0.15):
                top["down_when"] = self.pick(["any_down", "all_down", "capacity_share"])
            if self.maybe(0.3):
                top["requires"] = ["fabric"]
                units.append(self.unit("net", "fabric", "0", begin, parent))
                if self.maybe(0.5):
                    levels["network"] = {**self.level("fabric"), "base_share": "0.15"}
            units.append(self.unit("top", tree, self.pick(["1000.01", "96000"]), begin, None))
            levels["whole"] = top
        if tree == "nodes" or self.maybe(0.8):
            levels["nodes"] = self.level("node")
        if self.maybe(0.2):
            for level in levels.values():
                level["service"] = "compute"
            levels["others"] = {**self.level("storage"), "service": "disks"}
            units += [
                self.unit(f"s{i}", "storage", self.pick(["300", "4000.05"]), begin, None, service="disks")
                for i in (0, 1)
            ]
        items = list(levels.items())
        self.rng.shuffle(items)
        self.last_start = begin.date() + timedelta(days=earlier)
        for i in range(count):
            start = begin
            if self.maybe(0.3):
                start = begin + timedelta(days=earlier + self.rng.randint(0, 25), minutes=self.pick([0, 0, 61, 737]))
            if i == 0:
                start = begin + timedelta(days=earlier + 9) * (self.maybe(0.2))
            name, fee = f"n{i}", self.pick(["1000", "1234.57", "50000", "0.05"])
            if self.maybe(0.15):
                change = begin + timedelta(days=earlier + self.rng.randint(26, 50))
                units.append(self.unit(name, "node", fee, start, parent, change))
                units.append(self.unit(name, "node", "777.77", change, parent))
            else:
                end = None
                if self.maybe(0.15):
                    end = begin + timedelta(days=earlier + self.rng.randint(27, 60), hours=self.pick([0, 5]))
                units.append(self.unit(name, "node", fee, start, parent, end))
        return dict(items), units

    def unit(
        self,
        name: str,
        level: str,
        fee: str,
        start: datetime,
        parent: str | None,
        end: datetime | None = None,
        **more: Any,
    ) -> UnitService:
        return UnitService(
            unit_id=name,
            level=level,
            service=more.pop("service", "compute"),
            monthly_fee=fee,
            prepaid_fraction="0.2" if name in ("n0", "top") else "0",
            in_service_from=start.astimezone(UTC),
            in_service_to=end.astimezone(UTC) if end else None,
            parent_id=parent,
            **more,
        )

    def exclusions(self) -> dict[str, Any]:
        pick = self.pick
        heads = [h for h in HEADS if self.maybe(0.9)]
        return {
            "heads": heads,
            "concurrent": pick(["excluded_only_if_sole", "excluded_only_if_sole", "excluded_if_any"]),
            "recovery_grace_hours": pick(["0", "0", "0", "0.5"]),
            "year_cap_hours": pick([None, None, None, "10"]),
            "scheduled": {
                "notice_days": pick([0, 3, 7]),
                "cap_unit_month_hours": pick([None, "0.5", "2", "8"]),
                "cap_cluster_quarter_hours": pick([None, None, None, "1", "10"]),
                "partial_notice": pick(["void", "late_part_counts"]),
            },
            "emergency": {
                "min_notice_hours": pick(["0", "2"]),
                "cap_quarter_hours": pick([None, "1", "4"]),
                "stale_patch_days": pick([None, 30]),
            },
            "force_majeure": {"notice_days": pick([1, 3]), "fee_during": pick(["abates", "continues"])},
        }

    def credits(self) -> dict[str, Any]:
        pick = self.pick
        process: dict[str, Any] = {"mode": "automatic"}
        if self.maybe(0.4):
            process = {
                "mode": "claimed",
                "window_from": pick(["period_end", "incident_end", "incident_start", "statement", "next_period_end"]),
                "late": pick(["forfeit", "forfeit", "reduced", "none"]),
                "late_share": pick(["0.5", "0.333"]),
                **pick([{"window_days": 10}, {"window_business_days": 7}, {"window_months": 1}]),
            }
        return {
            "base": pick(["unit_fee_accrued"] * 3 + ["service_fee_accrued", "order_fee_accrued"]),
            "includes_prepaid": self.maybe(0.7),
            "caps": {
                "unit": pick(["1", "1", "0.5", "0.333"]),
                "month": pick([None, "0.3", "0.1", "0.0333"]),
                "month_of": pick(["this_period", "this_period", "previous_period"]),
                "year": pick([None, None, "0.02", "0.003"]),
                "term": pick([None, None, "0.004"]),
                "carry_forward": self.maybe(0.4),
            },
            "between_levels": pick(["highest_level", "cumulative", "parent_absorbs_children", "choose_one"]),
            "within_level": pick(["sum_minutes", "sum_minutes", "sum_minutes", "worst_outage"]),
            "minimum_payable": pick(["0", "0", "5", "100"]),
            "rounding": pick(["half_up", "half_even", "down"]),
            "process": process,
        }

    def cancellation(self, levels: dict[str, Any]) -> dict[str, Any]:
        name = self.pick(list(levels))
        limbs: list[dict[str, Any]] = [
            {"form": "single_outage", "service_level": name, "hours": self.pick(["1", "24", "2.5"])},
            {
                "form": "cumulative_hours",
                "service_level": name,
                "hours": self.pick(["5", "40"]),
                "window_days": self.pick([1, 7, 30]),
            },
        ]
        if levels[name]["level"] != "node":
            k = self.rng.randint(1, 3)
            limbs.append(
                {"form": "bad_months", "service_level": name, "below": "0.999", "k": k, "m": self.rng.randint(k, 4)}
            )
        return {"chronic_failure": {"limbs": limbs}}

    # records

    def moment(self, tick: int) -> datetime:
        return datetime.fromtimestamp(tick * TICK, UTC)

    def length(self) -> int:
        rng = self.rng
        return self.pick(
            [
                rng.randint(1, 12),
                3 * self.pick([2, 10, *[max(1, self.terms["minimum_outage_minutes"])] * 2]) + self.pick([0, 0, 1]),
                rng.randint(1, 300),
                3 * rng.randint(1, 300),
                180 * rng.randint(1, 40),
                rng.randint(1, 180 * 30),
            ]
        )

    def place(self) -> int:
        if self.maybe(0.2):
            return self.pick(self.edges) - self.rng.randint(0, 900)
        return self.rng.randint(self.start - 500, self.end - 1)

    def incidents(self, units: list[UnitService], levels: dict[str, Any]) -> list[Incident]:
        names = {u.unit_id: u.level for u in units}
        found: list[Incident] = []
        common = self.place()
        two_monitors = self.maybe(0.25)
        for name, level in names.items():
            place = self.place()
            for i in range(self.rng.randint(0, 6)):
                place = self.pick([self.place(), place, common + self.rng.randint(0, 60)])
                length = self.length()
                more: dict[str, Any] = {}
                is_last = place > self.end - 4320 * 3  # what has no end lasts as long as the statement, in small ticks
                state = self.pick(["down"] * 6 + ["planned", "unknown", "degraded", "degraded"])
                if state == "degraded":
                    length = self.pick([30, 90, 89, length])
                    more["metric"] = self.pick(["bandwidth", "clock"])
                    shares = ["0.95", "0.9", "0.85", "0.5", "0"]
                    more["measured"] = self.pick(shares)
                    baseline = next(
                        (d["bandwidth"]["baseline"] for v in levels.values() if (d := v.get("degraded"))), 0
                    )
                    if more["metric"] == "bandwidth" and baseline:
                        more["measured"] = self.pick(["380", "360", "300", "100", "420"])
                if state in ("down", "planned"):
                    more["cause_party"] = self.pick(["unknown", "unknown", "provider", "customer", "third_party"])
                    more["cause"] = self.pick([None, None, "disk", "own_operating_error"])
                    if self.maybe(0.5):
                        more["detected_at"] = self.moment(place + self.rng.randint(0, 30))
                    if self.maybe(0.5):
                        more["notice_at"] = self.moment(place + self.rng.randint(0, 200))
                    if self.maybe(0.5):
                        more["ticket_at"] = self.moment(place + self.rng.randint(0, 200))
                    if self.maybe(0.4):
                        more["readmitted_at"] = self.moment(place + length + self.rng.randint(0, 60))
                found.append(
                    Incident(
                        id=f"{name}-{i}",
                        level=level,
                        unit_id=name,
                        state=state,
                        started_at=self.moment(place),
                        ended_at=None if is_last and self.maybe(0.3) else self.moment(place + length),
                        **more,
                    )
                )
                if two_monitors and self.maybe(0.9):
                    known = found[-1]
                    found[-1] = known.revise({"monitor_id": self.pick(["m-1", "m-2"])})
                    if self.maybe(0.5):
                        other = "m-1" if found[-1].monitor_id == "m-2" else "m-2"
                        shift = timedelta(seconds=TICK * self.rng.randint(0, min(10, length - 1)))
                        again = {"id": f"{known.id}-too", "monitor_id": other, "started_at": known.started_at + shift}
                        found.append(known.revise(again))
                place += (
                    length + 3 * self.pick([0, 30, *[self.terms["merge_gap_minutes"]] * 2]) + self.pick([-1, 0, 0, 1])
                )
        return found

    def windows(
        self, units: list[UnitService], incidents: list[Incident], exclusions: dict[str, Any]
    ) -> tuple[list[Window], list[Notice]]:
        rng = self.rng
        windows, notices = [], []
        notice = {
            "scheduled": 4320 * exclusions["scheduled"]["notice_days"],
            "emergency": 180 * int(exclusions["emergency"]["min_notice_hours"]),
            "force_majeure": -4320 * exclusions["force_majeure"]["notice_days"],
        }
        start = end = 0
        for i in range(rng.randint(0, 9) if incidents else 0):
            near = self.pick(incidents)
            if not start or self.maybe(0.6):  # else another head covers the same time
                start = int(near.started_at.timestamp()) // TICK + rng.randint(-60, 60)
                near_end = near.ended_at or self.moment(self.end)
                end = max(start, int(near_end.timestamp()) // TICK + rng.randint(-60, 60))
            kind = self.pick(("scheduled", "emergency", *HEADS))
            parents = {u.unit_id: u.parent_id for u in units}
            named = self.pick([(), (), (near.unit_id,), (parents[near.unit_id] or near.unit_id,)])
            sent = start - notice.get(kind, 0) - self.pick([0, 0, 0, 1, -1, -60, 4320])
            covers: dict[str, Any] = {}
            if self.maybe(0.2):
                covers = {
                    "covers_from": self.moment(start + rng.randint(-30, 0)),
                    "covers_to": self.moment(end + rng.randint(-90, 30)),
                }
            if self.maybe(0.9):
                notices.append(
                    Notice(id=f"m{i}", kind="maintenance", sent_at=self.moment(sent), unit_ids=named, **covers)
                )
            windows.append(
                Window(
                    id=f"w{i}",
                    kind=kind,
                    starts_at=self.moment(start),
                    ends_at=self.moment(end),
                    unit_ids=named,
                    notice_id=f"m{i}",
                    event=self.pick(["war", "terrorism", "cyber_attack"]) if kind == "force_majeure" else None,
                    fix_published_at=self.moment(start - 180 * 24 * self.pick([1, 29, 30, 31])),
                )
            )
        return windows, notices

    def claims(self, periods: list[Any], deal: Deal, units: list[UnitService]) -> list[Notice]:
        found: list[Notice] = []
        if deal.credits.process.mode != "claimed" and deal.credits.between_levels != "choose_one":
            return found
        for i, period in enumerate(periods):
            end = int(period.end(self.zone).timestamp()) // TICK
            if self.maybe(0.7):
                sent = self.moment(end + 180 * self.rng.randint(1, 24 * 12))
                found.append(Notice(id=f"s{i}", kind="credit_statement", sent_at=sent, **self._covers(period)))
            for j in range(self.pick([0, 1, 1, 2])):
                sent = self.moment(end + 180 * self.rng.randint(1, 24 * 45))
                named = self.pick([(), (), (self.pick(units).unit_id,)])
                level = self.pick([None, None, *deal.service_levels])
                found.append(
                    Notice(
                        id=f"c{i}{j}",
                        kind="claim",
                        sent_at=sent,
                        unit_ids=named,
                        service_level=level,
                        **self._covers(period),
                    )
                )
        return found

    def _covers(self, period: Period) -> dict[str, Any]:
        if self.maybe(0.2):
            return {}
        return {"covers_from": period.start(self.zone), "covers_to": period.end(self.zone)}
