"""How a number is written: one function for each kind of number, used by page, chart, document and terminal.

Estimates are written with one standard error of the simulation and never with more digits than that error
has. What is undefined is a dash with its reason in words. A number that is not finite is refused: whoever
made it has to give a reason instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
from zoneinfo import ZoneInfo

from schemas.money import Money, minor_unit_places
from slakit.reports.rounding import (
    NBSP,
    PLUS_MINUS,
    Real,
    exact_finite,
    finite,
    finite_or_none,
    leading_place,
    on_the_right_side,
    plain,
    plus,
    rounded_with_error,
    rounds_to_an_end,
    signed,
    two_units,
)

UNDEFINED = "–"
JUDGEMENT = "†"

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
HOURS_PER_DAY = 24
HOURS_PER_YEAR = 8766


class Estimate(NamedTuple):
    """An estimated number and its standard error, written to the same digit."""

    value: str
    error: str = ""
    """With its sign, `± 0.2 pp`, or words that stand for it; empty when there is none."""

    def __str__(self) -> str:
        between = " " if self.error.startswith(PLUS_MINUS) else ", "
        return f"{self.value}{between}{self.error}" if self.error else self.value


def count(number: int) -> str:
    """Return a count, grouped.

    >>> count(100_000)
    '100,000'
    """
    return signed(f"{number:,d}")


def money_owed(money: Money) -> str:
    """Return money owed, to the minor unit.

    >>> print(money_owed(Money(Decimal("44997.12"), "USD")))
    USD 44,997.12
    """
    return f"{money.currency}{NBSP}{amount_owed(money.amount, money.currency)}"


def amount_owed(amount: Decimal, currency: str) -> str:
    """Return money owed without its currency, for a column that names it in its head.

    >>> amount_owed(Decimal("-6428.16"), "USD")
    '−6,428.16'
    """
    return signed(f"{amount:,.{minor_unit_places(currency)}f}")


def estimate_money(x: Real, currency: str, standard_error: Real | None = None) -> Estimate:
    """Return estimated money in three significant figures, fewer where the error is larger.

    >>> print(estimate_money(214_321, "USD", 8_800))
    USD 214,000 ± 9,000
    >>> print(estimate_money(214_321, "USD", 90))
    USD 214,000 ± 1,000
    """
    value, error = rounded_with_error(float(x), finite_or_none(standard_error), figures=3)
    return Estimate(f"{currency}{NBSP}{value}", error)


def money_estimate(x: Real | None, currency: str, standard_error: Real | None = None) -> str:
    """Return estimated money with its standard error, for tables and reports.

    >>> print(money_estimate(1_234_567, "EUR"), money_estimate(0, "EUR"), money_estimate(None, "EUR"))
    EUR 1,230,000 EUR 0 –
    """
    return UNDEFINED if x is None else str(estimate_money(x, currency, standard_error))


def money_agreed(amount: Decimal, currency: str) -> str:
    """Return agreed money exactly as typed.

    >>> print(money_agreed(Decimal("182000000"), "USD"), money_agreed(Decimal("2.250"), "USD"))
    USD 182,000,000 USD 2.25
    """
    return f"{currency}{NBSP}{agreed_number(amount)}"


def agreed_number(x: Real) -> str:
    """Return an agreed number exactly as typed, grouped.

    >>> agreed_number(Decimal("182000000")), agreed_number(Decimal("0.350")), agreed_number(Decimal("-0.1"))
    ('182,000,000', '0.35', '−0.1')
    """
    text = f"{Decimal(str(x)):,f}"
    return signed(text.rstrip("0").rstrip(".") if "." in text else text)


def money_in_words(x: Real, currency: str) -> str:
    """Return estimated money as a sentence says it.

    >>> print(money_in_words(1_234_000_000, "USD"), "|", money_in_words(-61_000_000, "USD"))
    USD 1.23 bn | USD −61 m
    >>> print(money_in_words(999_600, "USD"), "|", money_in_words(0.4, "USD"))
    USD 1,000,000 | USD 0.4
    """
    x = finite(x)
    for size, word in ((1e12, "tn"), (1e9, "bn"), (1e6, "m")):
        if abs(x) >= size:
            return f"{currency}{NBSP}{signed(f'{x / size:.3g}')}{NBSP}{word}"
    return f"{currency}{NBSP}{rounded_with_error(x, None, figures=3)[0]}"


def millions(x: Real, decimals: int | None = None) -> str:
    """Return money in millions for a column or an axis whose head says so, decimals alike in one column.

    >>> millions(1_204_300_000), millions(3_460_000), millions(3_460_000, 2), millions(0)
    ('1,204', '3.5', '3.46', '0')
    """
    x = finite(x) / 1e6
    if decimals is None:
        decimals = 0 if abs(x) >= 100 or x == round(x) else 1 if abs(x) >= 1 else 2
    return signed(f"{x:,.{decimals}f}")


def millions_alike(values: Iterable[Real | None]) -> list[str]:
    """Return money in millions for one column: decimals by its largest sum, what is undefined as a dash.

    >>> millions_alike([184_320_000, 7_875_000, None]), millions_alike([3_650_000_000, 1_000])
    (['184.3', '7.9', '–'], ['3,650', '0'])
    """
    found = list(values)
    largest = max((abs(finite(x)) for x in found if x is not None), default=0.0)
    decimals = 0 if largest >= 1e9 else 1 if largest >= 1e7 else 2
    return [UNDEFINED if x is None else millions(x, decimals) for x in found]


def price(x: Real, currency: str) -> str:
    """Return money for one GPU-hour.

    >>> print(price(2.25, "USD"), "|", price(1.4382, "USD"))
    USD 2.25 per GPU-hour | USD 1.438 per GPU-hour
    """
    return f"{currency}{NBSP}{per_unit(x)} per GPU-hour"


def per_unit(x: Real) -> str:
    """Return a price of a small unit in two decimals, a third where it says more.

    >>> per_unit(2.25), per_unit(1.4382), per_unit(0.0004), per_unit(-0.5)
    ('2.25', '1.438', '0.0004', '−0.50')
    """
    x = finite(x)
    written = f"{x:.3f}"
    if x and float(written) == 0:
        return signed(f"{x:.1g}")
    return signed(written.removesuffix("0"))


def per_unit_alike(values: Iterable[Real]) -> list[str]:
    """Return prices of a small unit for one column, all in three decimals.

    >>> per_unit_alike([1.585, 0.16])
    ['1.585', '0.160']
    """
    return [signed(f"{finite(x):.3f}") for x in values]


def availability(x: Real, threshold: Real | None = None) -> str:
    """Return an availability in four decimals, and more until it stands on the right side of its threshold.

    >>> availability(0.989987), availability(1)
    ('98.9987%', '100.0000%')
    >>> availability(0.98999999, threshold=0.99), availability(0.9999999999)
    ('98.999999%', '99.99999999%')
    """
    exact = Fraction(exact_finite(x))
    marks = [Fraction(1), *([] if threshold is None else [Fraction(exact_finite(threshold))])]
    return f"{on_the_right_side(100 * exact, [100 * mark for mark in marks], 4)}%"


def estimate_percent(x: Real, standard_error: Real | None = None) -> Estimate:
    """Return a probability or share and its standard error in percentage points.

    >>> print(estimate_percent(0.0683, 0.0021), "|", estimate_percent(0.31, 0.012))
    6.8% ± 0.2 pp | 31% ± 1 pp
    """
    x, error = finite(x), finite_or_none(standard_error)
    if error is None or error == 0:
        return Estimate(percent(x))
    place = min(leading_place(100 * error), 0)
    place = max(place, -2)
    step = 10.0**place
    shown = max(math.ceil(100 * error / step - 1e-9) if 100 * error < step else round(100 * error / step), 1)
    value = percent(x) if rounds_to_an_end(x, place) else f"{signed(f'{100 * x:.{-place}f}')}%"
    return Estimate(value, f"{PLUS_MINUS}{NBSP}{shown * step:.{-place}f}{NBSP}pp")


def percent(x: Real | None, standard_error: Real | None = None) -> str:
    """Return a probability or share: one decimal, two near nothing and near certainty.

    >>> percent(0.0683), percent(0.0004), percent(0.00002), percent(0), percent(1)
    ('6.8%', '0.04%', 'less than 0.01%', '0%', '100%')
    >>> percent(0.99991), percent(0.999999), percent(None)
    ('99.99%', 'more than 99.99%', '–')
    """
    if x is None:
        return UNDEFINED
    if standard_error is not None and float(standard_error) > 0:
        return str(estimate_percent(x, standard_error))
    x = finite(x)
    size = abs(x)
    if size in (0, 1):
        return signed(f"{100 * x:.0f}%")
    for decimals in (1, 2):
        written = f"{100 * size:.{decimals}f}"
        if 0 < float(written) < 100:
            return signed(f"{100 * x:.{decimals}f}%")
    return "less than 0.01%" if size < 0.5 else "more than 99.99%"


def loan_to_value(x: Real | None) -> str:
    """Return a loan as a share of a value, which may be more than all of it.

    >>> loan_to_value(0.914), loan_to_value(1.4061), loan_to_value(32.4), loan_to_value(4200.0), loan_to_value(None)
    ('91%', '141%', '3,240%', 'over 10,000%', '–')
    """
    if x is None:
        return UNDEFINED
    x = finite(x)
    return "over 10,000%" if x >= 100 else f"{100 * x:,.0f}%"


def at_most(bound: Real) -> str:
    """Return an upper bound of a probability, rounded up.

    >>> at_most(0.00075), at_most(0.003)
    ('at most 0.08% (95%)', 'at most 0.3% (95%)')
    """
    hundredths = math.ceil(10_000 * finite(bound) - 1e-9)
    return f"at most {plain(Decimal(hundredths) / 100)}% (95%)"


def percent_in_words(x: Real) -> str:
    """Return a share as a sentence says it: without decimals from ten percent on.

    >>> percent_in_words(0.1203), percent_in_words(0.0683)
    ('12%', '6.8%')
    """
    rounded = round(100 * finite(x))
    return f"{rounded}%" if 10 <= rounded <= 99 else percent(x)


def agreed_percent(x: Real) -> str:
    """Return an agreed share exactly as typed.

    >>> agreed_percent(Decimal("0.995")), agreed_percent(Decimal("0.1")), agreed_percent(Decimal("0.9999"))
    ('99.5%', '10%', '99.99%')
    """
    return f"{plain(Decimal(100) * Decimal(str(x)))}%"


def percentage_points(x: Real) -> str:
    """Return a difference of two percents, always signed.

    >>> print(percentage_points(-0.019), percentage_points(0.002))
    −1.9 pp +0.2 pp
    """
    return f"{signed(f'{100 * finite(x):+.1f}')}{NBSP}pp"


def percentage_points_moved(x: Real | None, standard_error: Real | None = None) -> str:
    """Return a difference of two percents with its paired error, always signed.

    >>> print(percentage_points_moved(-0.019, 0.002), "|", percentage_points_moved(0.157, 0.0082), "|",
    ...       percentage_points_moved(0), "|", percentage_points_moved(0.0004))
    −1.9 pp ± 0.2 | +15.7 pp ± 0.8 | 0 pp | +0.04 pp
    """
    if x is None:
        return UNDEFINED
    x, error = 100 * finite(x), finite_or_none(standard_error) or None
    value, shown = rounded_with_error(x, error and 100 * error, figures=3, finest=-2 if abs(x) < 0.1 else -1)
    return str(Estimate(f"{plus(value)}{NBSP}pp", shown))


def estimate_basis_points(x: Real, standard_error: Real | None = None) -> Estimate:
    """Return basis points; say elsewhere what they are of.

    >>> print(estimate_basis_points(211.3, 7.2), "|", estimate_basis_points(9.27, 0.21))
    211 bp ± 7 | 9.3 bp ± 0.2
    >>> print(estimate_basis_points(283.4, 13.3), "|", estimate_basis_points(0.95, 0.95))
    283 bp ± 13 | 0.9 bp ± 0.9
    >>> print(estimate_basis_points(0.004), "|", estimate_basis_points(2412, 31))
    less than 0.01 bp | 2,410 bp ± 30
    """
    x = finite(x)
    if 0 < x < 0.005:
        return Estimate(f"less than 0.01{NBSP}bp")
    value, error = rounded_with_error(
        x, finite_or_none(standard_error), figures=3, finest=-2 if abs(x) < 1 else -1 if abs(x) < 10 else 0
    )
    return Estimate(f"{value}{NBSP}bp", error)


def basis_points(x: Real | None, standard_error: Real | None = None) -> str:
    """Return basis points with their standard error.

    >>> print(basis_points(211.3, 7.2), basis_points(None))
    211 bp ± 7 –
    """
    return UNDEFINED if x is None else str(estimate_basis_points(x, standard_error))


def basis_points_moved(x: Real | None, standard_error: Real | None = None) -> str:
    """Return a change in basis points with its paired error, always signed.

    >>> print(basis_points_moved(-58.2, 3.4), "|", basis_points_moved(0.3, 0.04), "|", basis_points_moved(0), "|",
    ...       basis_points_moved(None))
    −58 bp ± 3 | +0.30 bp ± 0.04 | 0 bp | –
    """
    if x is None:
        return UNDEFINED
    x, error = finite(x), finite_or_none(standard_error) or None
    value, shown = rounded_with_error(x, error, figures=3, finest=-2 if abs(x) < 1 else -1 if abs(x) < 10 else 0)
    return str(Estimate(f"{plus(value)}{NBSP}bp", shown))


def basis_points_change(x: Real) -> str:
    """Return a change in basis points, always signed.

    >>> print(basis_points_change(12), basis_points_change(-58.2))
    +12 bp −58 bp
    """
    return f"{signed(f'{finite(x):+,.0f}')}{NBSP}bp"


def ratio(x: Real | None, threshold: Real | None = None) -> str:
    """Return a ratio in two decimals, and more until it stands on the right side of its threshold.

    >>> ratio(1.344), ratio(1.0496, threshold=1.05), ratio(None)
    ('1.34x', '1.0496x', '–')
    """
    if x is None:
        return UNDEFINED
    marks = [] if threshold is None else [Fraction(exact_finite(threshold))]
    return f"{on_the_right_side(Fraction(exact_finite(x)), marks, 2)}x"


def minutes(number: int) -> str:
    """Return contract minutes, whole and grouped.

    >>> print(minutes(44_640))
    44,640 min
    """
    return f"{count(number)}{NBSP}min"


def hours(x: Real | None) -> str:
    """Return a length of time given in hours, as people say it.

    >>> print(hours(6.75), "|", hours(0.42), "|", hours(4.0), "|", hours(76), "|", hours(149_000))
    6 h 45 min | 25 min | 4 h | 3 days 4 h | 17 years
    >>> print(hours(0), hours(0.001), hours(None), hours(float("inf")))
    0 less than 1 min – never
    """
    if x is None:
        return UNDEFINED
    if x == math.inf:
        return "never"
    x = finite(x)
    whole_minutes = round(60 * x)
    if whole_minutes == 0:
        return "0" if x == 0 else f"less than 1{NBSP}min"
    if whole_minutes < 60:
        return f"{whole_minutes}{NBSP}min"
    if x < 2 * HOURS_PER_DAY:
        return two_units(whole_minutes, 60, "h", "min")
    if x < 60 * HOURS_PER_DAY:
        days, rest = divmod(round(x), HOURS_PER_DAY)
        return f"{days}{NBSP}days" + (f" {rest}{NBSP}h" if rest else "")
    if x < HOURS_PER_YEAR:
        return f"{round(x / HOURS_PER_DAY)}{NBSP}days"
    years = x / HOURS_PER_YEAR
    return f"{years:.1f}{NBSP}years" if years < 10 else f"{count(round(years))}{NBSP}years"


def months(x: Real | None) -> str:
    """Return a length of time in months.

    >>> print(months(1), months(2.34), months(60), months(0), months(None))
    1 month 2.3 months 60 months 0 –
    """
    if x is None:
        return UNDEFINED
    x = finite(x)
    number = plain(Decimal(f"{x:.1f}"))
    return "0" if number == "0" else f"{number}{NBSP}month{'' if number == '1' else 's'}"


def per_year(x: Real | None) -> str:
    """Return a frequency a year, and as one event in so many years where it is rare.

    >>> print(per_year(3.24), "|", per_year(0.0588), "|", per_year(0), "|", per_year(1e-9))
    3.2 a year | one in 17 years | never | less than one in a million years
    """
    if x is None:
        return UNDEFINED
    x = finite(x)
    if x == 0:
        return "never"
    if x < 1e-6:
        return "less than one in a million years"
    return f"one in {rounded_with_error(1 / x, None, figures=2)[0]} years" if x < 0.5 else f"{x:.2g} a year"


def power(megawatts: Real) -> str:
    """Return electric power.

    >>> print(power(9.6), power(200))
    9.6 MW 200 MW
    """
    return f"{plain(Decimal(f'{finite(megawatts):.3g}'))}{NBSP}MW"


def density(kilowatts_per_rack: Real) -> str:
    """Return power density.

    >>> print(density(132))
    132 kW/rack
    """
    return f"{plain(Decimal(f'{finite(kilowatts_per_rack):.3g}'))}{NBSP}kW/rack"


def date_short(day: date) -> str:
    """Return a date as tables write it.

    >>> print(date_short(date(2026, 12, 15)))
    15 Dec 2026
    """
    return f"{day.day}{NBSP}{MONTHS[day.month - 1][:3]}{NBSP}{day.year}"


def date_long(day: date) -> str:
    """Return a date as sentences write it.

    >>> print(date_long(date(2026, 12, 15)))
    15 December 2026
    """
    return f"{day.day}{NBSP}{MONTHS[day.month - 1]}{NBSP}{day.year}"


def month_short(label: str) -> str:
    """Return an engine month's label: a calendar month, or its number where months are equal.

    >>> print(month_short("2026-10"), month_short("M7"))
    Oct 2026 month 7
    """
    if label.startswith("M"):
        return f"month{NBSP}{label[1:]}"
    year, month = label.split("-")
    return f"{MONTHS[int(month) - 1][:3]}{NBSP}{year}"


def clock(moment: datetime, zone: str) -> str:
    """Return a moment in the contract's zone, which the table names once.

    >>> from datetime import UTC
    >>> print(clock(datetime(2026, 12, 16, 5, 59, tzinfo=UTC), "America/Chicago"))
    15 Dec 2026, 23:59
    """
    local = moment.astimezone(ZoneInfo(zone))
    return f"{date_short(local.date())}, {local:%H:%M}"


def deadline(day: date, today: date) -> str:
    """Return a deadline with its distance.

    >>> print(deadline(date(2026, 12, 15), date(2026, 11, 30)))
    15 Dec 2026 (15 days left)
    >>> print(deadline(date(2026, 11, 14), date(2026, 11, 30)))
    14 Nov 2026, closed 16 days ago
    """
    left = (day - today).days
    unit = "day" if abs(left) == 1 else "days"
    if left < 0:
        return f"{date_short(day)}, closed {-left}{NBSP}{unit} ago"
    return f"{date_short(day)} ({f'{left}{NBSP}{unit} left' if left else 'today'})"


def interval(low: str, high: str, coverage: str = "90%") -> str:
    """Return an interval in words.

    >>> interval("1.6", "3.5")
    '1.6 to 3.5 (90%)'
    """
    return f"{low} to {high} ({coverage})"


def not_defined(reason: str) -> str:
    """Return what stands in a sentence or a wide cell where there is no number, with why.

    >>> not_defined("no_default_drawn")
    'not defined: no default drawn'
    """
    return f"not defined: {in_words(reason)}" if reason else UNDEFINED


def rate_a_year(x: Real) -> str:
    """Return a yearly rate or hazard.

    >>> print(rate_a_year(0.035), "|", rate_a_year(0.0004))
    3.5% a year | 0.04% a year
    """
    return f"{percent(x)} a year"


def undefined(reason: str) -> str:
    """Return the dash and why there is no number.

    >>> undefined("no_debt_in_any_month")
    '– (no debt in any month)'
    """
    return f"{UNDEFINED} ({in_words(reason)})"


def not_computed(action: str) -> str:
    """Return what stands where a model has no inputs, with what to add.

    >>> not_computed("add finance.loan")
    'not computed: add finance.loan'
    """
    return f"not computed: {action}"


def judged(text: str) -> str:
    """Return a figure that rests on judgement, marked.

    >>> judged("4 h")
    '4 h†'
    """
    return text + JUDGEMENT


def in_words(code: str) -> str:
    """Return a machine word as people write it.

    >>> in_words("too_few_draws")
    'too few draws'
    """
    return code.replace("_", " ").strip()


def share_in_words(x: Real) -> str:
    """Return a share as a headline says it; the exact figure stands in a table.

    >>> [share_in_words(x) for x in (0.493, 0.34, 0.71, 0.97, 0.26, 0.08)]
    ['half', 'a third', 'most', 'nearly all', 'a quarter', '8%']
    """
    x = finite(x)
    for low, high, words in (
        (0.9995, 1.0, "all"),
        (0.9, 0.9995, "nearly all"),
        (0.55, 0.9, "most"),
        (0.45, 0.55, "half"),
        (0.3, 0.36, "a third"),
        (0.23, 0.27, "a quarter"),
    ):
        if low <= x <= high:
            return words
    return f"{100 * x:.0f}%" if x >= 0.01 else "little"
