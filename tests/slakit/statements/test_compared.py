"""Two sides' logs on the same terms, and every minute on which they differ."""

from decimal import Decimal
from fractions import Fraction

import pytest

from slakit.load import load_deal
from slakit.reports.clauses import Clauses
from slakit.reports.credit_statement.statement import html
from slakit.statements.compared import against
from slakit.statements.credits import stated
from slakit.statements.gather import Sources
from slakit.statements.importers.form import Options

HEAD = "unit_id,started_at,ended_at,cause,cause_party\n"
OURS = HEAD + (
    "n02,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider\n"
    "n07,2026-10-20T01:00Z,2026-10-20T07:45Z,power,provider\n"
    "n08,2026-10-20T01:00Z,2026-10-20T07:45Z,power,provider\n"
    "n09,2026-10-21T01:00Z,2026-10-21T01:20Z,nic,provider\n"
)
THEIRS = HEAD + (
    "n02,2026-10-03T07:14Z,2026-10-03T12:41Z,xid 79,provider\n"
    "n07,2026-10-20T01:30Z,2026-10-20T08:00Z,power,provider\n"
    "n09,2026-10-21T01:00Z,2026-10-21T01:20Z,nic,provider\n"
    "n11,2026-10-22T01:00Z,2026-10-22T02:00Z,nic,provider\n"
)


@pytest.fixture(scope="module")
def sides(files, ridge):
    """Return a function that states one log and compares it with another."""

    def of(ours, theirs):
        written = files(deal_yaml=ridge, ours_csv=ours, theirs_csv=theirs)
        loaded = load_deal(written["deal_yaml"])
        mine = stated(loaded, Sources((written["ours_csv"],)), Options(), periods="2026-10", clauses=Clauses({}))
        other = against(mine, loaded, Sources((written["theirs_csv"],)), Options())
        return mine, other

    return of


@pytest.fixture(scope="module")
def found(sides):
    return sides(OURS, THEIRS)


@pytest.fixture(scope="module")
def turned(sides):
    return sides(THEIRS, OURS)


def by_side(rows, side, unit=None):
    return sum(Fraction(row["minutes"]) for row in rows if row["counted_by"] == side and unit in (None, row["unit"]))


def test_the_stretches_add_up_to_the_difference_of_counted_minutes(found):
    ours, other = found
    rows = ours.document["against"]["minutes"]
    for mine, theirs in zip(ours.document["periods"], other.document["periods"], strict=True):
        assert mine["unit"] == theirs["unit"]
        difference = Fraction(mine["counted_minutes"]) - Fraction(theirs["counted_minutes"])
        assert difference == by_side(rows, "this", mine["unit"]) - by_side(rows, "other", mine["unit"])


def test_each_stretch_is_the_one_worked_by_hand(found):
    rows = [(r["unit"], r["counted_by"], r["start"], r["minutes"]) for r in found[0].document["against"]["minutes"]]
    assert rows == [
        ("n02", "this", "2026-10-03T12:41:00Z", 120),
        ("n07", "this", "2026-10-20T01:00:00Z", 30),
        ("n07", "other", "2026-10-20T07:45:00Z", 15),
        ("n08", "this", "2026-10-20T01:00:00Z", 405),
        ("n11", "other", "2026-10-22T01:00:00Z", 60),
    ]


def test_each_stretch_names_the_lines_of_both_logs(found):
    rows = {(row["unit"], row["counted_by"]): row for row in found[0].document["against"]["minutes"]}
    assert rows["n02", "this"]["this_lines"] == ["ours.csv:2"]
    assert rows["n02", "this"]["other_lines"] == []
    assert rows["n11", "other"]["other_lines"] == ["theirs.csv:5"]


def test_the_two_sides_turned_round_differ_by_the_opposite(found, turned):
    one, other = found[0].document["against"], turned[0].document["against"]
    assert (one["total"], one["other_total"]) == (other["other_total"], other["total"])
    assert Decimal(one["difference"]["amount"]) == -Decimal(other["difference"]["amount"])
    swapped = {"this": "other", "other": "this"}
    facts = ("unit", "start", "end", "minutes")
    assert {(*(r[f] for f in facts), r["counted_by"]) for r in one["minutes"]} == {
        (*(r[f] for f in facts), swapped[r["counted_by"]]) for r in other["minutes"]
    }


def test_money_that_differs_adds_up_to_the_difference_of_the_totals(found):
    told = found[0].document["against"]
    assert sum(Decimal(line["difference"]["amount"]) for line in told["lines"]) == Decimal(told["difference"]["amount"])
    assert Decimal(told["total"]["amount"]) - Decimal(told["other_total"]["amount"]) == Decimal(
        told["difference"]["amount"]
    )
    assert {line["unit"] for line in told["lines"]} == {"n02", "n07", "n08", "n11"}


def test_a_log_does_not_differ_from_itself(sides):
    told = sides(OURS, OURS)[0].document["against"]
    assert (told["lines"], told["minutes"], Decimal(told["difference"]["amount"])) == ([], [], 0)


def test_the_counter_statement_is_printed_with_both_sums(found):
    page = html(found[0].deal, found[0].document).replace("\u00a0", " ")
    assert "Counter-statement" in page
    assert "3 Oct 2026, 07:41 to 09:41" in page  # 12:41 to 14:41 in UTC
    assert "Minutes on which the logs differ" in page
