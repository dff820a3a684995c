"""Units of a contract with the monthly fee of each."""

import re
from decimal import Decimal

import pytest

from schemas.errors import DealError, MissingTermError
from slakit.load import load_deal
from slakit.statements.host_lists import expanded
from slakit.statements.units import contracted_units


@pytest.fixture
def units(files):
    """Return a function that gives the contracted units of a deal, by id."""

    def of(text):
        return {unit.unit_id: unit for unit in contracted_units(load_deal(files(deal_yaml=text)["deal_yaml"]).deal)}

    return of


def priced(deal, per, amount):
    return deal.replace('{per: node_month, amount: "20000"}', f'{{per: {per}, amount: "{amount}"}}')


def test_a_price_for_each_node_is_the_fee_of_each_node(units, ridge):
    found = units(ridge)
    assert len(found) == 12
    assert {unit.monthly_fee for unit in found.values()} == {Decimal(20000)}
    assert {unit.parent_id for unit in found.values()} == {"ridge"}


def test_one_sum_for_the_service_is_shared_equally(units, ridge):
    found = units(priced(ridge, "lump_month", "100000"))
    # 100,000 / 12 = 8,333.33…, kept to a millionth
    assert {unit.monthly_fee for unit in found.values()} == {Decimal("8333.333333")}


def test_a_typed_fee_goes_before_the_shared_one(units, ridge):
    found = units(ridge.replace("parent: ridge,", 'parent: ridge, monthly_fee: "123.45",'))
    assert {unit.monthly_fee for unit in found.values()} == {Decimal("123.45")}


def test_spares_have_no_fee_and_take_no_share(units, ridge):
    spare = '\n    - {names: "s[1-3]", level: node, parent: ridge, spare: true}'
    found = units(
        priced(ridge, "lump_month", "120000").replace(
            'units: [{names: "n[01-12]", level: node, parent: ridge, log_names: ["{}.ridge.example"]}]',
            'units:\n    - {names: "n[01-12]", level: node, parent: ridge}' + spare,
        )
    )
    assert {found[name].monthly_fee for name in ("s1", "s2", "s3")} == {Decimal(0)}
    assert found["n01"].monthly_fee == Decimal(10000)
    assert [found[name].spare for name in ("s1", "n01")] == [True, False]


TWO = """\
schema_version: 1
title: Ridge order 3
services: {training: {tranches: [first]}, serving: {tranches: [second]}}
clusters: {ridge: {units: {gpu: 64, node: 8}}, crest: {units: {gpu: 32, node: 4}}}
delivery:
  tranches:
    first: {cluster: ridge, ready_for_service_date: 2026-01-12}
    second: {cluster: crest, ready_for_service_date: 2026-03-01}
service_levels:
  nodes: {level: node, target: "0.99", credit: {bands: [{below: "0.99", credit_fraction: "0.1"}]}}
commercial:
  currency: USD
  charges:
    training: {price: {per: node_month, amount: "20000"}}
    serving: {price: {per: lump_month, amount: "40000"}}
  term: {months: 36}
operations:
  units:
    - {names: "t[1-8]", level: node, service: training}
    - {names: "s[1-4]", level: node, service: serving}
"""


def test_each_of_two_services_shares_its_own_fee(units):
    found = units(TWO)
    assert found["t8"].monthly_fee == Decimal(20000)
    assert found["s1"].monthly_fee == Decimal(10000)
    assert found["t1"].in_service_from.date().isoformat() == "2026-01-12"
    assert found["s1"].in_service_from.date().isoformat() == "2026-03-01"


def test_units_of_a_deal_with_two_services_must_name_theirs(units):
    with pytest.raises(MissingTermError, match=r"operations\.units\.service"):
        units(TWO.replace("level: node, service: training", "level: node"))


def test_a_level_of_the_cluster_makes_a_unit_of_each_cluster_with_the_whole_fee(units, ridge):
    found = units(ridge.replace("    level: node\n", '    level: cluster\n    nodes_needed_share: "0.9"\n', 1))
    assert found["ridge"].level == "cluster"
    assert found["ridge"].monthly_fee == Decimal(240000)


def test_a_name_in_two_entries_is_refused(units, ridge):
    twice = ridge.replace("units: [{", 'units: [{names: "n03", level: node}, {')
    with pytest.raises(DealError, match="'n03', which entry 0 names too"):
        units(twice)


def test_a_fee_that_no_term_gives_is_asked_for(units, ridge):
    with pytest.raises(MissingTermError, match=r"operations\.units\.monthly_fee"):
        units(ridge[: ridge.index("commercial:")] + ridge[ridge.index("operations:") :])


def test_a_price_by_the_hour_is_shared_by_the_hour(units, ridge):
    gpus = int(re.search(r"gpu: (\d+)", ridge)[1])
    hourly = Decimal("2.5") * gpus / 12
    for unit in units(priced(ridge, "gpu_hour", "2.5")).values():
        assert (unit.accrues_by_hour, unit.hourly_price) == (True, hourly)
        assert unit.monthly_fee == hourly * 730


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ("a",)),
        ("gpu[08-10,12], login-1", ("gpu08", "gpu09", "gpu10", "gpu12", "login-1")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("a a b", ("a", "b")),
    ],
)
def test_a_list_of_hosts_stands_for_its_names(text, names):
    assert expanded(text) == names


@pytest.mark.parametrize("text", ["n[1-", "n]1[", "n[2-1]", "n[a-b]", "n[1-999999999]", "n[[1]]", "[1-999][1-999]"])
def test_a_list_of_hosts_that_is_wrong_or_endless_is_refused(units, ridge, text):
    with pytest.raises(DealError, match=r"operations\.units\.names"):
        units(ridge.replace("n[01-12]", text))
