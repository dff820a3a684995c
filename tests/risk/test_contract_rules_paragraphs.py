"""Every paragraph that the rules say they compute is emitted by them, with the path of a term that exists."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

from risk.contract_rules import (
    adjusted_date,
    delay_damages,
    effective_term,
    long_stop,
    monthly_price,
    paragraphs,
    prepayment,
    take_or_pay,
    termination_refund,
)
from risk.contract_rules.statement import Records, Statement, statement
from risk.core.computed import Step
from schemas.deal import Deal, value_at
from schemas.incidents import DelayEvent, Incident, Notice, Ticket, UnitService, Window
from schemas.money import Money
from schemas.periods import Month

ROWS = {"bands": [{"below": "0.995", "credit_fraction": "0.1"}, {"below": "0.9", "credit_fraction": "0.5"}]}
TERMS: dict[str, Any] = {
    "schema_version": 1,
    "measurement": {
        "merge_gap_minutes": 30,
        "backdate_limit_hours": "1",
        "fault_list": {"79": "down"},
        "monitors": {"p": "provider", "k": "customer"},
    },
    "service_levels": {
        "nodes": {"level": "node", "target": "0.995", "credit": ROWS, "measurement": {"minimum_outage_minutes": 2}},
        "racks": {
            "level": "rack",
            "target": "0.995",
            "credit": ROWS,
            "k": 1,
            "n": 2,
            "excluded_leave": "both",
            "requires": ["fabric"],
        },
        "cluster": {
            "level": "cluster",
            "target": "0.995",
            "credit": ROWS,
            "nodes_needed_share": "1",
            "requires": ["fabric"],
        },
        "halls": {"level": "hall", "target": "0.995", "credit": ROWS, "down_when": "all_down"},
        "fabrics": {
            "level": "fabric",
            "target": "0.995",
            "credit": ROWS,
            "down_tests": ["power_lost"],
            "degraded": {"busbw": {}, "links": {"weight": "full"}},
        },
        "all-nodes": {
            "level": "node",
            "target": "0.995",
            "credit": ROWS,
            "measured_from": "all_ready",
            "measurement": {"minimum_outage_minutes": 2},
        },
        "network": {"level": "fabric", "target": "0.995", "credit": ROWS, "base_share": "0.15"},
        **{
            name: {"level": "storage", "target": "0.99", "credit": credit}
            for name, credit in {
                "linear": {"shape": "linear", "slope": 1},
                "steps": {"shape": "steps", "step": "0.01", "credit_fraction": "0.02"},
                "durations": {"shape": "duration_table", "rows": [{"from_minutes": 0, "credit_hours": 12}]},
                "multiple": {"shape": "multiple_of_price", "multiple": 10},
                "breaches": {"shape": "per_breach", "credit_fraction": "0.1"},
                "hours": {"shape": "hour_waiver", "minutes_in_clock_hour": 6},
                "onset": {"shape": "onset_plus_hourly", "onset": "0.03", "hourly": "0.03"},
                "days": {"shape": "term_extension", "rows": [{"below": "0.98", "days": 1}]},
                "silent": {"shape": "unstated", "reason": "the page is missing"},
            }.items()
        },
    },
    "exclusions": {
        "scheduled": {
            "notice_days": 7,
            "cap_unit_month_hours": "1",
            "cap_cluster_quarter_hours": "1",
            "max_concurrent_fraction": "0.5",
        },
        "emergency": {"min_notice_hours": "2", "cap_quarter_hours": "1", "stale_patch_days": 30},
        "year_cap_hours": "1000",
        "report_days": 30,
        "force_majeure": {"max_consecutive_days": 1},
    },
    "operations": {
        "replacement": {"target_hours": {"node": "1"}},
        "support": {"severities": {"urgent": {"response_minutes": 15}}},
        "reports": {},
    },
    "credits": {
        "caps": {"month": "0.01", "year": "0.001", "term": "0.0001"},
        "minimum_payable": "1",
        "process": {"mode": "claimed", "window_from": "period_end", "window_months": 1, "late": "forfeit"},
        "form": {"expiry_months": 12},
    },
    "commercial": {
        "currency": "USD",
        "charges": {"compute": {"price": {"per": "lump_month", "amount": "1000"}, "take_or_pay": "0.8"}},
        "term": {"months": 36},
        "prepayment": {"fraction": "0.2", "credited_from_month": 25},
    },
    "services": {"compute": {"tranches": ["a"]}},
    "delivery": {
        "tranches": {
            "a": {
                "ready_for_service_date": "2026-06-01",
                "delay_damages": {"grace": {"days": 5}, "steps": [{"fee_fraction": "1"}], "cap": {"days": 60}},
                "long_stop": {"after": {"days": 120}},
            }
        }
    },
    "cancellation": {
        "chronic_failure": {
            "limbs": [
                {"form": "bad_months", "service_level": "cluster", "below": "0.98", "k": 1, "m": 1},
                {"form": "single_outage", "service_level": "nodes", "hours": "24"},
                {"form": "cumulative_hours", "service_level": "nodes", "hours": "24", "window_days": 30},
                {"form": "same_cause", "service_level": "nodes", "count": 1, "window_days": 30},
                {"form": "cap_reached", "cap": "year"},
                {"form": "replacement_missed", "count": 1, "window_days": 30},
            ],
            "cure_days": 5,
        }
    },
    "amendments": [{"effective_from": "2026-11-15", "set": {"credits.process.mode": "automatic"}}],
}
NOVEMBER = Month(2026, 11)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def unit(
    name: str, level: str, parent: str | None = None, since: str | None = None, *, fee: str = "100"
) -> UnitService:
    return UnitService(
        unit_id=name,
        level=level,
        service="compute",
        monthly_fee=Decimal(fee),
        prepaid_fraction=Decimal("0.2"),
        parent_id=parent,
        in_service_from=at(since or "2026-11-01T00:00"),
    )


def down(name: str, start: str, hours: float, level: str = "node", **more: Any) -> Incident:
    end = at(start) + timedelta(hours=hours) if hours else None
    more = {"id": f"{name} {start}", **more}
    return Incident(level=level, unit_id=name, started_at=at(start), ended_at=end, **more)


def window(kind: str, start: str, end: str, names: tuple[str, ...], **more: Any) -> Window:
    return Window(id=f"{kind} {start}", kind=kind, starts_at=at(start), ends_at=at(end), unit_ids=names, **more)


def tour() -> tuple[Deal, Statement]:
    """Return a statement in which every rule has something to say."""
    deal = Deal.model_validate(TERMS)
    units = [
        unit("c", "cluster"),
        unit("r", "rack"),
        unit("r2", "rack", "c"),
        unit("n1", "node", "r2"),
        unit("n2", "node", "r2", "2026-11-05T00:00"),
        unit("n3", "node"),
        unit("s", "storage"),
        unit("f", "fabric", "c", fee="0"),
        unit("h", "hall"),
        unit("f2", "fabric", "h"),
        unit("n4", "node", "h"),
    ]
    incidents = [
        down("n1", "2026-11-02T00:00", 1, readmitted_at=at("2026-11-02T02:00")),
        down("n1", "2026-11-02T02:10", 1, cause="pump"),
        down("n1", "2026-11-03T00:00", 0.01),
        down("n1", "2026-11-06T00:00", 3, state="planned"),
        down("n1", "2026-11-07T00:00", 3, state="planned"),
        down("n1", "2026-11-08T00:00", 3, cause_party="provider"),
        down("n1", "2026-11-09T00:00", 3),
        down("n1", "2026-11-10T00:00", 60, cause_party="third_party"),
        down("n1", "2026-11-14T00:00", 1, cause="price"),
        down("n3", "2026-11-16T00:00", 3.6),
        down("n2", "2026-11-18T00:00", 30, state="unknown"),
        down("n2", "2026-11-20T00:00", 30),
        down("c", "2026-11-20T00:00", 2, "cluster"),
        down("n2", "2026-11-30T20:00", 0),
        down("n1", "2026-12-06T00:00", 24 * 25),
        down("r", "2026-11-01T00:00", 24 * 30, "rack"),
        down("f", "2026-11-02T00:00", 2, "fabric", state="degraded", metric="busbw", measured="0.5"),
        down("f", "2026-11-02T01:00", 2, "fabric", state="degraded", metric="links", measured="0.5"),
        down("f", "2026-11-05T00:00", 2, "fabric", monitor_id="p", notice_at=at("2026-11-05T01:30"), fault_code="79"),
        down("f", "2026-11-05T01:00", 2, "fabric", monitor_id="k", id="f by k"),
        down("h", "2026-11-05T00:00", 2, "hall", cause="power"),
        down("s", "2026-11-05T00:00", 14.4, "storage"),  # exactly 98%, one point short
    ]
    windows = [
        window("scheduled", "2026-11-06T00:00", "2026-11-06T02:00", ("n1",), notice_id="in-time"),
        window("emergency", "2026-11-06T00:00", "2026-11-06T03:00", ("n1",), notice_id="in-time"),
        window("scheduled", "2026-11-07T00:00", "2026-11-07T02:00", ("n1",), notice_id="late"),
        window("customer_act", "2026-11-08T00:00", "2026-11-08T02:00", ("n1",)),
        window("customer_hold", "2026-11-09T00:00", "2026-11-09T02:00", ("n1",)),
        window("force_majeure", "2026-11-10T00:00", "2026-11-15T00:00", ("n1",), event="war", notice_id="in-time"),
        window("suspension", "2026-11-01T00:00", "2026-12-01T00:00", ("r",)),
    ]
    notices = [
        Notice(id="in-time", kind="work", sent_at=at("2026-10-20T00:00"), covers_to=at("2026-11-06T01:30")),
        Notice(id="late", kind="work", sent_at=at("2026-11-06T00:00")),
    ]
    notices.append(Notice(id="claim", kind="claim", sent_at=at("2026-12-05T00:00"), unit_ids=("n1",)))
    notices.append(Notice(id="stated", kind="credit_statement", sent_at=at("2026-12-10T00:00")))
    notices.append(Notice(id="report", kind="root_cause_report", sent_at=at("2026-12-01T00:00")))
    tickets = [Ticket(id="t", severity="urgent", opened_at=at("2026-11-02T00:00"))]
    records = Records(incidents, windows, notices, units, tickets)
    return deal, statement(deal, records, [NOVEMBER, NOVEMBER.plus(1)], as_of=at("2027-01-15T00:00"))


def emitted() -> tuple[Deal, list[Step]]:
    deal, found = tour()
    steps = [step for line in found.lines for step in line.steps]
    steps += [step for settlement in found.settlements for step in settlement.steps]
    steps += [step for right in found.rights for step in right.steps]
    steps += found.checks
    assert deal.delivery is not None
    assert deal.commercial is not None
    assert deal.commercial.prepayment is not None
    tranche = deal.delivery.tranches["a"]
    assert tranche.delay_damages is not None
    assert tranche.long_stop is not None
    path = "delivery.tranches.a"
    planned, ready = date(2026, 6, 1), date(2026, 11, 1)
    money = Money(Decimal(1000), "USD")
    late = DelayEvent(id="e", head="customer_delay", from_day=planned, to_day=ready)
    relief = deal.exclusions.force_majeure
    steps += adjusted_date.exact("a", planned, [late], deal.delivery, relief, "UTC", ()).steps
    steps += delay_damages.exact(planned, ready, money, tranche.delay_damages, f"{path}.delay_damages").steps
    steps += long_stop.exact(planned, ready, tranche.long_stop, "UTC", f"{path}.long_stop", is_first_tranche=True).steps
    steps += prepayment.exact(money, 36, deal.commercial.prepayment).steps
    steps += effective_term.exact(deal).steps
    account = termination_refund.Account(money, 28, money, money, money)
    steps += termination_refund.exact(account, ready, deal).steps
    charge, path = deal.commercial.charges["compute"], "commercial.charges.compute"
    price = monthly_price.exact(charge.price, None, 720, f"{path}.price")
    steps += price.steps
    steps += take_or_pay.exact(price.value, Fraction(1, 2), charge, "USD", path).steps
    return deal, steps


def test_the_rules_emit_every_paragraph_they_claim_and_no_other():
    _, steps = emitted()
    assert {step.paragraph for step in steps} == paragraphs()


def test_every_step_says_its_rule_in_words_and_names_a_term_that_is_there():
    deal, steps = emitted()
    paths = set()
    for step in steps:
        assert step.rule.strip() == step.rule != ""
        if step.term is not None:
            paths.add(step.term)
            value_at(deal, step.term)
    assert {"service_levels.nodes.credit.bands[0]", "credits.caps.month", "measurement.zone"} <= paths


def test_the_sums_of_a_statement_agree_with_its_lines():
    _, found = tour()
    assert found.total.amount == sum(line.payable.amount for line in found.lines)
    for line in found.lines:
        assert line.credit.amount == line.payable.amount + sum(m.amount for m in line.lost.values())
        in_full = line.counted_minutes - line.weighted_minutes
        parts = line.excluded_minutes + line.disregarded_minutes + in_full + line.degraded_minutes
        assert line.down_minutes == parts
