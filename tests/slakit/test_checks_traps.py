"""Each trap: terms that raise it, terms that do not, for whom, and what is at stake."""

from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest

from schemas.deal import Deal
from schemas.money import Money
from slakit.checks.finding import Finding
from slakit.checks.lint import lint
from slakit.load import load_deal
from slakit.paths import templates_dir

BANDS = [
    {"below": "0.999", "credit_fraction": "0.10"},
    {"below": "0.99", "credit_fraction": "0.25"},
]


def rack_scale_deal() -> dict[str, Any]:
    """Return ten racks of 18 trays of four GPUs at USD 3 an hour, measured by the node, domain and cluster."""
    return {
        "schema_version": 1,
        "clusters": {"c": {"hardware": "gb300_nvl72", "units": {"gpu": 720, "node": 180, "rack": 10}}},
        "services": {"compute": {"tranches": ["t"]}},
        "delivery": {"tranches": {"t": {"cluster": "c", "ready_for_service_date": "2027-01-01"}}},
        "measurement": {"zone": "UTC"},
        "service_levels": {
            "nodes": {"level": "node", "target": "0.999", "credit": {"bands": BANDS}},
            "domains": {"level": "scale_up_domain", "k": 16, "n": 18, "target": "0.999", "credit": {"bands": BANDS}},
        },
        "exclusions": {
            "scheduled": {"cap_unit_month_hours": 8},
            "emergency": {"min_notice_hours": 2, "cap_quarter_hours": 4},
        },
        "credits": {"caps": {"month": "0.30", "year": "0.10"}},
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "3"}}},
            "term": {"months": 36},
            "expert_body": "the body that the parties name",
        },
    }


def financed_deal() -> dict[str, Any]:
    """Return revenue 10, costs 2 and debt service 7 million a month under a covenant of 1.05 (case W27)."""
    return {
        "schema_version": 1,
        "services": {"compute": {"tranches": ["t"]}},
        "delivery": {"tranches": {"t": {"ready_for_service_date": "2027-01-01"}}},
        "measurement": {"zone": "UTC"},
        "service_levels": {"cluster": {"level": "site", "target": "0.999", "credit": {"bands": BANDS}}},
        "exclusions": {
            "scheduled": {"cap_unit_month_hours": 8},
            "emergency": {"min_notice_hours": 2, "cap_quarter_hours": 4},
        },
        "credits": {"caps": {"month": "0.30", "year": "0.10"}},
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "lump_month", "amount": "10000000"}}},
            "term": {"months": 24},
            "expert_body": "the body that the parties name",
        },
        "finance": {
            "close": "2027-01-01",
            "currency": "USD",
            "loan": {"amount": "84000000", "annual_rate": "0", "first_payment_month": 1, "payments": 12},
            "covenants": {"minimum_dscr": "1.05"},
            "operating_costs": {"fixed": {"amount": "2000000", "starts": "2027-01-01"}},
        },
    }


def changed(data: dict[str, Any], changes: dict[str, Any]) -> Deal:
    """Return the deal with values set by path; None deletes."""
    data = deepcopy(data)
    for path, value in changes.items():
        *trail, last = path.split(".")
        holder = data
        for step in trail:
            holder = holder.setdefault(step, {})
        if value is None:
            holder.pop(last, None)
        else:
            holder[last] = value
    return Deal.model_validate(data)


def findings(deal: Deal, trap: int, reader: str = "lawyer") -> list[Finding]:
    """Return the findings of one trap."""
    return [finding for finding in lint(deal, reader) if finding.id.startswith(f"trap-{trap:02d}-")]  # type: ignore[arg-type]


def severity(deal: Deal, trap: int, reader: str) -> str | None:
    """Return how one reader sees the worst finding of a trap, None where it is not raised."""
    found = findings(deal, trap, reader)
    return found[0].severity if found else None


@pytest.mark.parametrize("trap", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 13, 14, 18, 19, 21])
@pytest.mark.parametrize("base", [rack_scale_deal, financed_deal])
def test_balanced_terms_raise_no_trap_but_that_of_debt(base, trap: int):
    deal = changed(base(), {})
    expected = 1 if (base is financed_deal and trap == 14) else 0
    assert len(findings(deal, trap)) == expected


@pytest.mark.parametrize("name", ["terms-only", "small-cluster", "site-only"])
@pytest.mark.parametrize("reader", ["lawyer", "lender", "insurer", "provider", "customer"])
def test_the_starters_raise_no_error_and_no_warning_for_anyone(name: str, reader: str):
    deal = load_deal(templates_dir() / "starters" / f"{name}.yaml").deal
    assert [finding for finding in lint(deal, reader) if finding.severity != "note"] == []  # type: ignore[arg-type]


# --- 1: the unit measured -------------------------------------------------------------------------------------------


def test_01_a_tray_that_a_fleet_mean_hides_costs_its_node_credit():
    # W22: 10 racks x 18 trays x 4 GPUs at USD 3; one tray down 3,000 of 43,200 minutes: 25% of 8,640 by the node,
    # nothing by the mean of the fleet (99.96142%).
    deal = changed(
        rack_scale_deal(), {"service_levels.nodes.aggregation": "fleet_mean", "service_levels.nodes.target": "0.999"}
    )
    (finding,) = findings(deal, 1)
    assert finding.path == "service_levels.nodes.aggregation"
    assert finding.money == Money(Decimal("2160.00"), "USD")
    assert "pays USD\u00a00.00 here" in finding.message
    assert "USD\u00a02,160.00" in finding.message
    assert (severity(deal, 1, "customer"), severity(deal, 1, "provider")) == ("error", "note")


def test_01_a_rule_of_all_18_trays_pays_the_whole_domain():
    # W22: rack rule 18 of 18: 25% of 155,520 = 38,880; 16 of 18 pays nothing.
    levels = {"domains": {"level": "scale_up_domain", "target": "0.999", "credit": {"bands": BANDS}}}
    for k, pays, money in ((18, "USD\u00a038,880.00", None), (16, "USD\u00a00.00", Money(Decimal("2160.00"), "USD"))):
        deal = changed(rack_scale_deal(), {"service_levels": {"domains": {**levels["domains"], "k": k, "n": 18}}})
        (finding,) = findings(deal, 1)
        assert f"pays {pays} here" in finding.message
        assert finding.money == money


def test_01_a_rule_of_the_whole_cluster_pays_every_fee():
    # W22: whole-cluster rule: 25% of 1,555,200 = 388,800
    cluster = {"level": "cluster", "nodes_needed_share": "1", "target": "0.999", "credit": {"bands": BANDS}}
    deal = changed(rack_scale_deal(), {"service_levels.nodes": None, "service_levels.cluster": cluster})
    (finding,) = findings(deal, 1)
    assert "pays USD\u00a0388,800.00 here" in finding.message


def test_01_rack_scale_hardware_needs_a_number_of_nodes_that_work_together():
    deal = changed(rack_scale_deal(), {"service_levels.domains": None})
    (finding,) = findings(deal, 1)
    assert finding.paragraph == "domain-availability.k-of-n"
    assert "18 nodes form one scale-up domain" in finding.message
    servers = changed(rack_scale_deal(), {"service_levels.domains": None, "clusters.c.hardware": "h100_hgx"})
    assert findings(servers, 1) == []


def test_01_halls_that_are_not_sold_by_the_node_need_no_node_level():
    assert findings(changed(financed_deal(), {}), 1) == []


def test_01_without_a_price_the_finding_names_no_money():
    deal = changed(rack_scale_deal(), {"service_levels.nodes": None, "commercial": None})
    (finding,) = findings(deal, 1)
    assert finding.money is None
    assert "no line of the table measures it" in finding.message


# --- 2: all down at once --------------------------------------------------------------------------------------------


def test_02_one_node_of_many_that_keeps_a_level_up():
    deal = changed(rack_scale_deal(), {"service_levels.domains.k": 1})
    (finding,) = findings(deal, 2)
    assert finding.path == "service_levels.domains.k"
    assert severity(deal, 2, "customer") == "warning"
    assert findings(changed(rack_scale_deal(), {"service_levels.domains.k": 2}), 2) == []


@pytest.mark.parametrize(("share", "raised"), [("0", 1), ("0.005", 1), ("0.006", 0), ("0.95", 0)])
def test_02_a_cluster_that_is_up_while_one_node_is(share: str, raised: int):
    # 180 nodes: a share of 0.005 is 0.9, so that one node keeps the cluster up; 0.006 is 1.08, so that it takes two
    cluster = {"level": "cluster", "nodes_needed_share": share, "target": "0.999", "credit": {"bands": BANDS}}
    assert len(findings(changed(rack_scale_deal(), {"service_levels.cluster": cluster}), 2)) == raised


# --- 3: slow is up --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tests", "raised"), [(["unreachable"], 1), ([], 1), (["unreachable", "gpu_missing"], 0), (["listed_fault"], 0)]
)
def test_03_a_node_that_is_down_only_when_nothing_answers(tests: list[str], raised: int):
    deal = changed(rack_scale_deal(), {"service_levels.nodes.down_tests": tests})
    assert len(findings(deal, 3)) == raised
    if raised:
        assert severity(deal, 3, "customer") == "error"


def test_03_a_hall_is_not_asked_for_speed():
    assert findings(changed(financed_deal(), {"service_levels.cluster.down_tests": ["unreachable"]}), 3) == []


# --- 4: uncovered units ---------------------------------------------------------------------------------------------


def test_04_a_service_without_a_level_costs_its_fee():
    deal = changed(rack_scale_deal(), {"service_levels": {}})
    (finding,) = findings(deal, 4)
    # 720 GPUs x USD 3 x 730 hours
    assert finding.money == Money(Decimal("1576800.00"), "USD")
    assert "720 GPUs of the service 'compute'" in finding.message
    assert severity(deal, 4, "lender") == "error"


def test_04_a_level_that_names_no_service_covers_none_of_two():
    two = {
        "services": {"compute": {"tranches": ["t"]}, "storage": {"tranches": ["u"]}},
        "delivery.tranches.u": {"ready_for_service_date": "2027-01-01"},
    }
    deal = changed(rack_scale_deal(), two)
    assert {finding.path for finding in findings(deal, 4)} == {
        *("services.compute", "services.storage", "service_levels.nodes", "service_levels.domains")
    }
    named = {**two, "service_levels.nodes.service": "compute", "service_levels.domains.service": "storage"}
    assert findings(changed(rack_scale_deal(), named), 4) == []


# --- 5 to 7: clock, monitor, claim ----------------------------------------------------------------------------------


@pytest.mark.parametrize("starts", ["customer_notice", "ticket_confirmed"])
def test_05_a_clock_that_waits_for_a_notice_or_a_ticket(starts: str):
    deal = changed(rack_scale_deal(), {"measurement.starts_at": starts})
    (finding,) = findings(deal, 5)
    assert (finding.severity, finding.paragraph) == ("warning", "outage-clock.start")


@pytest.mark.parametrize("starts", ["first_failed_reading", "detection"])
def test_05_a_clock_that_starts_with_the_failure_is_no_trap(starts: str):
    assert findings(changed(rack_scale_deal(), {"measurement.starts_at": starts}), 5) == []


@pytest.mark.parametrize(
    ("path", "value", "paragraph"),
    [
        ("measurement.conflict", "provider", "monitor-evidence.conflict"),
        ("measurement.monitor_fallback", False, "monitor-evidence.silent"),
        ("measurement.monitor", "provider", "monitor-evidence.access"),
    ],
)
def test_06_a_record_that_only_one_party_keeps(path: str, value: object, paragraph: str):
    deal = changed(rack_scale_deal(), {path: value})
    (finding,) = findings(deal, 6)
    assert (finding.path, finding.paragraph) == (path, paragraph)
    assert (severity(deal, 6, "insurer"), severity(deal, 6, "lender")) == ("error", "warning")


def test_06_an_expert_whom_no_one_names_is_a_note():
    deal = changed(rack_scale_deal(), {"commercial.expert_body": None})
    assert severity(deal, 6, "customer") == "note"


@pytest.mark.parametrize(
    ("process", "seen"),
    [
        ({"window_days": 13}, "error"),
        ({"window_days": 14}, "warning"),
        ({"window_days": 29}, "warning"),
        ({"window_days": 30}, None),
        ({"window_days": 60, "window_from": "incident_end"}, "warning"),
        ({"window_days": 60, "window_from": "period_end", "late": "forfeit"}, "warning"),
        ({"window_days": 60, "window_from": "statement", "late": "forfeit"}, None),
        ({"window_days": 3, "mode": "automatic"}, None),
        ({"window_business_days": 9}, "error"),  # at least 11 days
        ({"window_business_days": 22}, None),  # at least 30
        ({"window_months": 1}, "warning"),  # 28 days in February
        ({"window_months": 2, "window_from": "next_period_end"}, None),
        ({"window_days": 60, "window_from": "incident_start"}, "warning"),
        ({"window_days": 29, "late": "reduced"}, "warning"),
    ],
)
def test_07_a_claim_window_that_loses_the_credit(process: dict[str, Any], seen: str | None):
    deal = changed(rack_scale_deal(), {"credits.process": {"mode": "claimed", **process}})
    assert severity(deal, 7, "customer") == seen
    assert severity(deal, 7, "provider") == (None if seen is None else "note")


def test_07_what_a_month_can_earn_is_at_stake():
    deal = changed(rack_scale_deal(), {"credits.process": {"mode": "claimed", "window_days": 10}})
    (finding,) = findings(deal, 7)
    # last band 25%, under the cap of 30%, of 1,576,800
    assert finding.money == Money(Decimal("394200.00"), "USD")


# --- 8 and 9: edges and windows -------------------------------------------------------------------------------------


def test_08_a_target_above_the_first_band_pays_nothing_between_them():
    deal = changed(rack_scale_deal(), {"service_levels.nodes.target": "0.9995"})
    (finding,) = findings(deal, 8)
    assert "From 99.9% up to the target of 99.95%" in finding.message
    assert {severity(deal, 8, reader) for reader in ("provider", "customer", "lender", "insurer")} == {"error"}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("measurement.zone", None),
        ("measurement.month_length", "fixed_30"),
        ("measurement.minute_rule", "floor_outage"),
        ("measurement.straddle", "start_month"),
        ("measurement.straddle", "end_month"),
        ("service_levels.nodes.measurement.month_length", "fixed_30"),
        ("service_levels.nodes.measurement.minute_rule", "floor_outage"),
    ],
)
def test_09_conventions_that_move_an_outage_across_a_threshold(path: str, value: str | None):
    deal = changed(rack_scale_deal(), {path: value})
    (finding,) = findings(deal, 9)
    assert (finding.path, finding.severity) == (path, "warning")


# --- 10: exclusions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "path", "paragraph"),
    [
        ({"exclusions.open_ended": True}, "open_ended", "excluded-downtime.closed-list"),
        ({"exclusions.burden": "customer"}, "burden", "excluded-downtime.burden"),
        (
            {"exclusions.scheduled.cap_unit_month_hours": None},
            "scheduled.cap_unit_month_hours",
            "scheduled-maintenance.cap",
        ),
        ({"exclusions.emergency": None}, "emergency", "excluded-downtime.closed-list"),
        (
            {"exclusions.emergency.cap_quarter_hours": None},
            "emergency.cap_quarter_hours",
            "emergency-maintenance.cap",
        ),
        ({"exclusions.force_majeure.events": ["war", "congestion"]}, "force_majeure.events[1]", "force-majeure.events"),
    ],
)
def test_10_exclusions_that_swallow_the_promise(changes: dict[str, Any], path: str, paragraph: str):
    deal = changed(rack_scale_deal(), changes)
    (finding,) = findings(deal, 10)
    assert (finding.path, finding.paragraph) == (f"exclusions.{path}", paragraph)
    assert (severity(deal, 10, "customer"), severity(deal, 10, "lender")) == ("error", "warning")


def test_10_every_foreseeable_event_is_named():
    events = ["cyber_attack", "congestion", "utility_power", "supplier_delay", "own_labour"]
    deal = changed(rack_scale_deal(), {"exclusions.force_majeure.events": events})
    found = findings(deal, 10)
    assert len(found) == len(events)
    against = [finding for finding in found if "says the opposite" in finding.message]
    assert len(against) == 3  # cyber_attack, supplier_delay and own_labour stand in both lists


def test_10_a_head_that_is_not_on_the_list_needs_no_limit():
    heads = ["force_majeure", "customer_act"]
    deal = changed(
        rack_scale_deal(),
        {
            "exclusions.heads": heads,
            "exclusions.emergency": None,
            "exclusions.scheduled.cap_unit_month_hours": None,
        },
    )
    assert findings(deal, 10) == []


def test_10_nothing_that_is_never_force_majeure():
    deal = changed(rack_scale_deal(), {"exclusions.force_majeure.never": []})
    assert findings(deal, 10)[0].paragraph == "force-majeure.never"


# --- 13: caps -------------------------------------------------------------------------------------------------------


def test_13_no_cap_at_all_costs_the_worst_month():
    deal = changed(rack_scale_deal(), {"credits.caps": {}})
    (finding,) = findings(deal, 13)
    assert finding.money == Money(Decimal("394200.00"), "USD")
    assert [severity(deal, 13, reader) for reader in ("provider", "customer", "lender", "insurer")] == [
        "warning",
        None,
        "error",
        "warning",
    ]


@pytest.mark.parametrize(
    ("caps", "paths"),
    [
        ({"month": "0.24", "year": "0.10"}, ["credits.caps.month"]),
        ({"month": "0.25", "year": "0.08"}, []),
        ({"month": "0.25", "year": "0.07"}, ["credits.caps.year"]),
        ({"year": "0.08"}, []),
    ],
)
def test_13_caps_below_any_usual_one_concern_the_customer(caps: dict[str, str], paths: list[str]):
    deal = changed(rack_scale_deal(), {"credits.caps": caps})
    assert [finding.path for finding in findings(deal, 13, "customer")] == paths
    assert findings(deal, 13, "lender") == []


def test_13_a_band_of_the_whole_service_above_the_cap_is_never_paid():
    bands = [*BANDS, {"below": "0.95", "credit_fraction": "0.50"}]
    deal = changed(financed_deal(), {"service_levels.cluster.credit.bands": bands})
    (finding,) = findings(deal, 13, "customer")
    assert finding.path == "service_levels.cluster.credit.bands[2].credit_fraction"
    assert finding.money == Money(Decimal("2000000.00"), "USD")  # (50% - 30%) of 10 million
    nodes = changed(rack_scale_deal(), {"service_levels.nodes.credit.bands": bands})
    assert findings(nodes, 13, "customer") == []  # a node's band can be paid while the service's cap is far


# --- 14: headroom ---------------------------------------------------------------------------------------------------


def test_14_a_credit_above_the_headroom_breaks_the_covenant():
    # W27: 1 - (2 + 1.05 x 7) / 10 = 6.5%; the draft allows its last band, 25%
    deal = changed(financed_deal(), {})
    (finding,) = findings(deal, 14)
    assert "A credit above 6.5% of a month's fees breaks the covenant of 1.05x" in finding.message
    assert "the draft allows 25.0%" in finding.message
    assert finding.money == Money(Decimal("1850000.00"), "USD")
    assert [severity(deal, 14, reader) for reader in ("provider", "customer", "lender", "insurer")] == [
        "warning",
        "note",
        "error",
        "warning",
    ]


@pytest.mark.parametrize(("cap", "raised"), [("0.065", 0), ("0.0651", 1), ("0.25", 1)])
def test_14_a_cap_at_the_headroom_is_enough(cap: str, raised: int):
    assert len(findings(changed(financed_deal(), {"credits.caps.month": cap}), 14)) == raised


def test_14_a_reserve_for_the_difference_makes_it_a_note():
    deal = changed(financed_deal(), {"finance.reserve": {"months": 1}})
    assert severity(deal, 14, "lender") == "note"
    (finding,) = findings(deal, 14, "lender")
    assert "missed all the same" in finding.message


def test_14_prepayment_credited_back_takes_headroom():
    # a fifth of 24 fees credited from month 1: cash falls by 2 a month, so that cover is below 1.05 without a credit
    deal = changed(financed_deal(), {"commercial.prepayment": {"fraction": "0.20", "credited_from_month": 1}})
    (finding,) = findings(deal, 14)
    assert "without any credit" in finding.message


def test_14_without_a_covenant_or_debt_there_is_nothing_to_break():
    assert findings(changed(financed_deal(), {"finance.covenants": None}), 14) == []
    no_debt = {"finance.loan": None, "finance.covenants": None, "finance.horizon_months": 12}
    assert findings(changed(financed_deal(), no_debt), 14) == []


def test_14_what_cannot_be_held_against_the_debt_is_said():
    deal = changed(financed_deal(), {"commercial.charges": {}})
    assert "were not held against the debt" in findings(deal, 14)[0].message


# --- 18: notice -----------------------------------------------------------------------------------------------------


def leaving(party: str, first: str, days: int) -> dict[str, Any]:
    return {"cancellation.convenience": {"party": party, "first_exercise": first, "notice": {"days": days}}}


def test_18_a_mutual_right_to_leave_makes_the_term_shorter_than_it_is_called():
    # firm from 1 January 2027; notice from 1 April ends on 30 June: 5 + 29 / 30.4375 = 5.953 months of 24
    deal = changed(financed_deal(), leaving("either", "2027-04-01", 90))
    (finding,) = findings(deal, 18)
    assert "Called 24\u00a0months, it is firm for 6\u00a0months" in finding.message
    assert "75.2% of its fees, USD\u00a0180\u00a0m" in finding.message
    assert finding.money is not None
    assert finding.money.amount == pytest.approx(Decimal("180472279.26"), abs=1)
    assert severity(deal, 18, "lender") == "error"
    assert severity(deal, 18, "customer") == "note"


@pytest.mark.parametrize(("first", "raised"), [("2027-09-01", 1), ("2027-11-01", 0)])
def test_18_a_customers_right_matters_while_debt_is_out(first: str, raised: int):
    # the loan runs to month 12: eight months and 90 days end in month 11, ten months and 90 days in month 13
    assert len(findings(changed(financed_deal(), leaving("customer", first, 90)), 18)) == raised


def test_18_a_last_day_of_the_term_is_not_laid_at_the_door_of_notice():
    # the term is called 24 months and ends after 12: notice takes 6 of those 12, not 18 of 24
    deal = changed(financed_deal(), {**leaving("either", "2027-04-01", 90), "commercial.term.ends_by": "2028-01-01"})
    (finding,) = findings(deal, 18)
    assert "Called 12\u00a0months, it is firm for 6\u00a0months" in finding.message


def test_18_nobody_may_leave_is_no_trap():
    assert findings(changed(financed_deal(), {}), 18) == []


# --- the months of the debt -----------------------------------------------------------------------------------------


def test_14_power_staff_premium_and_the_fee_of_a_cover_take_headroom():
    # 10 of fees; 2 fixed, 7 of debt; 1,000 GPUs x 0.5 kW x 1.2 x 100 / 1000 x 744 h = 44,640; staff 10,000; premium
    # 5,000; fee 1.2% of 10 million / 12 = 10,000: cash 7,930,360 against 7.35 million: 5.8036%
    deal = covered(shape="first_loss", amount=10_000_000, fee_rate="0.012")
    data = deal.model_dump(exclude_unset=True)
    layer = {"rate_per_hour": 1, "wait_hours": 1, "premium_per_month": 5_000}
    changes = {
        "power": {"kw_per_gpu": "0.5", "pue": "1.2", "price_per_mwh": 100},
        "operations": {"staff_per_gpu_month": 10},
        "insurance": {"layers": {"outage": layer}},
    }
    (finding,) = findings(changed(data, changes), 14)
    assert "A credit above 5.8% of a month's fees" in finding.message
    assert finding.money == Money(Decimal("1919640.00"), "USD")  # (25% - 5.8036%) of 10 million


def test_14_a_sculpted_loan_is_held_against_what_its_cash_carries():
    # cash of 8 at a cover of 1.25 carries 6.4 a month, and a covenant of 1.05 leaves 8 - 6.72 = 12.8% of 10
    loan = {
        "amount": "84000000",
        "annual_rate": "0",
        "first_payment_month": 1,
        "payments": 12,
        "profile": "sculpted",
        "target_dscr": "1.25",
    }
    (finding,) = findings(changed(financed_deal(), {"finance.loan": loan}), 14)
    assert "A credit above 12.8%" in finding.message
    short = changed(financed_deal(), {"finance.loan": loan, "finance.horizon_months": 6})
    assert "were not held against the debt" in findings(short, 14)[0].message


# --- debt beyond the term -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("months", "unpaid"), [(24, 0), (12, 0), (6, 6)])
def test_debt_that_outlives_the_fees_is_said_with_what_is_owed(months: int, unpaid: int):
    # twelve payments of 7 million without interest from month 1, fees from month 1: after six months 42 of 84 are owed
    deal = changed(financed_deal(), {"commercial.term": {"months": months}})
    found = [finding for finding in lint(deal, "lender") if finding.id == "debt-beyond-term"]
    assert len(found) == (unpaid > 0)
    if found:
        assert f"{unpaid} of 12 payments fall due after it, with USD\u00a042\u00a0m of the loan" in found[0].message
        assert found[0].severity == "error"
        assert "Nothing is assumed to be let again" in found[0].message


def test_debt_that_outlives_the_fees_is_paid_from_letting_again_where_that_is_assumed():
    judged = {"as_of": "2026-11-30", "kind": "judgement", "rationale": "a test"}
    relet = {
        name: {"value": value, "unit": unit, **judged}
        for name, value, unit in (
            ("empty", 3, "month"),
            ("haircut", "0.1", "1"),
            ("first_utilisation", "0.4", "1"),
            ("utilisation_step", "0.1", "1"),
            ("highest_utilisation", "0.8", "1"),
        )
    }
    deal = changed(financed_deal(), {"commercial.term": {"months": 6}, "assumptions": {"reletting": relet}})
    (finding,) = [finding for finding in lint(deal, "lender") if finding.id == "debt-beyond-term"]
    assert "They are paid from letting again" in finding.message


# --- 19: backstop ---------------------------------------------------------------------------------------------------


def covered(**backstop: Any) -> Deal:
    """Return the financed deal with a cover of one shape from signing, given by G, and 1,000 GPUs at what they cost."""
    data = {
        "parties": {"g": {"name": "Guarantor G", "role": "guarantor"}},
        "clusters": {"c": {"units": {"gpu": 1000}}},
        "delivery.tranches.t.cluster": "c",
        "backstop": {"provider": "g", "starts": "signing", **backstop},
    }
    return changed(financed_deal(), data)


def guaranteed(**terms: Any) -> Deal:
    """Return the financed deal with a guarantee of all ways of ending, from signing, for all the debt."""
    backstop = {
        "shape": "payment_guarantee",
        "provider": "g",
        "triggers": ["payment_default", "insolvency"],
        "starts": "signing",
        "amount": "84000000",
        "amortisation_months": 12,
        **terms,
    }
    return changed(financed_deal(), {"parties": {"g": {"name": "G", "role": "guarantor"}}, "backstop": backstop})


def test_19_a_guarantee_that_follows_the_debt_has_no_gap():
    assert findings(guaranteed(), 19) == []


def test_19_ways_of_ending_that_it_does_not_answer_for():
    deal = guaranteed(triggers=["payment_default"])
    (finding,) = findings(deal, 19)
    assert "the customer's insolvency" in finding.message
    assert finding.money == Money(Decimal(84_000_000), "USD")
    assert finding.paragraph is None
    assert (severity(deal, 19, "lender"), severity(deal, 19, "customer")) == ("error", None)


def test_19_ways_that_the_contract_has_are_looked_at():
    chronic = {"limbs": [{"form": "single_outage", "service_level": "cluster", "hours": 72}]}
    data = guaranteed().model_dump(exclude_unset=True)
    deal = changed(data, {"cancellation": {"chronic_failure": chronic}})
    assert "bad service" in findings(deal, 19)[0].message


def test_19_a_guarantee_that_starts_with_the_rent_covers_nothing_before():
    data = guaranteed(starts="rfs_each_tranche").model_dump(exclude_unset=True)
    deal = changed(data, {"delivery.tranches.t.ready_for_service_date": "2027-04-01"})
    found = {finding.path: finding for finding in findings(deal, 19)}
    assert "nothing before 3\u00a0months after close" in found["backstop.starts"].message


def test_19_a_guarantee_that_falls_faster_than_the_debt():
    # after six months the debt is half, 42 million; 84 million over eight months leaves 21
    (finding,) = findings(guaranteed(amortisation_months=8), 19)
    assert finding.path == "backstop.amount"
    assert "In month 8 after close the debt is USD\u00a028\u00a0m and the guarantee USD\u00a00" in finding.message


@pytest.mark.parametrize(
    ("starts", "covered_from"),
    [("rfs_each_tranche", "3"), ("rent_commenced", "3"), ("rfs_all", "6"), ("date", "9"), ("signing", None)],
)
@pytest.mark.parametrize("shape", ["payment_guarantee", "revenue_floor", "first_loss"])
def test_19_no_cover_reaches_back_before_its_start(shape: str, starts: str, covered_from: str | None):
    terms = {"payment_guarantee": {"triggers": ["payment_default", "insolvency"]}, "revenue_floor": {"floor_rent": 1}}
    backstop = {"shape": shape, "provider": "g", "starts": starts, **terms.get(shape, {})}
    if starts == "date":
        backstop["start_date"] = {"close_plus_months": 9}
    tranches = {
        "t": {"ready_for_service_date": "2027-04-01", "share_of_service": "0.5"},
        "u": {"ready_for_service_date": "2027-07-01", "share_of_service": "0.5"},
    }
    deal = changed(
        financed_deal(),
        {
            "parties": {"g": {"name": "G", "role": "guarantor"}},
            "services.compute.tranches": ["t", "u"],
            "delivery.tranches": tranches,
            "backstop": backstop,
        },
    )
    found = {finding.path: finding.message for finding in findings(deal, 19)}
    if covered_from is None:
        assert "backstop.starts" not in found
    else:
        assert f"nothing before {covered_from}\u00a0months after close" in found["backstop.starts"]
        assert ("if a tranche is late" in found["backstop.starts"]) == starts.startswith("rfs")


def test_19_cover_that_ends_before_the_loan_leaves_the_rest():
    # twelve payments of 7 million: after eight months 28 of 84 are owed
    (finding,) = findings(guaranteed(amortisation_months=None, expires={"close_plus_months": 8}), 19)
    assert finding.path == "backstop.expires"
    assert "ends 8\u00a0months after close, with USD\u00a028\u00a0m of the debt still owed" in finding.message
    assert finding.money == Money(Decimal(28_000_000), "USD")
    assert findings(guaranteed(amortisation_months=None, expires={"close_plus_months": 12}), 19) == []


# --- cover: what its shape never pays for ---------------------------------------------------------------------------


def conditions(deal: Deal, reader: str = "lender") -> dict[str, Finding]:
    """Return the findings on the shape of a cover, by path."""
    return {f.path: f for f in lint(deal, reader) if f.id == "cover-conditions"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("backstop", "said"),
    [
        ({"shape": "unsold_hours_put", "floor_rent": 20}, "pays nothing while the contract is in force, even if"),
        ({"shape": "unsold_hours_put", "floor_rent": 20}, "not for hours that are let cheaply"),
        ({"shape": "unsold_hours_put", "floor_rent": 20, "covers": "all"}, "under contract are sold, whether or not"),
        ({"shape": "utilisation_floor"}, "of a market that has fallen it makes up nothing"),
        ({"shape": "revenue_floor", "floor_rent": 20}, "pays nothing while the contract is in force, even if"),
        ({"shape": "revenue_floor", "floor_rent": 20, "covers": "all"}, "It ends when the loan defaults"),
        ({"shape": "index_price_floor", "floor_rent": 20}, "though this deal lets at less or stands empty"),
        ({"shape": "leaseback", "floor_rent": 20}, "nothing stands behind that name"),
        ({"shape": "first_loss", "share": "0.8", "amount": 1000}, "20% of the loss and all beyond its amount stays"),
        ({"shape": "first_loss"}, "it keeps no payment in time"),
    ],
)
def test_what_a_shape_of_cover_never_pays_for_is_said_to_the_lender(backstop: dict[str, Any], said: str):
    deal = covered(**backstop)
    finding = conditions(deal)["backstop.shape"]
    assert said in finding.message
    assert finding.severity == "warning"
    assert "backstop.shape" not in conditions(deal, "customer")


def test_a_revenue_floor_on_all_capacity_pays_also_while_the_contract_is_in_force():
    message = conditions(covered(shape="revenue_floor", floor_rent=20, covers="all"))["backstop.shape"].message
    assert "in force" not in message


def test_a_guarantee_that_the_lender_may_claim_under_says_nothing_of_its_shape():
    assert conditions(guaranteed()) == {}
    assert "what the lender then loses" in conditions(guaranteed(assignable=False))["backstop.shape"].message


def test_a_value_that_is_measured_after_the_last_payment_comes_too_late():
    value = {"gpu_value": {"amount": 100, "decay_per_month": 0}}
    data = covered(shape="first_loss").model_dump(exclude_unset=True)
    for month, late in ((12, False), (13, True)):
        backstop = {"shape": "residual_guarantee", "provider": "g", "threshold": 50, "at": {"close_plus_months": month}}
        deal = changed(data, {"backstop": backstop, "assumptions": {"prescribed": value}})
        assert ("backstop.at" in conditions(deal)) == late


@pytest.mark.parametrize(("floor_rent", "short"), [("12.32", "USD\u00a06,400"), ("12.33", None)])
def test_a_floor_under_which_the_debt_is_not_paid_is_said_with_what_is_missing(floor_rent: str, short: str | None):
    # 1,000 GPUs x 730 hours x 12.32 = 8,993,600; costs of 2 and debt service of 7 million are 9,000,000
    found = conditions(covered(shape="revenue_floor", floor_rent=floor_rent))
    assert ("backstop.floor_rent" in found) == (short is not None)
    if short:
        assert found["backstop.floor_rent"].money == Money(Decimal(6_400), "USD")
        assert found["backstop.floor_rent"].severity == "error"


def test_a_limit_that_runs_out_before_the_loan_says_how_long_it_lasts():
    # 1,000 x 730 x 20 = 14.6 million a month
    found = conditions(covered(shape="revenue_floor", floor_rent=20, amount=73_000_000))
    assert "is used up after 5\u00a0months; the loan has 12 payments" in found["backstop.amount"].message
    assert "backstop.amount" not in conditions(covered(shape="revenue_floor", floor_rent=20, amount=175_200_000))


# --- 21: location ---------------------------------------------------------------------------------------------------


def test_21_a_wrong_statement_of_place_must_never_be_force_majeure():
    deal = changed(rack_scale_deal(), {"exclusions.force_majeure.never": ["price"]})
    assert findings(deal, 21)[0].paragraph == "force-majeure.never"
    assert severity(deal, 21, "insurer") == "error"
    kept = changed(rack_scale_deal(), {"exclusions.force_majeure.never": ["own_misstatement"]})
    assert findings(kept, 21) == []
