"""Quantities with their unit and bounds in the type. A bound refuses the absurd, not the unusual."""

from __future__ import annotations

import re
from datetime import date
from decimal import Decimal
from functools import cache
from typing import Annotated, Any
from zoneinfo import available_timezones

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints

from schemas.errors import TermsError

LARGEST_AMOUNT = Decimal(10) ** 15
"""No deal in the field reaches a thousand trillion of any currency."""

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
"""Controls, line and paragraph separators, marks of direction, spaces without width, tags."""


def _exact(value: Any) -> Any:
    """Return a float as the decimal that was typed; refuse booleans, which are numbers only to Python."""
    if isinstance(value, bool):
        raise TermsError(str(value).lower(), "a number", "write the number itself")
    if isinstance(value, float):
        return Decimal(repr(value))
    return value


def _whole(value: Any) -> Any:
    """Refuse booleans and decimals with a fraction; accept 12 and 12.0."""
    if isinstance(value, bool):
        raise TermsError(str(value).lower(), "a whole number", "write the number itself")
    number = Decimal(repr(value)) if isinstance(value, float) else value
    if isinstance(number, Decimal) and number.is_finite() and abs(number) < LARGEST_AMOUNT and number == int(number):
        return int(number)
    return value


def _flag(value: Any) -> Any:
    """Refuse every stand-in for true and false: `no` and `on` are text in YAML 1.2, 1 is a number."""
    if not isinstance(value, bool):
        shown = f"the text {value[:40]!r}" if isinstance(value, str) else str(value)[:40]
        raise TermsError(shown, "true or false", "write true or false, without quotes")
    return value


def _iso_day(value: Any) -> Any:
    """Refuse every way of writing a date but yyyy-mm-dd; numbers would be read as seconds since 1970."""
    if isinstance(value, (int, float, Decimal)) or (
        isinstance(value, str) and not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)
    ):
        shown = f"the text {value[:40]!r}" if isinstance(value, str) else str(value)[:40]
        raise TermsError(shown, "a date written yyyy-mm-dd", "write one such as 2026-11-30")
    return value


@cache
def _zones() -> frozenset[str]:
    """Return the zones of the time zone database, looked up once because it is a walk over files."""
    return frozenset(available_timezones())


def _known_zone(name: str) -> str:
    if name not in _zones():
        raise TermsError(repr(name), "an IANA time zone", "write one such as UTC or America/Chicago")
    return name


def _plain_text(text: str) -> str:
    """Refuse characters that cannot be seen, which could hide text from a reader of the printed page."""
    if hidden := _HIDDEN.search(text):
        raise TermsError(
            f"a control or direction-changing character (U+{ord(hidden[0]):04X})", "printable text", "delete it"
        )
    return text


def _one_line(text: str) -> str:
    """Refuse a break inside a name, which would print as another paragraph or another name."""
    if re.search(r"[\t\n\r]", text):
        raise TermsError("a line break or tab inside a name", "one line", "write it on one line, with spaces")
    return text


def _plausible_date(day: date) -> date:
    if not 2000 <= day.year <= 2100:
        raise TermsError(day.isoformat(), "a date from 2000 to 2100", "correct the year")
    return day


Exact = BeforeValidator(_exact)
Whole = BeforeValidator(_whole)
Flag = Annotated[bool, BeforeValidator(_flag)]
"""true or false."""

Share = Annotated[Decimal, Exact, Field(ge=0, le=1, max_digits=30, decimal_places=24)]
"""An agreed ratio from 0 to 1. [1]"""
Amount = Annotated[Decimal, Exact, Field(ge=0, le=LARGEST_AMOUNT, decimal_places=6)]
"""Money in the currency its section names, not negative. [currency]"""
AmountAboveZero = Annotated[Decimal, Exact, Field(gt=0, le=LARGEST_AMOUNT, decimal_places=6)]
"""Money in the currency its section names, more than nothing. [currency]"""
Multiple = Annotated[Decimal, Exact, Field(ge=0, le=1000, decimal_places=12)]
"""A pure number such as a cover ratio or a multiple of debt service. [1]"""
AnnualRate = Annotated[Decimal, Exact, Field(ge=0, le=5, decimal_places=12)]
"""A rate a year as a fraction of 1. [1/year]"""
Hours = Annotated[Decimal, Exact, Field(ge=0, le=1_000_000, decimal_places=6)]
"""[h]"""
Minutes = Annotated[int, Whole, Field(ge=0, le=60_000_000)]
"""Whole minutes. [min]"""
MinutesOfAMonth = Annotated[int, Whole, Field(ge=0, le=44_640)]
"""Whole minutes, at most the longest month. [min]"""
Days = Annotated[int, Whole, Field(ge=0, le=40_000)]
"""Whole days. [day]"""
BusinessDays = Annotated[int, Whole, Field(ge=0, le=10_000)]
"""Whole business days. [business day]"""
Months = Annotated[Decimal, Exact, Field(ge=0, le=1200, decimal_places=9)]
"""Months, not always whole. [month]"""
WholeMonths = Annotated[int, Whole, Field(ge=0, le=1200)]
"""Whole months. [month]"""
MonthNumber = Annotated[int, Whole, Field(ge=1, le=1200)]
"""Whole months, at least one: a month counted from close, or a number of months. [month]"""
Years = Annotated[Decimal, Exact, Field(ge=0, le=100, decimal_places=9)]
"""[year]"""
Megawatts = Annotated[Decimal, Exact, Field(gt=0, le=1_000_000, decimal_places=9)]
"""[MW]"""
KilowattsPerGpu = Annotated[Decimal, Exact, Field(gt=0, le=1_000, decimal_places=15)]
"""[kW/GPU]"""
Kilowatts = Annotated[Decimal, Exact, Field(gt=0, le=1_000_000_000, decimal_places=6)]
"""[kW]"""
PowerUsageEffectiveness = Annotated[Decimal, Exact, Field(ge=1, le=10, decimal_places=6)]
"""Energy of the whole site over that of its equipment. [1]"""
KilowattsPerRack = Annotated[Decimal, Exact, Field(gt=0, le=10_000, decimal_places=6)]
"""[kW/rack]"""
Count = Annotated[int, Whole, Field(ge=0, le=100_000_000)]
"""How many. [1]"""
Positive = Annotated[int, Whole, Field(ge=1, le=100_000_000)]
"""How many, at least one. [1]"""
Number = Annotated[Decimal, Exact, Field(ge=-LARGEST_AMOUNT, le=LARGEST_AMOUNT)]
"""Any finite number; its unit stands beside it."""

Zone = Annotated[str, AfterValidator(_known_zone)]
"""IANA name of a time zone."""
Identifier = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_-]{0,62}$")]
"""Key of an entry: lower-case letters, digits, hyphen, underscore; a letter first."""
Key = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,60}$")]
"""Name that a log gives to something and the contract lists: letters, digits, hyphen, underscore."""
Name = Annotated[
    str,
    StringConstraints(min_length=1, max_length=200, strip_whitespace=True),
    AfterValidator(_plain_text),
    AfterValidator(_one_line),
]
"""A name of one line."""
Text = Annotated[
    str, StringConstraints(min_length=1, max_length=4000, strip_whitespace=True), AfterValidator(_plain_text)
]
"""Running text."""
Day = Annotated[date, BeforeValidator(_iso_day), AfterValidator(_plausible_date)]
"""A calendar date."""
