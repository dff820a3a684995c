"""Values of the deal in the words of a contract: percentages, money, lengths of time, dates, choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from schemas.errors import TermsError
from schemas.money import minor_unit_places
from schemas.periods import Duration, MonthsAfterClose
from slakit.documents.nodes import Run
from slakit.documents.text import typeset
from slakit.documents.values import Nothing, Printed, Reader, TypedText, View

NBSP = "\u00a0"
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")

Filter = Callable[..., Any]


def number(value: Decimal | int) -> str:
    """Return a number with grouped thousands and no zeros that say nothing.

    >>> number(Decimal("44640.50"))
    '44,640.5'
    """
    text = f"{Decimal(value):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(share: Decimal | int) -> str:
    """Return a share of 1 as a percentage with all its digits.

    >>> percent(Decimal("0.9950")), percent(Decimal("1")), percent(Decimal("0.08333"))
    ('99.5%', '100%', '8.333%')
    """
    return f"{number(Decimal(share) * 100)}%"


def amount(value: Decimal | int, currency: str) -> str:
    """Return contract money: the currency's code, then all digits, at least to its minor unit.

    >>> amount(Decimal("44997.1"), "USD"), amount(Decimal("2.505"), "USD")
    ('USD\\xa044,997.10', 'USD\\xa02.505')
    """
    exact = Decimal(value)
    exponent = exact.normalize().as_tuple().exponent
    digits = max(minor_unit_places(currency), -exponent if isinstance(exponent, int) else 0)
    return f"{currency}{NBSP}{exact:,.{digits}f}"


def counted(value: Decimal | int, unit: str) -> str:
    """Return a number with its unit, in the plural but for one.

    >>> counted(1, "day"), counted(Decimal("30"), "day")
    ('1\\xa0day', '30\\xa0days')
    """
    return f"{number(value)}{NBSP}{unit}{'' if value == 1 else 's'}"


def in_words(value: int) -> str:
    """Return a whole number below a thousand in words, a larger one in figures.

    >>> in_words(3), in_words(72), in_words(240), in_words(1024)
    ('three', 'seventy-two', 'two hundred and forty', '1,024')
    """
    if value < 20:
        return _SMALL[value]
    if value < 100:
        return _TENS[value // 10] + (f"-{_SMALL[value % 10]}" if value % 10 else "")
    if value < 1000:
        rest = value % 100
        return f"{_SMALL[value // 100]} hundred" + (f" and {in_words(rest)}" if rest else "")
    return number(value)


def day(value: date) -> str:
    """Return a date as sentences write it.

    >>> day(date(2026, 12, 15))
    '15\\xa0December\\xa02026'
    """
    return f"{value.day}{NBSP}{MONTHS[value.month - 1]}{NBSP}{value.year}"


def date_point(value: date | MonthsAfterClose) -> str:
    """Return a date, or the words for one counted from financial close."""
    if not isinstance(value, MonthsAfterClose):
        return day(value)
    if value.close_plus_months == 0:
        return "the date of financial close"
    return f"the date {counted(value.close_plus_months, 'month')} after financial close"


def length(value: Duration) -> str:
    """Return a length of time in its own unit.

    >>> length(Duration(days=90)), length(Duration(months=1))
    ('90\\xa0days', '1\\xa0month')
    """
    if value.months is not None:
        return counted(value.months, "month")
    return counted(value.days or 0, "day")


def edge(bands: tuple[Decimal, ...], index: int) -> str:
    """Return in words where one credit band lies; `bands` are upper edges from the highest down.

    >>> edge((Decimal("0.995"), Decimal("0.99")), 0)
    'below 99.5% and not below 99.0%'
    >>> edge((Decimal("0.995"), Decimal("0.99")), 1)
    'below 99.0%'
    """
    places = max(percentage_places(band) for band in bands)
    edges = [f"{band * 100:.{places}f}%" for band in bands[index : index + 2]]
    return " and not ".join(f"below {each}" for each in edges)


def percentage_places(share: Decimal) -> int:
    """Return the decimal places of a share written as a percentage.

    >>> percentage_places(Decimal("0.9950")), percentage_places(Decimal("0.99"))
    (1, 0)
    """
    return len(number(share * 100).partition(".")[2])


def name_of(identifier: str) -> str:
    """Return an identifier of the deal file as a name.

    >>> name_of("scale-up_domains")
    'Scale up domains'
    """
    words = identifier.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def filters(reader: Reader) -> dict[str, Filter]:
    """Return the filters of clause texts, by name."""

    def say(value: object, text: str) -> Printed:
        return Printed(reader, Run("term", text, reader.path_behind(value)))

    def of_number(words: Callable[[Any], str], name: str) -> Filter:
        def apply(value: Any) -> Any:
            if value is None or isinstance(value, Nothing):
                return _blank(reader, value)
            if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
                raise TermsError(f"{_seen(reader, value)} with the filter {name}", "a number", "use another filter")
            return say(value, words(value))

        return apply

    def money(value: Any, currency: str | None = None) -> Any:
        code = currency or reader.value("commercial.currency")
        if value is None or isinstance(value, Nothing) or not code:
            return _blank(reader, value)
        if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
            raise TermsError(f"{_seen(reader, value)} with the filter money", "an amount", "use another filter")
        return say(value, amount(value, str(code)))

    def dated(value: Any) -> Any:
        if value is None or isinstance(value, Nothing):
            return _blank(reader, value)
        behind = reader.whole(value) if isinstance(value, View) else value
        if not isinstance(behind, (date, MonthsAfterClose)):
            raise TermsError(f"{_seen(reader, value)} with the filter date", "a date", "use another filter")
        return say(value, date_point(behind))

    def duration(value: Any) -> Any:
        if value is None or isinstance(value, Nothing):
            return _blank(reader, value)
        behind = reader.whole(value) if isinstance(value, View) else value
        if not isinstance(behind, Duration):
            raise TermsError(f"{_seen(reader, value)} with the filter duration", "a length of time", "use another")
        return say(value, length(behind))

    def choice(value: Any, words: Mapping[Any, Any]) -> Any:
        if value is None or isinstance(value, Nothing):
            return _blank(reader, value)
        key = str(value) if isinstance(value, TypedText) else value
        if key not in words:
            known = ", ".join(str(word) for word in words)
            raise TermsError(f"{key!r} ({_seen(reader, value)})", f"one of {known}", "give the choice its words")
        chosen = words[key]
        if hasattr(chosen, "__html__"):
            return chosen
        return Printed(reader, Run("text", typeset(str(chosen)), reader.path_behind(value)))

    def label(value: Any) -> Any:
        if value is None or isinstance(value, Nothing):
            return _blank(reader, value)
        if not isinstance(value, str):
            raise TermsError(f"{_seen(reader, value)} with the filter label", "an identifier", "use another filter")
        return Printed(reader, Run("typed", name_of(value), reader.path_behind(value)))

    def days(value: Any, kind: str = "calendar") -> Any:
        if kind not in ("calendar", "business"):
            raise TermsError(f"days of kind {kind!r}", "'calendar' or 'business'", "correct the text")
        return unit("Business Day" if kind == "business" else "day")(value)

    def unit(name: str) -> Filter:
        return of_number(lambda value: counted(value, name), f"{name}s".replace(" ", "_").lower())

    return {
        "percent": of_number(percent, "percent"),
        "count": of_number(number, "count"),
        "words": of_number(lambda value: in_words(int(value)) if value == int(value) else number(value), "words"),
        "seconds": unit("second"),
        "minutes": unit("minute"),
        "hours": unit("hour"),
        "days": days,
        "business_days": unit("Business Day"),
        "months": unit("month"),
        "years": unit("year"),
        "megawatts": of_number(lambda value: f"{number(value)}{NBSP}MW", "megawatts"),
        "kilowatts": of_number(lambda value: f"{number(value)}{NBSP}kW", "kilowatts"),
        "money": money,
        "date": dated,
        "duration": duration,
        "choice": choice,
        "label": label,
    }


def _blank(reader: Reader, value: object) -> Nothing:
    return value if isinstance(value, Nothing) else Nothing(reader, "")


def _seen(reader: Reader, value: object) -> str:
    return reader.path_behind(value) or f"a {type(value).__name__}"
