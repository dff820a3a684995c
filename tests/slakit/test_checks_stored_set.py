"""The stored outages of the public record: whole, sourced, and the money that findings take from them."""

import csv
from decimal import Decimal
from typing import Any

import pytest

from schemas.deal import Deal
from schemas.money import Money
from slakit.checks.lint import lint
from slakit.checks.stored_set import STORED, TWO_CLOCKS, credits_on, moved, moved_words, of_two_clocks, stored
from slakit.paths import examples_dir
from slakit.statements.importers.find import imported
from slakit.statements.importers.form import Options

BANDS = [
    {"below": "0.9999", "credit_fraction": "0.10"},
    {"below": "0.99", "credit_fraction": "0.30"},
    {"below": "0.95", "credit_fraction": "1"},
]
"""The table of a published promise for a region."""
EDGE = [{"below": "0.999", "credit_fraction": "0.10"}, {"below": "0.98", "credit_fraction": "0.30"}]
"""872 minutes are 98.05% of 31 days and 97.98% of 30."""
OF_CREDITS = {
    "us-east-1-2025": 872,
    "us-east-1-2025-first-phase": 172,
    "us-east-1-2021-provider": 412,
    "us-east-1-2021-outside": 549,
    "europe-west9-a-2023": None,
    "australia-east-2023": 2759,
    "chi1-2025": 650,
}
"""Minutes from start to end: those of the worked credits W01 to W06, 2,359 in August and 400 in September for W05."""


def terms(bands: list[dict[str, str]] | None = None, fee: int | None = 1_000_000, **sections: Any) -> Deal:
    """Return one service at a lump fee a month, measured by the site."""
    data: dict[str, Any] = {
        "schema_version": 1,
        "services": {"compute": {"tranches": ["t"]}},
        "delivery": {"tranches": {"t": {"ready_for_service_date": "2027-01-01"}}},
        "measurement": {"zone": "UTC"},
        "service_levels": {"whole": {"level": "site", "target": "0.9999", "credit": {"bands": bands or BANDS}}},
        **sections,
    }
    if fee is not None:
        charges = {"compute": {"price": {"per": "lump_month", "amount": fee}}}
        data["commercial"] = {"currency": "USD", "charges": charges, "term": {"months": 24}}
    return Deal.model_validate(data)


def usd(amount: int) -> Money:
    return Money(Decimal(amount), "USD")


def finding_of(deal: Deal, trap: str) -> Any:
    return next(finding for finding in lint(deal, "customer") if finding.id.startswith(trap))


# --- the file -------------------------------------------------------------------------------------------------------


def test_every_row_is_read_and_none_is_skipped():
    found = imported(examples_dir() / STORED, Options())
    assert not found.skipped
    assert [incident.id for incident in found.incidents] == [incident.id for incident in stored()]
    assert {incident.id for incident in stored()} == OF_CREDITS.keys()
    assert set(TWO_CLOCKS) <= OF_CREDITS.keys()


def test_the_times_are_those_of_the_worked_credits():
    for incident in stored():
        minutes = OF_CREDITS[incident.id]
        if minutes is None:
            assert incident.ended_at is None
            continue
        assert incident.ended_at is not None
        assert (incident.ended_at - incident.started_at).total_seconds() == 60 * minutes


def test_each_row_says_where_it_is_from_and_what_is_from_memory():
    with (examples_dir() / STORED).open(encoding="utf-8", newline="") as file:
        rows = {row["id"]: row["evidence"] for row in csv.DictReader(file)}
    assert all(len(words) > 40 for words in rows.values())
    assert {name for name, words in rows.items() if "memory" not in words} == {"europe-west9-a-2023"}
    sources = (
        "published by the provider",
        "thousandeyes",
        "The Register",
        "global-roam",
        "ernestchiang",
        "siliconflash",
    )
    assert all(any(source in words for source in sources) for words in rows.values())
    assert all(incident.evidence for incident in stored())


# --- what findings take from it -------------------------------------------------------------------------------------


def test_two_clocks_of_one_day_pay_two_rows_of_a_table():
    assert of_two_clocks(terms()) == (usd(100_000), usd(300_000))


def test_a_provider_that_decides_alone_is_priced_by_the_two_clocks():
    finding = finding_of(terms(measurement={"zone": "UTC", "conflict": "provider"}), "trap-06-")
    assert finding.money == usd(200_000)
    assert "7 December 2021" in finding.message
    assert "100,000" in finding.message
    assert "300,000" in finding.message


def test_two_clocks_in_one_row_move_no_money():
    one_row = [{"below": "0.9999", "credit_fraction": "0.10"}]
    finding = finding_of(terms(one_row, measurement={"zone": "UTC", "conflict": "provider"}), "trap-06-")
    assert finding.money is None
    assert "2021" not in finding.message


def test_a_month_of_30_days_moves_the_outage_that_lies_at_an_edge():
    deal = terms(EDGE, measurement={"zone": "UTC", "month_length": "fixed_30"})
    assert moved(deal, {"measurement.month_length": "actual"}) == (1, usd(200_000))
    finding = finding_of(deal, "trap-09-")
    assert finding.money == usd(200_000)
    assert "one of the stored outages" in finding.message


def test_a_change_that_moves_nothing_is_said_to_move_nothing():
    one_row = [{"below": "0.9999", "credit_fraction": "0.10"}]
    deal = terms(one_row, measurement={"zone": "UTC", "month_length": "fixed_30"})
    assert moved(deal, {"measurement.month_length": "actual"}) is None
    assert moved_words(deal, {"measurement.month_length": "actual"}) == ("", None)


@pytest.mark.parametrize("name", OF_CREDITS)
def test_without_a_price_nothing_has_money(name: str):
    incident = next(one for one in stored() if one.id == name)
    assert credits_on(terms(fee=None), [incident]) is None
    assert credits_on(terms(), [incident]) is not None


def test_a_finding_without_a_price_has_words_and_no_money():
    deal = terms(fee=None, measurement={"zone": "UTC", "conflict": "provider", "month_length": "fixed_30"})
    assert of_two_clocks(deal) is None
    for trap in ("trap-06-", "trap-09-"):
        finding = finding_of(deal, trap)
        assert finding.money is None
        assert finding.message


@pytest.mark.parametrize(
    ("name", "credit"),
    [
        ("us-east-1-2025", 300_000),  # W01
        ("us-east-1-2025-first-phase", 100_000),  # W02a
        ("chi1-2025", 300_000),  # W06b
        ("australia-east-2023", 1_100_000),  # W05: all of August; 400 minutes of September are 99.07%
        ("europe-west9-a-2023", 1_000_000),  # W04a: open, so to the end of April
    ],
)
def test_each_stored_outage_pays_by_the_table(name: str, credit: int):
    assert credits_on(terms(), [next(one for one in stored() if one.id == name)]) == usd(credit)
