"""Every check and every abstract says something true, or nothing, about a credit of any shape."""

from typing import Any

import pytest

from schemas.credit_shapes import CreditShape
from schemas.deal import Deal
from schemas.service_levels import ServiceLevel
from slakit.checks.fees import services, worst_month_paid
from slakit.checks.lint import lint
from slakit.documents.credit_words import credit_in_words

SHAPES: dict[str, tuple[dict[str, Any], str]] = {
    "linear": (
        {"shape": "linear", "slope": 2, "cap": "0.4"},
        "2 times the shortfall below the target, at most 40% of the fee",
    ),
    "steps": (
        {"shape": "steps", "step": "0.01", "credit_fraction": "0.02"},
        "2% of the fee for each started step of 1 point below the target, at most 100%",
    ),
    "duration_table": (
        {
            "shape": "duration_table",
            "rows": [
                {"from_minutes": 0, "credit_hours": 12},
                {"from_minutes": 9, "unstated": "no row covers 9 minutes"},
                {"from_minutes": 10, "credit_hours": 24},
            ],
        },
        "12 to 24 hours of price by the length of each outage; what other lengths earn is not stated",
    ),
    "multiple_of_price": (
        {"shape": "multiple_of_price", "multiple": 10, "least": 5},
        "10 times the price of the downtime, at least USD 5.00",
    ),
    "per_breach": (
        {"shape": "per_breach", "credit_fraction": "0.1", "at_risk": "0.3"},
        "10% of the fee for each outage, at most 30%",
    ),
    "hour_waiver": (
        {"shape": "hour_waiver", "minutes_in_clock_hour": 6},
        "the price of each clock hour with more than 6 minutes of downtime",
    ),
    "onset_plus_hourly": (
        {"shape": "onset_plus_hourly", "onset": "0.03", "hourly": "0.03", "free_minutes": 15},
        "for each outage, 3% of the fee at its onset and 3% for each completed 60 minutes after 15 minutes, at most "
        "100%",
    ),
    "term_extension": (
        {"shape": "term_extension", "rows": [{"below": "0.98", "days": 1}, {"below": "0.95", "days": 5}]},
        "1 to 5 days added to the term, no money",
    ),
    "unstated": ({"shape": "unstated", "reason": "the page is missing"}, "not stated"),
}


def deal(credit: dict[str, Any], level: str = "site", target: str | None = "0.99", cap: str | None = "0.30") -> Deal:
    """Return one service at 1,000,000 a month with one level; open exclusions, so that many checks speak."""
    caps = {} if cap is None else {"month": cap}
    more = {"nodes_needed_share": "0"} if level == "cluster" else {}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "clusters": {"c": {"hardware": "gb300_nvl72", "units": {"gpu": 720, "node": 180, "rack": 10}}},
            "services": {"compute": {"tranches": ["t"]}},
            "delivery": {"tranches": {"t": {"cluster": "c", "ready_for_service_date": "2027-01-01"}}},
            "service_levels": {
                "x": {"level": level, "credit": credit, **({"target": target} if target else {}), **more}
            },
            "credits": {"caps": caps},
            "commercial": {
                "currency": "USD",
                "charges": {"compute": {"price": {"per": "lump_month", "amount": "1000000"}}},
                "term": {"months": 36},
            },
        }
    )


def said(terms: Deal, start: str) -> list[str]:
    """Return the sentences of the findings whose id starts so."""
    return [finding.message for finding in lint(terms) if finding.id.startswith(start)]


@pytest.mark.parametrize("shape", list(SHAPES))
def test_the_words_of_a_credit(shape):
    credit, words = SHAPES[shape]
    level = ServiceLevel.model_validate({"level": "site", "target": "0.99", "credit": credit})
    parsed: CreditShape = level.credit
    assert credit_in_words(parsed, "USD").replace("\u00a0", " ") == words


@pytest.mark.parametrize("level", ["site", "node", "cluster"])
@pytest.mark.parametrize("shape", list(SHAPES))
def test_no_check_trips_over_a_shape(shape, level):
    targets: tuple[str | None, ...] = ("0.99",) if shape in ("linear", "steps") else ("0.99", None)
    for target in targets:
        for cap in ("0.30", None):
            found = lint(deal(SHAPES[shape][0], level, target, cap))
            assert found
            assert not any("None" in finding.message for finding in found)


@pytest.mark.parametrize(
    ("shape", "worst"),
    [
        ("linear", "400000.00"),
        ("steps", "1000000.00"),
        ("per_breach", "300000.00"),
        ("multiple_of_price", "1000000.00"),  # ten times, cut at the cap of the unit
        ("term_extension", "0.00"),
    ],
)
def test_the_worst_month_of_each_shape(shape, worst):
    found = worst_month_paid(deal(SHAPES[shape][0], cap=None))
    assert found is not None
    assert str(found.amount) == worst


def test_the_worst_month_is_unknown_where_nothing_says_what_a_miss_pays():
    terms = deal(SHAPES["unstated"][0], cap=None)
    assert [view.worst_month() for view in services(terms)] == [None]
    assert any("every month may cost the most that its levels pay" in words for words in said(terms, "trap-13"))


def test_a_table_with_a_stretch_that_no_one_can_price_is_a_gap():
    (words,) = said(deal(SHAPES["duration_table"][0]), "trap-08")
    assert words.startswith("For a downtime of 9 minutes or more and less than 10 the table gives no credit")
    (words,) = said(deal(SHAPES["unstated"][0]), "trap-08")
    assert "nothing says what a miss of it pays" in words
    (words,) = said(deal(SHAPES["term_extension"][0]), "trap-08")
    assert words.startswith("From 98% up to the target of 99% the promise is broken and the table adds nothing")
    assert said(deal(SHAPES["linear"][0]), "trap-08") == []


def test_a_credit_that_the_cap_of_the_month_cuts_is_named():
    words = [w for w in said(deal(SHAPES["linear"][0]), "trap-13") if "goes up to" in w]
    assert words == ["The credit goes up to 40% of the fee, but the month's cap stops at 30%."]
    assert not [w for w in said(deal(SHAPES["per_breach"][0]), "trap-13") if "goes up to" in w]


def test_a_level_without_a_target_is_no_target_that_maintenance_still_meets():
    words = said(deal(SHAPES["per_breach"][0], target=None), "trap-10")
    assert any("could exclude a whole month and owe nothing for it" in sentence for sentence in words)
    words = said(deal(SHAPES["per_breach"][0], level="cluster", target=None), "trap-02")
    assert words
    assert words[0].startswith("The level for the cluster is missed only if all 180 nodes are down")
