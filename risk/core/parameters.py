"""What we do not know: the numbers of a deal that carry a range, their laws, and the deal with other values in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import getclosurevars
from types import FunctionType
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, ValidationError
from pydantic.fields import FieldInfo
from scipy.special import betaincinv, ndtr, ndtri

from risk.core.rng import generator
from schemas.base import Terms
from schemas.deal import Deal, path_of, steps_of
from schemas.errors import DealError, Problem, TermsError, TermsErrors
from schemas.sources import Sourced

FloatArray = NDArray[np.float64]
Steps = tuple[str | int, ...]
LawName = Literal["lognormal", "beta", "normal", "two_piece_normal"]

SECTIONS = ("sites", "clusters", "residual_value", "finance", "assumptions")
"""Sections whose numbers the simulation reads."""
ALIKE = ("sites", "clusters")
"""Sections with entries that are often alike: a number said in the same words of several is one number."""
SCORE_95 = 1.6448536269514722
"""Normal score of the 95th percentile; `low` and `high` are taken as the 5th and 95th."""
LARGEST_EXPONENT = 300.0
"""Beyond exp(300) every bound has been passed. [1]"""
BETA_SIZES = np.logspace(-2.0, 6.0, 81)
"""Strengths a + b among which that of a beta law is looked for. [1]"""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One uncertain number of a deal and the law of what we do not know about it."""

    paths: tuple[str, ...]
    """Where it stands; several where entries that are alike say the same of it."""
    value: float
    unit: str
    kind: str
    law: LawName
    down: float
    """Size of the law, below the value where the two sides differ; see `at`."""
    up: float
    lowest: float
    """Bounds of the number's type, which draws are clipped to. [unit]"""
    highest: float

    @property
    def path(self) -> str:
        """Return the path that names it, the first."""
        return self.paths[0]

    def at(self, scores: FloatArray) -> FloatArray:
        """Return the number at standard normal scores, shape as `scores`. [unit]

        Notes
        -----
        Lognormal: median = value, sd of the logarithm = size. Beta: mean = value, a + b = size. Normal: mean = value,
        sd = size. Two-piece normal: median = value, sd = size of each side. Clipped to the bounds of the type.
        """
        if self.law == "lognormal":
            drawn = self.value * np.exp(np.minimum(self.up * scores, LARGEST_EXPONENT))
        elif self.law == "beta":
            drawn = betaincinv(self.value * self.up, (1 - self.value) * self.up, ndtr(scores))
        else:
            drawn = self.value + np.where(scores > 0, self.up, self.down) * scores
        return np.clip(drawn, self.lowest, self.highest)


def parameters(deal: Deal) -> tuple[Parameter, ...]:
    """Return every number of the deal that carries a spread or a range, in the order of its sections.

    Notes
    -----
    A typed `spread` is taken as it is. Otherwise `low` and `high` are the 5th and 95th percentile: of a share, beta
    with the value as mean and their distance; of a quantity that cannot be negative, lognormal with the value as median
    and ln(high/low)/(2 x 1.645); of one that can, normal. With one of the two, the other side is as wide. Where no such
    law exists (a low of 0, a share of 0 or 1), a normal law with its own width on each side of the value.
    A number that several sites or several clusters state in the same words is one number, drawn once for all.
    """
    found: dict[tuple[Steps, str], list[tuple[Steps, Sourced, FieldInfo]]] = {}
    for section in SECTIONS:
        for steps, number, field in _numbers(getattr(deal, section), (section,)):
            place = (section, *steps[2:]) if section in ALIKE else steps
            said = number.model_dump_json() if section in ALIKE else ""
            found.setdefault((place, said), []).append((steps, number, field))
    made = (_parameter([steps for steps, _, _ in same], same[0][1], same[0][2]) for same in found.values())
    return tuple(one for one in made if one is not None)


def latin_hypercube(inputs: Sequence[Parameter], draws: int, seed: int) -> FloatArray:
    """Return standard normal scores of each input, one in each of `draws` equal strata, shape (draws, inputs).

    Each input has a random stream of its own, named by its path, so that a range given to one moves no other.

    References
    ----------
    McKay, Beckman and Conover, A comparison of three methods for selecting values of input variables, Technometrics
    21(2), 1979.
    """
    scores = np.empty((draws, len(inputs)))
    for i, one in enumerate(inputs):
        rng = generator(seed, f"parameters:{one.path}", 0)
        scores[:, i] = ndtri((rng.permutation(draws) + rng.random(draws)) / draws)
    return scores


def values_at(inputs: Sequence[Parameter], scores: FloatArray) -> list[dict[str, float]]:
    """Return, for each row of `scores`, shape (draws, inputs), the new value of every path."""
    columns = [one.at(scores[:, i]) for i, one in enumerate(inputs)]
    return [
        {path: float(column[j]) for one, column in zip(inputs, columns, strict=True) for path in one.paths}
        for j in range(len(scores))
    ]


def data_with(deal: Deal, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the plain data of the deal with other values at some paths; nothing is validated yet.

    A number with a source keeps unit and source; its value is replaced by giving a number at its path or at its
    `.value`, and its old range goes, because a changed value need not lie in it.

    Raises
    ------
    DealError
        With every path that leads nowhere.
    """
    data = deal.model_dump(mode="python", exclude_unset=True)
    problems = []
    for path, value in changes.items():
        try:
            _put(data, path, value)
        except TermsError as error:
            problems.append(Problem(path, error.found, error.expected, error.remedy))
    if problems:
        raise DealError(problems)
    return data


def with_values(deal: Deal, changes: Mapping[str, Any]) -> Deal:
    """Return the deal with other values at some paths, set as `data_with` does and validated again as a whole.

    Raises
    ------
    DealError
        With everything that is wrong: paths that lead nowhere, or terms that contradict each other.
    """
    try:
        return Deal.model_validate(data_with(deal, changes))
    except ValidationError as error:
        raise DealError(_problems(error)) from None


def _numbers(value: object, steps: Steps) -> Iterator[tuple[Steps, Sourced, FieldInfo]]:
    """Yield every sourced number below `value` with its path and the field that holds it."""
    match value:
        case Terms():
            for name, field in type(value).model_fields.items():
                inner = getattr(value, name)
                if isinstance(inner, Sourced):
                    yield (*steps, name), inner, field
                else:
                    yield from _numbers(inner, (*steps, name))
        case Mapping():
            for key, inner in value.items():
                yield from _numbers(inner, (*steps, key))
        case tuple():
            for i, inner in enumerate(value):
                yield from _numbers(inner, (*steps, i))


def _bounds(annotation: object, metadata: Iterable[object] = ()) -> tuple[float, float]:
    """Return the range that the type of a field allows; `quantity` of the schemas holds it."""
    for item in (*metadata, *get_args(annotation)):
        if isinstance(item, AfterValidator) and isinstance(item.func, FunctionType):
            held = getclosurevars(item.func).nonlocals
            if "low" in held and "high" in held:
                return float(held["low"]), float(held["high"])
        found = _bounds(item, getattr(item, "__metadata__", ()))
        if found != (-math.inf, math.inf):
            return found
    return -math.inf, math.inf


def _parameter(places: Sequence[Steps], number: Sourced, field: FieldInfo) -> Parameter | None:
    """Return the law of one number, None where nothing about it is uncertain."""
    lowest, highest = _bounds(field.annotation, field.metadata)
    law = _law(number, lowest, highest)
    if law is None or (law[1] <= 0 and law[2] <= 0):
        return None
    name, down, up = law
    paths = tuple(path_of(steps) for steps in places)
    return Parameter(paths, float(number), number.unit, number.kind, name, down, up, lowest, highest)


def _law(number: Sourced, lowest: float, highest: float) -> tuple[LawName, float, float] | None:
    """Return the name of the law and its size below and above the value."""
    value, spread = float(number), number.spread
    if spread is not None:
        size = float(spread.size)
        fixed = (spread.law == "lognormal" and value == 0) or (spread.law == "beta" and not 0 < value < 1)
        return None if fixed else (spread.law, size, size)
    low = float(number.low) if number.low is not None else None
    high = float(number.high) if number.high is not None else None
    if low is None and high is None:
        return None
    below = value - low if low is not None else None
    above = high - value if high is not None else None
    down = below if below is not None else above
    up = above if above is not None else below
    assert down is not None
    assert up is not None
    if (lowest, highest) == (0.0, 1.0):
        strength = _beta_strength(value, down + up) if 0 < value < 1 else None
        if strength is not None:
            return "beta", strength, strength
    elif lowest >= 0:
        ends = [math.log(value / low)] if low and value else []
        ends += [math.log(high / value)] if high and value else []
        if len(ends) == (low is not None) + (high is not None):
            size = sum(ends) / len(ends) / SCORE_95
            return "lognormal", size, size
    else:
        size = (down + up) / (2 * SCORE_95)
        return "normal", size, size
    return "two_piece_normal", down / SCORE_95, up / SCORE_95


def _beta_strength(mean: float, distance: float) -> float | None:
    """Return a + b of the beta law whose 5th and 95th percentile lie `distance` apart, None where there is none."""
    if distance <= 0:
        return None
    from scipy.optimize import brentq

    def gap(strength: float | FloatArray) -> Any:
        a, b = mean * strength, (1 - mean) * strength
        return betaincinv(a, b, 0.95) - betaincinv(a, b, 0.05) - distance

    wide = np.flatnonzero(gap(BETA_SIZES) >= 0)
    if len(wide) == 0 or wide[-1] == len(BETA_SIZES) - 1:
        return None
    low, high = np.log(BETA_SIZES[wide[-1]]), np.log(BETA_SIZES[wide[-1] + 1])
    return float(np.exp(brentq(lambda log_size: float(gap(np.exp(log_size))), low, high)))


def _put(data: dict[str, Any], path: str, value: Any) -> None:
    """Set one path in plain data; a mapping on the way that is not there is made."""
    *trail, last = steps_of(path)
    nowhere = TermsError(f"the path {path!r}, which leads nowhere", "a path of this deal", "correct the path")
    holder: Any = data
    for step in trail:
        try:
            child = holder[step]
        except (KeyError, IndexError, TypeError):
            child = None
        if child is None:
            if not isinstance(step, str) or not isinstance(holder, dict):
                raise nowhere
            child = {}
        holder[step] = child = list(child) if isinstance(child, tuple) else child
        holder = child
    try:
        there = holder[last]
    except (KeyError, IndexError, TypeError):
        there = None
    if _is_number_with_source(there) and not isinstance(value, Mapping) and value is not None:
        holder, last = there, "value"
    if last == "value" and _is_number_with_source(holder):
        for name in ("low", "high", "spread"):
            holder.pop(name, None)
    if isinstance(last, int) != isinstance(holder, list):
        raise nowhere
    try:
        holder[last] = value
    except (IndexError, TypeError):
        raise nowhere from None


def _is_number_with_source(value: object) -> bool:
    return isinstance(value, dict) and {"value", "unit", "as_of"} <= value.keys()


def _problems(error: ValidationError) -> Iterator[Problem]:
    """Yield what validation found, each at its path."""
    for found in error.errors(include_url=False, include_context=True):
        path = path_of(tuple(found["loc"])) or "(whole deal)"
        cause = found.get("ctx", {}).get("error")
        if isinstance(cause, TermsErrors):
            for one in cause.errors:
                yield Problem(path, one.found, one.expected, one.remedy)
        elif isinstance(cause, TermsError):
            yield Problem(path, cause.found, cause.expected, cause.remedy)
        else:
            yield Problem(path, str(found.get("input"))[:80], str(found["msg"]), "correct the value")
