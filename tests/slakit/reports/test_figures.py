"""Numbers as they are written: right side of thresholds, no digit finer than its error, nothing that is not finite."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from schemas.money import Money
from slakit.reports import figures
from slakit.reports.rounding import MINUS, NBSP

SHARES = st.fractions(min_value=0, max_value=1, max_denominator=10**7)
THRESHOLDS = st.sampled_from(
    [Fraction("0.9"), Fraction("0.95"), Fraction("0.99"), Fraction("0.999"), Fraction("0.9999")]
)
AMOUNTS = st.floats(min_value=1e-3, max_value=1e14)


def read(text: str) -> Fraction:
    """Return the first number of a text."""
    match = re.search(r"[−]?[\d,]+(?:\.\d+)?", text)
    assert match, text
    return Fraction(match[0].replace(",", "").replace(MINUS, "-"))


@given(SHARES, THRESHOLDS)
def test_an_availability_is_printed_on_its_own_side_of_the_threshold(share: Fraction, threshold: Fraction):
    shown = read(figures.availability(share, threshold)) / 100
    assert (shown < threshold) == (share < threshold)
    assert (shown > threshold) == (share > threshold)


@given(SHARES)
def test_an_availability_has_at_least_four_decimals_and_is_right_to_the_last(share: Fraction):
    text = figures.availability(share)
    decimals = len(text.removesuffix("%").split(".")[1])
    assert decimals >= 4
    assert abs(read(text) - 100 * share) <= Fraction(1, 2 * 10**decimals)


def test_an_availability_of_one_minute_in_a_band_is_not_rounded_out_of_it():
    # 447 of 44,640 minutes down: 98.998 655...%, below 99%
    assert figures.availability(Fraction(44_640 - 447, 44_640), threshold=Fraction("0.99")) == "98.9987%"
    assert figures.availability(Fraction(44_640 - 446, 44_640), threshold=Fraction("0.99")) == "99.0009%"


@given(st.floats(min_value=0.5, max_value=2.0), st.sampled_from([1.0, 1.05, 1.2, 1.25]))
def test_a_ratio_is_printed_on_its_own_side_of_the_covenant(ratio: float, covenant: float):
    shown = float(read(figures.ratio(ratio, covenant)))
    assert (shown < covenant) == (ratio < covenant)


@given(st.floats(min_value=1e-12, max_value=1, exclude_max=True))
def test_what_happened_is_never_printed_as_nothing_and_what_failed_once_never_as_certain(share: float):
    text = figures.percent(share)
    assert text not in ("0%", "0.0%", "0.00%", "100%", "100.0%", "100.00%")


@given(AMOUNTS, st.floats(min_value=1e-3, max_value=0.5))
def test_an_estimate_has_no_digit_finer_than_its_error_and_three_at_most(amount: float, relative: float):
    error = amount * relative
    value, shown_error = figures.estimate_money(amount, "USD", error)
    assert abs(float(read(value)) - amount) <= 0.5 * 10 ** (math.floor(math.log10(amount)) - 2) + 0.5 * error
    digits = re.sub(r"\D", "", value).strip("0")
    assert len(digits) <= 3
    assert float(read(shown_error)) > 0


@pytest.mark.parametrize(
    ("amount", "error", "printed"),
    [
        (214_321, 8_800, "USD 214,000 ± 9,000"),
        (1_900_000, 96_000, "USD 1,900,000 ± 100,000"),
        (283.4, 13.3, "USD 283 ± 13"),
        (0, None, "USD 0"),
        (0.42, None, "USD 0.42"),
        (-5_123, 40, f"USD {MINUS}5,120 ± 40"),
    ],
)
def test_estimated_money_as_the_table_of_numbers_says(amount: float, error: float | None, printed: str):
    assert figures.money_estimate(amount, "USD", error).replace(NBSP, " ") == printed


def test_money_owed_shows_every_cent_and_a_true_minus():
    assert figures.money_owed(Money(Decimal("1E+3"), "USD")) == f"USD{NBSP}1,000.00"
    assert figures.money_owed(Money(Decimal("-0.005"), "KWD")) == f"KWD{NBSP}{MINUS}0.005"
    assert figures.money_owed(Money(Decimal(5000), "JPY")) == f"JPY{NBSP}5,000"


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize(
    "write",
    [
        figures.percent,
        figures.ratio,
        figures.basis_points,
        figures.availability,
        figures.months,
        figures.millions,
        lambda x: figures.money_estimate(x, "USD"),
        lambda x: figures.money_in_words(x, "USD"),
    ],
)
def test_what_is_not_finite_is_refused(write, number: float):
    with pytest.raises(ValueError, match="cannot be printed as a number"):
        write(number)


def test_what_is_undefined_is_a_dash_with_its_reason():
    assert figures.percent(None) == figures.ratio(None) == figures.basis_points(None) == figures.hours(None) == "–"
    assert figures.undefined("no_debt_service") == "– (no debt service)"


def test_a_negative_number_has_no_hyphen():
    for text in (figures.percentage_points(-0.019), figures.basis_points_change(-58), figures.ratio(-0.25)):
        assert "-" not in text
        assert MINUS in text


def test_a_rounded_zero_carries_no_sign():
    assert figures.ratio(-0.0001) == "0.00x"


@given(st.floats(min_value=0, max_value=1))
def test_an_upper_bound_is_never_rounded_down(bound: float):
    assert float(read(figures.at_most(bound))) / 100 >= bound - 1e-12
