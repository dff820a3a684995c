"""The example deals: they load, say where each number comes from, name nobody, and their sums hold."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from risk.core.data import component, hardware
from risk.core.running_cost import running_cost
from risk.core.setting import Setting, horizon, setting
from risk.engine import Model
from risk.finance.waterfall import Finances
from risk.power_density import choices
from risk.score import score
from schemas.backstop import PaymentGuarantee, UnsoldHoursPut
from schemas.deal import Deal, path_of
from schemas.topology import ComponentBlock
from slakit.checks.lint import lint
from slakit.checks.sourcing import numbers_without_source
from slakit.load import LoadedDeal, load_deal

FOLDER = Path(__file__).resolve().parents[1] / "examples"
FILES = sorted(FOLDER.glob("*.yaml"))
NAMES = ("gb300-prepaid-hyperscaler", "guaranteed-lease", "ninety-day-exit", "startup-1024-h100")
README = (FOLDER / "README.md").read_text(encoding="utf-8")
LONGEST = 120
"""Months an example is simulated at most. [month]"""

UNSOURCED = ("schema_version", "provenance", "accepted_findings")
"""Sections whose figures are not of the deal."""
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")

# Companies of the public record, and others a reader might take for a party.
REAL = re.compile(
    r"\b(?:iren|iris energy|microsoft|dell|terawulf|wulf|fluidstack|google|alphabet|spacex|xai|nvidia|coreweave"
    r"|anthropic|openai|oracle|meta|amazon|aws|azure|nebius|lambda|cipher|hut 8|crusoe|applied digital)\b",
    re.IGNORECASE,
)


@pytest.fixture(scope="module", params=FILES, ids=[path.stem for path in FILES])
def example(request: pytest.FixtureRequest) -> LoadedDeal:
    """Return one example, loaded as a user's file is."""
    return load_deal(request.param)


def deal_of(name: str) -> Deal:
    """Return one example by its name."""
    return load_deal(FOLDER / f"{name}.yaml").deal


def typed_figures(value: Any, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the steps to every number and date typed in a deal that does not stand beside its own source."""
    if isinstance(value, dict):
        if {"value", "unit", "kind", "as_of"} <= value.keys():
            return
        for key, child in value.items():
            yield from typed_figures(child, (*steps, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from typed_figures(child, (*steps, index))
    elif not isinstance(value, (bool, str)) or (isinstance(value, str) and DAY.fullmatch(value)):
        yield steps


def sources_of(steps: tuple[str | int, ...]) -> set[str]:
    """Return the paths of `provenance` that speak of the value at `steps`, without the one for the whole deal."""
    return {path_of(steps)} | {f"{path_of(steps[:length])}.*" for length in range(1, len(steps))}


def test_there_are_four_examples():
    assert [path.stem for path in FILES] == sorted(NAMES)


def test_an_example_loads_without_a_warning(example: LoadedDeal):
    assert example.warnings == ()


def test_every_typed_figure_has_a_source(example: LoadedDeal):
    sections = {k: v for k, v in example.data.items() if k not in UNSOURCED}
    figures = list(typed_figures(sections))
    assert len(figures) > 80
    missing = [path_of(s) for s in figures if not sources_of(s) & example.data["provenance"].keys()]
    assert missing == []


def test_no_source_stands_for_the_whole_deal(example: LoadedDeal):
    assert "*" not in example.data["provenance"]


def test_every_source_speaks_of_a_figure(example: LoadedDeal):
    sections = {k: v for k, v in example.data.items() if k not in UNSOURCED}
    used = set().union(*(sources_of(steps) for steps in typed_figures(sections)))
    assert set(example.data["provenance"]) - used == set()


def test_a_figure_without_a_public_source_is_a_judgement_with_a_reason(example: LoadedDeal):
    for path, source in example.deal.provenance.items():
        assert source.source or (source.kind == "judgement" and source.rationale), path


def test_no_real_company_is_a_party_or_in_the_title(example: LoadedDeal):
    deal = example.deal
    words = [deal.title, deal.about or ""]
    for party in deal.parties.values():
        words += [party.name, party.entity or "", party.notice_address or ""]
    for site in deal.sites.values():
        words += [site.name, site.place]
    assert [text for text in words if REAL.search(text)] == []


def test_the_search_for_real_companies_would_find_one():
    assert REAL.search("Lease of halls to Google LLC")


@pytest.mark.parametrize("name", NAMES)
def test_an_example_says_what_it_is_not(name: str):
    about = deal_of(name).about
    assert about is not None
    assert "not the signed contract" in about or "made up on public prices" in about
    assert re.search(r"[Nn]ot modelled|does not simulate", about)


def test_the_tranches_of_each_service_carry_its_whole_fee(example: LoadedDeal):
    assert example.deal.delivery is not None
    for service in example.deal.services.values():
        shares = [example.deal.delivery.tranches[tranche].share_of_service for tranche in service.tranches]
        assert sum(shares) == 1


def test_tranches_carry_fees_in_the_proportion_of_their_units(example: LoadedDeal):
    assert example.deal.delivery is not None
    tranches = example.deal.delivery.tranches.values()
    units = [example.deal.clusters[t.cluster].units.gpu for t in tranches if t.cluster]
    assert [t.share_of_service * sum(units) for t in tranches] == units


def test_terms_of_every_day_are_valid(example: LoadedDeal):
    deal = example.deal
    assert deal.finance is not None
    days = [deal.finance.close] + [a.effective_from for a in deal.amendments]
    for day in days:
        assert deal.at(day).amendments == ()
        assert deal.at(day - timedelta(days=1)).amendments == ()


def test_the_node_target_of_the_prepaid_deal_rises_after_early_life():
    deal = deal_of("gb300-prepaid-hyperscaler")
    before, after = deal.at(date(2027, 6, 30)), deal.at(date(2027, 7, 1))
    assert before.service_levels["nodes"].target == Decimal("0.99")
    assert after.service_levels["nodes"].target == Decimal("0.995")
    assert [band.below for band in after.service_levels["nodes"].credit.bands] == [
        Decimal("0.995"),
        Decimal("0.99"),
        Decimal("0.95"),
    ]
    assert after.service_levels["cluster"] == before.service_levels["cluster"]


def test_components_and_hardware_of_an_example_are_in_the_data(example: LoadedDeal):
    for site in example.deal.sites.values():
        assert site.topology is not None
        for block in site.topology.blocks.values():
            if isinstance(block, ComponentBlock):
                assert component(block.component).title
    for cluster in example.deal.clusters.values():
        if cluster.hardware:
            assert hardware(cluster.hardware).title


def test_racks_fill_the_rows_and_fit_under_the_power_of_the_site(example: LoadedDeal):
    for cluster in example.deal.clusters.values():
        site = example.deal.sites[cluster.site or ""]
        assert site.topology
        assert site.it_capacity_mw
        assert site.hall_kw_per_rack
        assert cluster.units.rack
        assert cluster.units.rack % site.topology.rows.count == 0
        if cluster.hardware is None:  # a position in a hall: 72 GPUs of 142 kW, a tenth more for network and storage
            kw_per_gpu, needed = 142 / 72, 1.1
        else:
            file = hardware(cluster.hardware)
            assert cluster.units.node
            assert cluster.units.node % cluster.units.rack == 0
            assert cluster.units.gpu == cluster.units.node * float(file.gpus_per_node)
            kw_per_gpu, needed = float(file.kw_per_gpu), 1.0
        kw = cluster.units.gpu * kw_per_gpu * needed
        assert kw / cluster.units.rack <= float(site.hall_kw_per_rack)
        assert 0.7 < kw / 1000 / float(site.it_capacity_mw) <= 1.0001


def test_the_cluster_is_up_while_the_spare_rows_are_out(example: LoadedDeal):
    for level in example.deal.service_levels.values():
        if level.level == "cluster":
            for site in example.deal.sites.values():
                assert site.topology is not None
                rows, spare = site.topology.rows.count, site.spare_rows
                assert Decimal(rows - spare) / rows >= (level.nodes_needed_share or 0)
                assert Decimal(rows - spare - 1) / rows < (level.nodes_needed_share or 0)


def test_every_example_is_simulated_to_the_last_payment(example: LoadedDeal):
    assert example.deal.finance
    assert example.deal.finance.loan
    loan = example.deal.finance.loan
    assert loan.first_payment_month + loan.payments - 1 == horizon(example.deal) <= LONGEST


@pytest.mark.parametrize("name", [name for name in NAMES if name != "startup-1024-h100"])
def test_the_loan_is_repaid_inside_the_firm_term(name: str):
    deal = deal_of(name)
    frame = setting(deal)
    assert deal.finance
    assert deal.finance.loan
    assert horizon(deal) <= frame.planned_ready.min() + frame.term_months
    assert deal.finance.loan.first_payment_month > frame.planned_ready.max()


def test_the_loan_of_the_start_up_outlives_its_contract_and_a_put_covers_the_rest():
    deal = deal_of("startup-1024-h100")
    frame = setting(deal)
    assert horizon(deal) > frame.planned_ready.max() + frame.term_months
    put = deal.backstop
    assert isinstance(put, UnsoldHoursPut)
    assert (put.covers, put.starts, put.expires) == ("out_of_contract", "rfs_all", None)


# Worked by hand in examples/README.md. [USD a month]
MONTHLY_FEE = {
    "gb300-prepaid-hyperscaler": 161_666_651.52,
    "guaranteed-lease": 30_834_000.00,
    "ninety-day-exit": 920_000_000.00,
    "startup-1024-h100": 1_868_800.00,  # of a month of 730 hours
}


@pytest.mark.parametrize("name", NAMES)
def test_the_fee_of_a_month_is_the_one_worked_by_hand(name: str):
    deal = deal_of(name)
    frame: Setting = setting(deal)
    fee = frame.fees.sum(axis=0)
    assert deal.commercial is not None
    if next(iter(deal.commercial.charges.values())).price.per == "gpu_hour":
        fee = fee / frame.timeline.hours * 730
    assert fee == pytest.approx(MONTHLY_FEE[name], abs=0.01)


# (D - R (1+i)^-n) i / (1 - (1+i)^-n), R what the payments leave. [USD a month]
LEVEL_PAYMENT = {"guaranteed-lease": 17_837_630, "ninety-day-exit": 432_914_000}


@pytest.mark.parametrize(("name", "payment"), LEVEL_PAYMENT.items())
def test_the_level_payment_of_a_loan_is_the_one_worked_by_hand(name: str, payment: float):
    finance = deal_of(name).finance
    assert finance
    assert finance.loan
    rate, n, left = float(finance.loan.annual_rate) / 12, finance.loan.payments, float(finance.loan.balloon or 0)
    level = (float(finance.loan.amount) - left * (1 + rate) ** -n) * rate / (1 - (1 + rate) ** -n)
    assert level == pytest.approx(payment, rel=2e-5)


# Payments that follow the cash: the share of it that repays the loan, as cover. [1]
LEVEL_COVER = {"gb300-prepaid-hyperscaler": 1.304, "startup-1024-h100": 1.435}


@pytest.mark.parametrize(("name", "expected"), LEVEL_COVER.items())
def test_a_sculpted_loan_has_the_same_cover_in_every_month_and_is_repaid(name: str, expected: float):
    model = Model.of(deal_of(name))
    base, finances = model.base(), model.risks["finance"]
    assert isinstance(finances, Finances)
    assert finances.plan is not None
    due = finances.service > 0
    assert base.monthly["cfads"][0, due] / finances.service[due] == pytest.approx(expected, abs=0.001)
    assert finances.plan.closing[-1] == pytest.approx(0, abs=1)


def test_level_payments_would_miss_the_floor_on_cover_of_the_prepaid_deal():
    data = deal_of("gb300-prepaid-hyperscaler").model_dump(mode="python", exclude_unset=True)
    loan = data["finance"]["loan"]
    loan["profile"] = "annuity"
    del loan["target_dscr"]
    deal = Deal.model_validate(data)
    base = Model.of(deal).base()
    level = 3.65e9 * 0.005 / (1 - 1.005**-54)
    assert level == pytest.approx(77.3e6, rel=1e-3)
    assert base.monthly["cfads"][0, -1] / level == pytest.approx(0.975, abs=0.001)


def test_interest_and_commitment_fee_before_the_first_payment_are_those_worked_by_hand():
    finances = Model.of(deal_of("gb300-prepaid-hyperscaler")).risks["finance"]
    assert isinstance(finances, Finances)
    assert finances.plan is not None
    interest = 0.005 * (2_100e6 * 9 + 387.5e6 * (6 + 5 + 4 + 3))
    fee = 0.004 / 12 * (1_550e6 * 3 + 1_162.5e6 + 775e6 + 387.5e6)
    assert finances.plan.interest_during_construction == pytest.approx(interest)
    assert finances.plan.commitment_fee == pytest.approx(fee)


def test_power_costs_what_it_did_as_one_figure():
    # 142 kW for 72 GPUs, a tenth more for network and storage, PUE and price: 0.13 and 0.19 a GPU-hour
    for name, cost in (("gb300-prepaid-hyperscaler", 0.13), ("ninety-day-exit", 0.19)):
        power = deal_of(name).power
        assert power
        assert power.kw_per_gpu
        assert float(power.kw_per_gpu) == pytest.approx(142 / 72 * 1.1, rel=1e-3)
        hourly = power.kw_per_gpu * power.pue * power.price_per_mwh / 1000
        assert float(hourly) == pytest.approx(cost, abs=0.001)


def test_running_the_start_up_costs_what_the_colocation_quote_says():
    cost = running_cost(setting(deal_of("startup-1024-h100")))
    hall_and_power = cost.site_rent[0] + cost.power[0] * 730
    assert hall_and_power / 1.275 == pytest.approx(180, abs=0.5)  # USD a kW-month, all in
    assert cost.cash_cost[0] * 1024 * 730 + 21_000 == pytest.approx(325_000, rel=1e-3)


def test_the_floor_of_the_put_pays_for_hall_and_debt_once_the_contract_is_over():
    deal = deal_of("startup-1024-h100")
    model = Model.of(deal)
    base, finances = model.base(), model.risks["finance"]
    assert isinstance(finances, Finances)
    assert isinstance(deal.backstop, UnsoldHoursPut)
    floor = float(deal.backstop.floor_rent * deal.backstop.floor_fraction) * 1024 * 730
    after = slice(int(setting(deal).planned_ready[0]) + 12, None)
    empty = base.monthly["operating_costs"][0, after].min()
    assert floor - empty > finances.service[after].max()


def test_the_prepaid_deal_is_the_public_contract_price():
    # USD 9.7 billion over five years for the compute trays of about 76,000 GPUs, at about 2.91 a GPU-hour
    deal = deal_of("gb300-prepaid-hyperscaler")
    frame = setting(deal)
    assert frame.fees[:, 0].sum() * 60 == pytest.approx(9.7e9, rel=1e-6)
    assert frame.gpus.sum() == 76_032
    assert frame.fees[:, 0].sum() / 76_032 / 730 == pytest.approx(2.913, abs=0.001)


def test_six_of_thirty_three_months_are_firm_under_the_ninety_day_exit():
    # notice from 1 January 2027, 90 days: October 2026 to March 2027, USD 5.5 billion of 30.4
    deal = deal_of("ninety-day-exit")
    assert deal.commercial
    assert deal.cancellation.convenience
    leave = deal.cancellation.convenience
    assert isinstance(leave.first_exercise, date)
    assert leave.notice.days is not None
    ends = leave.first_exercise + timedelta(days=leave.notice.days)
    assert (ends.year, ends.month, ends.day) == (2027, 4, 1)
    assert deal.commercial.term.months == 33
    assert 33 * 920_000_000 == 30_360_000_000


def test_the_guarantee_is_above_the_debt_once_rent_runs_and_nothing_before():
    deal = deal_of("guaranteed-lease")
    assert isinstance(deal.backstop, PaymentGuarantee)
    assert deal.backstop.amount
    assert deal.backstop.amortisation_months
    assert deal.finance
    assert deal.finance.loan
    assert deal.backstop.starts == "rfs_each_tranche"
    assert set(deal.backstop.triggers) == {"payment_default", "insolvency"}
    loan, rate = deal.finance.loan, float(deal.finance.loan.annual_rate) / 12
    start = setting(deal).planned_ready.min()  # the earliest from which it falls
    balance = float(loan.amount)
    for month in range(loan.first_payment_month, loan.first_payment_month + loan.payments):
        balance = balance * (1 + rate) - LEVEL_PAYMENT["guaranteed-lease"]  # before anything is swept
        cover = float(deal.backstop.amount) * (1 - (month - start) / deal.backstop.amortisation_months)
        assert cover > balance
    assert balance == pytest.approx(1e9, rel=1e-6)


# The engine's base case against the sums of examples/README.md: lowest cover and its month, equity in USD.
BASE_CASE = {
    "gb300-prepaid-hyperscaler": (1.304, 1_031_000_000),
    "guaranteed-lease": (1.341, 715_900_000),
    "ninety-day-exit": (1.609, 5_567_300_000),
    "startup-1024-h100": (1.435, 11_920_000),
}


@pytest.fixture(scope="module", params=NAMES)
def scored(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """Return one example with its score of a few draws."""
    return request.param, score(deal_of(request.param), draws=2_000)


def test_the_base_case_is_the_one_worked_by_hand(scored: tuple[str, dict[str, Any]]):
    name, found = scored
    cover, equity = BASE_CASE[name]
    assert found["dscr"]["base_minimum"] == pytest.approx(cover, abs=0.001)
    money = found["sources_and_uses"]
    assert money["equity"] == pytest.approx(equity, rel=1e-3)
    assert money["loan"] + money["prepayment"] + money["equity"] == pytest.approx(money["uses"])


def test_a_score_is_one_a_lender_could_believe(scored: tuple[str, dict[str, Any]]):
    _, found = scored
    default, cover = found["default"], found["dscr"]
    assert 0.002 < default["pd_term"] < 0.6
    assert default["lgd"] < 0.6
    assert 1.0 < cover["base_minimum"] <= cover["base_average"] < 2.0
    assert cover["base_minimum"] > cover["covenant"]
    assert 0.0001 < found["credits"]["expected_share_of_fees"] < 0.02
    for tranche in found["delivery"]["tranches"]:
        assert 0.25 < tranche["probability_late"] < 0.45
        assert tranche["mean_delay_up_to_long_stop_months"] < 2


def test_a_score_holds_no_figure_that_is_not_a_number(scored: tuple[str, dict[str, Any]]):
    _, found = scored
    assert json.dumps(found, allow_nan=False)


def test_the_scores_of_the_readme_are_those_of_the_files(scored: tuple[str, dict[str, Any]]):
    name, found = scored
    row = next(line for line in README.splitlines() if line.startswith(f"| `{name}` |"))
    step, pd, loss, cover = (cell.strip() for cell in row.split("|")[2:6])
    default = found["default"]
    assert re.fullmatch(r"S\d+", step)
    error, loss_error = default["pd_term_standard_error"], default["expected_loss_bp_standard_error"]
    assert default["pd_term"] == pytest.approx(float(pd.removesuffix(" %")) / 100, abs=5 * error)
    assert default["expected_loss_bp"] == pytest.approx(float(loss), abs=5 * loss_error)
    assert found["dscr"]["base_minimum"] == pytest.approx(float(cover), abs=0.01)


def test_the_customer_of_every_example_may_fail_and_capacity_is_let_again(scored: tuple[str, dict[str, Any]]):
    _, found = scored
    assert found["counterparties"]["customer"]["hazard_per_year"] > 0
    assert found["reletting"]["expected_income"] > 0
    assert not [
        words for words in found["ignored"] if "the customer always pays" in words or "nothing is let again" in words
    ]


def test_one_example_carries_a_lease_guarantee_and_one_a_cover_of_capacity():
    shapes = {name: cover.shape for name in NAMES if (cover := deal_of(name).backstop) is not None}
    assert shapes == {"guaranteed-lease": "payment_guarantee", "startup-1024-h100": "unsold_hours_put"}


def test_a_tenant_that_fails_before_rent_starts_is_what_the_guarantee_does_not_answer_for():
    found = score(deal_of("guaranteed-lease"), draws=4_000)
    assert found["backstop"]["expected_not_paid"]["not_started"] > 10e6
    assert found["backstop"]["expected_paid"] > 50e6
    assert found["default"]["by_cause"]["customer_default"]["expected_loss_bp"] > 100
    assert (
        found["cancellation"]["by_cause"]["customer_default"]
        > 3 * found["default"]["by_cause"]["customer_default"]["pd"]
    )


def test_the_notice_right_is_what_ends_the_ninety_day_deal():
    found = score(deal_of("ninety-day-exit"), draws=2_000)
    exits = found["cancellation"]
    assert exits["by_cause"]["convenience"] > 0.9 * exits["probability"] > 0.5
    assert exits["effective_firm_months"] == pytest.approx(6, abs=0.05)


def test_the_hall_of_the_start_up_is_worth_most_as_it_is():
    found = choices(deal_of("startup-1024-h100"))
    assert found["best"] == "keep"
    assert found["options"]["retrofit"]["units"] == 11
    assert {name: round(option["npv"] / 1e6) for name, option in found["options"].items()} == {
        "keep": 46,
        "repurpose": 45,
        "retrofit": 35,
        "sell": 17,
    }
    assert found["equal_contract_rent"] == pytest.approx(5.14, abs=0.01)


def test_counsel_finds_nothing_that_blocks_signing(example: LoadedDeal):
    assert [f.id for f in lint(example.deal, "lawyer") if f.severity == "error"] == []


@pytest.mark.parametrize(
    ("name", "trap"),
    [
        ("gb300-prepaid-hyperscaler", "trap-14-credit-headroom"),
        ("ninety-day-exit", "trap-18-notice-against-debt"),
        ("guaranteed-lease", "trap-19-backstop-gaps"),
        ("startup-1024-h100", "debt-beyond-term"),
        ("startup-1024-h100", "cover-conditions"),
    ],
)
def test_the_lender_is_told_what_is_wrong_with_the_deal(name: str, trap: str):
    assert trap in {finding.id for finding in lint(deal_of(name), "lender")}


def test_the_check_for_sources_agrees(example: LoadedDeal):
    assert list(numbers_without_source(example.deal)) == []
