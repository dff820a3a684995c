"""Rounding and signs of printed numbers: the arithmetic under `figures`."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

NBSP = "\u00a0"
MINUS = "−"
PLUS_MINUS = "±"

Real = float | int | Decimal | Fraction


def finite(x: Real) -> float:
    """Return `x` as a float; what is not finite is a fault upstream, never printed."""
    value = float(x)
    if not math.isfinite(value):
        raise ValueError(f"{x} cannot be printed as a number; a reason must be given instead")
    return value


def exact_finite(x: Real) -> Real:
    """Return floats as the decimal they were typed or printed as, so that 0.99 is 0.99."""
    return Decimal(repr(finite(x))) if isinstance(x, float) else x


def finite_or_none(x: Real | None) -> float | None:
    """Return `x` as a float, or nothing."""
    return None if x is None else finite(x)


def leading_place(x: float) -> int:
    """Return the power of ten of the first significant digit."""
    return math.floor(math.log10(abs(x)) + 1e-12)


def rounded_with_error(x: float, error: float | None, figures: int, finest: int = -9) -> tuple[str, str]:
    """Return value and error rounded alike: to the error's first digit, its second after a 1, or the value's last."""
    x = finite(x)
    if x == 0 and not error:
        return "0", ""
    places = [finest]
    if x:
        places.append(leading_place(x) - figures + 1)
    if error:
        leading = leading_place(error)
        places.append(leading - 1 if error < 1.95 * 10.0**leading else leading)  # 13, not 10
    place = max(places)
    step = 10.0**place
    decimals = max(-place, 0)
    value = signed(f"{round(x / step) * step:,.{decimals}f}")
    if error is None or error == 0:
        return trimmed(value), ""
    shown = max(round(error / step), 1)
    return value, f"{PLUS_MINUS}{NBSP}{shown * step:,.{decimals}f}"


def trimmed(value: str) -> str:
    """Return a value without zeros behind its last decimal that mean nothing."""
    return value.rstrip("0").rstrip(".") if "." in value else value


def on_the_right_side(exact: Fraction, marks: list[Fraction], decimals: int) -> str:
    """Return a rounded value with as many decimals as keep it below, at or above each mark."""
    for places in range(decimals, 40):
        shown = round(exact, places)
        if all((shown > mark) - (shown < mark) == (exact > mark) - (exact < mark) for mark in marks):
            break
    return signed(f"{Decimal(shown.numerator) / Decimal(shown.denominator):.{places}f}")


def rounds_to_an_end(x: float, place: int) -> bool:
    """Tell whether a share would be printed as 0 or 100 percent although it is neither."""
    return x not in (0, 1) and round(100 * x / 10.0**place) in (0, round(100 / 10.0**place))


def two_units(total: int, size: int, large: str, small: str) -> str:
    """Return a length of time in a large unit and the rest in a small one."""
    whole, rest = divmod(total, size)
    return f"{whole}{NBSP}{large}" + (f" {rest}{NBSP}{small}" if rest else "")


def plain(number: Decimal) -> str:
    """Return a decimal without exponent and without zeros at its end."""
    text = f"{number:f}"
    return signed(text.rstrip("0").rstrip(".") if "." in text else text)


def signed(text: str) -> str:
    """Return the text with a true minus, and none before a zero."""
    if text.startswith("-") and not any(digit in text for digit in "123456789"):
        return text[1:]
    return text.replace("-", MINUS)


def plus(text: str) -> str:
    """Return a written number with its sign, a plus too; zero has none.

    >>> plus("58"), plus("−58"), plus("0.00")
    ('+58', '−58', '0')
    """
    if not any(digit in text for digit in "123456789"):
        return "0"
    return text if text.startswith(MINUS) else f"+{text}"
