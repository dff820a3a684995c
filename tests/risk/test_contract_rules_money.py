"""From availability to money and rights: bands, base, caps, stacking, claims, form, chronic failure."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from risk.contract_rules import bands, caps, stacking
from risk.contract_rules.statement import Records, Statement, statement
from schemas.credit_shapes import CreditBands
from schemas.deal import Deal
from schemas.errors import NotComputedError
from schemas.incidents import Incident, Notice, UnitService
from schemas.money import Money, total
from schemas.periods import Month

NOVEMBER = Month(2026, 11)
ROWS = [
    {"below": "0.995", "credit_fraction": "0.10"},
    {"below": "0.99", "credit_fraction": "0.25"},
    {"below": "0.95", "credit_fraction": "0.50"},
]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def deal(levels: dict[str, Any] | None = None, **sections: Any) -> Deal:
    nodes = {"level": "node", "target": "0.995", "credit": {"bands": ROWS}}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "service_levels": levels or {"nodes": nodes},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
            **sections,
        }
    )


def unit(name: str = "n1", fee: str = "1000", level: str = "node", **more: Any) -> UnitService:
    more = {"service": "compute", **more}
    return UnitService(unit_id=name, level=level, monthly_fee=Decimal(fee), **more)


def down(start: str, minutes: int, name: str = "n1", level: str = "node", **more: Any) -> Incident:
    return Incident(
        id=f"{name} {start}",
        level=level,
        unit_id=name,
        started_at=at(start),
        ended_at=at(start) + timedelta(minutes=minutes),
        **more,
    )


def result(terms: Deal, incidents: list[Incident], units: list[UnitService] | None = None, **more: Any) -> Statement:
    periods = more.pop("periods", [NOVEMBER])
    as_of = more.pop("as_of", None)
    return statement(terms, Records(incidents=incidents, units=units or [unit()], **more), periods, as_of)


# bands


@pytest.mark.parametrize(
    ("minutes", "share"), [(216, "0"), (217, "0.10"), (432, "0.10"), (433, "0.25"), (2160, "0.25"), (2161, "0.50")]
)
def test_availability_exactly_at_an_edge_belongs_to_the_better_row(minutes, share):
    (line,) = result(deal(), [down("2026-11-10T00:00", minutes)]).lines
    assert line.credit_fraction == Decimal(share)
    edges = [step for step in line.steps if step.paragraph == "credit-schedule.edge"]
    assert len(edges) == (minutes in (216, 432, 2160))
    assert line.target_met == (minutes <= 216)


def test_the_step_of_a_band_names_its_row():
    (line,) = result(deal(), [down("2026-11-10T00:00", 433)]).lines
    (step,) = [step for step in line.steps if step.paragraph == "credit-schedule.bands"]
    assert step.term == "service_levels.nodes.credit.bands[1]"
    assert step.result == Decimal("0.25")


def test_bands_of_many_months_of_several_lengths_are_those_of_fractions():
    schedule = CreditBands.model_validate({"bands": ROWS})
    window = np.array([40_320, 43_200, 43_260, 44_640])
    counted = np.arange(0, 3000)[:, None]
    found = bands.arrays(counted, window, schedule)
    assert found.shape == (3000, 4)
    for i, j in ((201, 0), (202, 0), (216, 1), (217, 1), (216, 2), (217, 2), (446, 3), (447, 3), (2232, 3), (2233, 3)):
        availability = 1 - Fraction(i, int(window[j]))
        assert found[i, j] == float(bands.exact(availability, schedule, "nodes").value)


# base and unit cap


def test_the_base_can_be_the_fee_of_the_service_up_to_the_cap_of_the_unit():
    units = [unit(f"n{i}") for i in range(1, 6)]
    terms = deal(credits={"base": "service_fee_accrued"})
    (line, *_) = result(terms, [down("2026-11-10T00:00", 217)], units).lines
    assert (line.base, line.credit) == (5000, usd("500.00"))
    (line, *_) = result(terms, [down("2026-11-10T00:00", 2161)], units).lines
    assert line.credit == usd("1000.00")  # 50% of 5,000, cut to the unit's own fee


def test_the_fee_of_a_service_is_not_counted_twice_over_its_levels():
    units = [unit(f"n{i}", parent_id="c") for i in range(1, 6)] + [unit("c", "5000", "cluster")]
    found = result(deal(credits={"caps": {"month": "0.01"}}), [down("2026-11-10T00:00", 2161)], units)
    assert found.settlements[0].fee == 5000
    assert found.total == usd("50.00")


def test_prepaid_fees_can_be_left_out_of_the_fee_of_a_service_too():
    units = [unit("n1", prepaid_fraction=Decimal("0.5")), unit("n2")]
    terms = deal(credits={"base": "service_fee_accrued", "includes_prepaid": False})
    assert result(terms, [down("2026-11-10T00:00", 217)], units).lines[0].base == 1500


def test_a_base_with_taxes_is_refused():
    terms = deal(credits={"excludes": ["one_off", "pass_through_power"]})
    with pytest.raises(NotComputedError, match=r"credits\.excludes: a credit base that includes tax"):
        result(terms, [])


@pytest.mark.parametrize(("rounding", "credit"), [("half_up", "0.13"), ("half_even", "0.12"), ("down", "0.12")])
def test_a_line_is_rounded_once(rounding, credit):
    found = result(deal(credits={"rounding": rounding}), [down("2026-11-10T00:00", 217)], [unit(fee="1.25")])
    assert found.lines[0].credit == usd(credit)  # 10% of 1.25


def test_money_without_a_minor_unit_is_rounded_to_whole_yen():
    terms = deal(commercial={"currency": "JPY", "charges": {}, "term": {"months": 12}})
    assert result(terms, [down("2026-11-10T00:00", 217)], [unit(fee="12345")]).total == Money(Decimal(1235), "JPY")


# caps


def test_the_last_line_takes_the_cent():
    lines = [usd("100.00")] * 3
    left = caps.exact(lines, usd("100.00"), usd("0.00")).value
    assert left == (usd("33.33"), usd("33.33"), usd("33.34"))


def test_many_small_lines_never_get_more_than_they_were():
    lines = [usd("0.01")] * 10
    left = caps.exact(lines, usd("0.06"), usd("0.00")).value
    assert total(left, "USD") == usd("0.06")
    assert all(usd("0.00") <= line <= usd("0.01") for line in left)


def test_a_cap_below_what_the_year_has_paid_leaves_nothing():
    left = caps.exact([usd("5.00")], usd("10.00"), usd("12.00"), of="year").value
    assert left == (usd("0.00"),)


def test_the_contract_year_starts_anew_twelve_months_after_service_started():
    incidents = [down(f"{month}-10T00:00", 2500) for month in ("2026-11", "2027-01", "2027-02")]
    units = [unit(in_service_from=at("2026-02-11T00:00"))]
    terms = deal(credits={"caps": {"year": "0.05"}})
    periods = [Month(2026, 11), Month(2027, 1), Month(2027, 2)]
    found = result(terms, incidents, units, periods=periods)
    assert [s.contract_year for s in found.settlements] == [1, 1, 2]
    assert [s.payable for s in found.settlements] == [usd("500.00"), usd("100.00"), usd("500.00")]


def test_the_fee_planned_for_a_year_counts_every_unit_throughout():
    units = [unit(in_service_from=at("2026-01-01T00:00")), unit("n2", in_service_from=at("2026-11-16T00:00"))]
    settlement = result(deal(), [], units).settlements[0]
    assert (settlement.fee, settlement.planned_year_fee) == (1500, 24_000)


def test_the_fee_planned_for_a_year_is_that_at_the_start_of_the_year():
    units = [
        unit(in_service_from=at("2025-11-01T00:00"), in_service_to=at("2026-11-01T00:00")),
        unit(fee="1500", in_service_from=at("2026-11-01T00:00"), in_service_to=at("2027-01-01T00:00")),
        unit(fee="9000", in_service_from=at("2027-01-01T00:00")),
    ]
    found = result(deal(), [], units, periods=[Month(2026, 10), NOVEMBER, Month(2027, 1)])
    assert [s.planned_year_fee for s in found.settlements] == [12_000, 18_000, 18_000]


def test_services_have_caps_of_their_own():
    units = [unit("a1", service="a"), unit("b1", "3000", service="b")]
    incidents = [down("2026-11-10T00:00", 2161, name) for name in ("a1", "b1")]
    found = result(deal(credits={"caps": {"month": "0.10"}}), incidents, units)
    assert {s.service: s.payable for s in found.settlements} == {"a": usd("100.00"), "b": usd("300.00")}


# stacking


def test_of_equal_sums_the_first_level_of_the_table_is_paid():
    sums = {"nodes": usd("100.00"), "cluster": usd("100.00")}
    assert stacking.exact(sums, "highest_level").value == {"nodes"}
    arrays = {name: np.full((2, 1), 100.0) for name in sums}
    assert stacking.arrays(arrays, "highest_level")[1].tolist() == [[0], [0]]
    with pytest.raises(ValueError, match=r"at least one level"):
        stacking.arrays({}, "cumulative")


# claims


CLAIMED = {"mode": "claimed", "window_days": 10, "window_from": "period_end", "late": "forfeit"}


def claim(received: str | None = None, sent: str = "2026-12-01T00:00", **more: Any) -> Notice:
    more = {"kind": "claim", **more}
    return Notice(id="c", sent_at=at(sent), received_at=at(received) if received else None, **more)


def test_a_claim_that_is_missing_is_lost_once_its_time_is_known_to_be_over():
    terms, incidents = deal(credits={"process": CLAIMED}), [down("2026-11-10T00:00", 217)]
    assert result(terms, incidents).total == usd("100.00")
    assert result(terms, incidents, as_of=at("2026-12-10T23:59")).total == usd("100.00")
    late = result(terms, incidents, as_of=at("2026-12-11T00:00"))
    assert (late.total, late.lines[0].claim_by) == (usd("0.00"), at("2026-12-11T00:00"))


def test_a_claim_counts_for_the_units_and_the_months_that_it_names():
    terms = deal(credits={"process": CLAIMED})
    units = [unit("n1", parent_id="rack"), unit("n2")]
    incidents = [down("2026-11-10T00:00", 217, name) for name in ("n1", "n2")]
    some = [claim("2026-12-05T00:00", unit_ids=("rack",))]
    found = result(terms, incidents, units, notices=some, as_of=at("2027-01-01T00:00"))
    assert [line.payable for line in found.lines] == [usd("100.00"), usd("0.00")]
    october = [claim("2026-12-05T00:00", covers_from=at("2026-10-01T00:00"), covers_to=at("2026-11-01T00:00"))]
    assert result(terms, incidents, units, notices=october, as_of=at("2027-01-01T00:00")).total == usd("0.00")


def test_a_claim_without_a_receipt_is_dated_by_its_sending():
    terms, incidents = deal(credits={"process": CLAIMED}), [down("2026-11-10T00:00", 217)]
    as_of = at("2027-01-01T00:00")
    assert result(terms, incidents, notices=[claim(sent="2026-12-05T00:00")], as_of=as_of).total == usd("100.00")
    assert result(terms, incidents, notices=[claim(sent="2026-12-15T00:00")], as_of=as_of).total == usd("0.00")


def test_the_window_runs_from_the_day_of_the_statement():
    terms = deal(credits={"process": {**CLAIMED, "window_from": "statement"}})
    stated = Notice(id="s", kind="credit_statement", sent_at=at("2026-12-14T09:00"), received_at=at("2026-12-14T10:00"))
    found = result(terms, [down("2026-11-10T00:00", 217)], notices=[stated], as_of=at("2026-12-20T00:00"))
    assert (found.lines[0].claim_by, found.total) == (at("2026-12-25T00:00"), usd("100.00"))


def test_a_credit_claimed_too_late_uses_up_no_cap():
    terms = deal(credits={"process": CLAIMED, "caps": {"month": "0.05"}})
    units = [unit("n1"), unit("n2")]
    incidents = [down("2026-11-10T00:00", 217, name) for name in ("n1", "n2")]
    found = result(
        terms,
        incidents,
        units,
        notices=[claim("2026-12-05T00:00", unit_ids=("n2",))],
        as_of=at("2027-01-01T00:00"),
    )
    assert [line.payable for line in found.lines] == [usd("0.00"), usd("100.00")]
    assert found.lost == {"late_claim": usd("100.00")}


# form of payment


def test_the_form_of_payment_is_stated_with_its_dates():
    stated = Notice(id="s", kind="credit_statement", sent_at=at("2026-12-14T09:00"))
    terms = deal(credits={"form": {"form": "future_credit", "cash_after_months": 3, "expiry_months": 12}})
    settlement = result(terms, [down("2026-11-10T00:00", 217)], notices=[stated]).settlements[0]
    found = {step.paragraph: step.result for step in settlement.steps}
    assert found["credit-form.form"] == usd("100.00")
    assert found["credit-form.unused"].isoformat() == "2027-03-14"
    assert found["credit-form.expiry"].isoformat() == "2027-12-14"


# rights


def cluster_deal(*limbs: dict[str, Any], **chronic: Any) -> Deal:
    level = {"level": "cluster", "target": "0.995", "nodes_needed_share": "0.9", "credit": {"bands": ROWS}}
    limbs_ = [{"service_level": "cluster", **limb} for limb in limbs]
    return deal({"cluster": level}, cancellation={"chronic_failure": {"limbs": limbs_, **chronic}})


CLUSTER = [unit("c", level="cluster", in_service_from=at("2026-01-01T00:00"))]


def test_a_right_arises_anew_with_each_further_bad_month_and_only_with_a_bad_one():
    incidents = [down(f"2026-{m:02}-10T00:00", 2500, "c", "cluster") for m in (2, 4, 5)]
    terms = cluster_deal({"form": "bad_months", "below": "0.98", "k": 2, "m": 3})
    found = result(terms, incidents, CLUSTER, periods=[Month(2026, m) for m in range(1, 8)])
    assert [(right.period, right.periods) for right in found.rights] == [
        (Month(2026, 4), (Month(2026, 2), Month(2026, 4))),
        (Month(2026, 5), (Month(2026, 4), Month(2026, 5))),
    ]


def test_a_right_from_earlier_months_is_shown_while_it_is_open():
    incidents = [down(f"2026-{m:02}-10T00:00", 2500, "c", "cluster") for m in (2, 3)]
    terms = cluster_deal({"form": "bad_months", "below": "0.98", "k": 2, "m": 3})
    assert [r.period for r in result(terms, incidents, CLUSTER, periods=[Month(2026, 5)]).rights] == [Month(2026, 3)]
    assert result(terms, incidents, CLUSTER, periods=[Month(2026, 6)]).rights == ()


def test_a_right_is_not_known_before_its_month_is_over():
    incidents = [down(f"2026-{m:02}-10T00:00", 2500, "c", "cluster") for m in (2, 3)]
    terms = cluster_deal({"form": "bad_months", "below": "0.98", "k": 2, "m": 3})
    early = result(terms, incidents, CLUSTER, periods=[Month(2026, 3)], as_of=at("2026-03-31T00:00"))
    assert early.rights == ()


def test_availability_exactly_at_the_threshold_is_not_bad():
    terms = cluster_deal({"form": "bad_months", "below": "0.98", "k": 1, "m": 1})
    assert result(terms, [down("2026-11-10T00:00", 864, "c", "cluster")], CLUSTER).rights == ()
    assert len(result(terms, [down("2026-11-10T00:00", 865, "c", "cluster")], CLUSTER).rights) == 1


def test_one_outage_longer_than_its_hours_gives_a_right_when_they_have_passed():
    terms = cluster_deal({"form": "single_outage", "hours": "72"}, exercise={"days": 30}, scope="tranche")
    assert result(terms, [down("2026-11-10T06:00", 72 * 60, "c", "cluster")], CLUSTER).rights == ()
    (right,) = result(terms, [down("2026-11-10T06:00", 72 * 60 + 1, "c", "cluster")], CLUSTER).rights
    assert right.arises == at("2026-11-13T06:00")
    assert right.exercise_by == at("2026-12-14T00:00")  # day 1 is 14 November, day 30 is 13 December
    assert (right.form, right.scope) == ("single_outage", "tranche")


def test_time_for_a_cure_comes_before_the_exercise_window():
    terms = cluster_deal({"form": "bad_months", "below": "0.98", "k": 1, "m": 1}, cure_days=60)
    (right,) = result(terms, [down("2026-11-10T00:00", 2500, "c", "cluster")], CLUSTER).rights
    assert right.arises == at("2026-12-01T00:00")
    assert right.exercise_from == at("2027-01-30T00:00")
    assert right.exercise_by == at("2027-03-31T00:00")


def test_a_right_may_be_open_for_a_moment_only_or_for_whole_months():
    limb = {"form": "bad_months", "below": "0.98", "k": 1, "m": 1}
    incidents = [down("2026-11-10T00:00", 2500, "c", "cluster")]
    (right,) = result(cluster_deal(limb, exercise={"months": 0}), incidents, CLUSTER).rights
    assert right.exercise_by == right.arises
    (right,) = result(cluster_deal(limb, exercise={"months": 3}), incidents, CLUSTER).rights
    assert right.exercise_by == at("2027-03-01T00:00")  # to the end of 28 February
    with pytest.raises(NotComputedError, match=r"cancellation\.chronic_failure\.exercise"):
        result(cluster_deal(limb, exercise={"months": "1.5"}), incidents, CLUSTER)


# what the reader must know


def test_units_that_do_not_add_up_to_the_price_of_their_service_are_named():
    tranche = {"t": {"ready_for_service_date": "2026-09-01"}}
    terms = deal(
        services={"compute": {"tranches": ["t"]}},
        delivery={"tranches": tranche},
        commercial={
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "lump_month", "amount": "5000"}}},
            "term": {"months": 12},
        },
    )
    found = result(terms, [])
    assert any("another monthly fee (node 1000) than its price (USD 5,000.00)" in note for note in found.notes)
    assert any("counted from 2026-09" in note for note in found.notes)
    assert found.settlements[0].contract_year == 1
