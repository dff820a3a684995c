"""The credit step: expected loss and default probability turned into one of nineteen steps, S1 to S19, or D.

A grade is arithmetic on expected loss and default with printed caps. It is not a credit rating, and stands next to the
figures it came from.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import expm1, log, log1p, sqrt
from typing import Any

import yaml

from schemas.base import Terms
from schemas.sources import Source, SourcedShare, Unit
from schemas.units import Share

YEARS = 10
"""Years over which the anchors give a probability of default. [year]"""
DEFAULT = "D"
"""The step of a loan that defaults."""


class Anchors(Source):
    """One figure for each step, from the best to the worst."""

    values: tuple[Share, ...]
    unit: Unit


class Scale(Terms):
    """What the steps stand for."""

    anchors: Anchors
    """Probability of default over ten years. [1]"""
    reference_loss_given_default: SourcedShare
    """Loss given default that turns an expected loss into a default probability. [1]"""
    least_loss_given_default: SourcedShare
    """Loss given default below which a recovery by judgement does not count. [1]"""


@cache
def scale() -> Scale:
    """Return the scale of `scale.yaml`."""
    text = (files("risk.score") / "scale.yaml").read_text(encoding="utf-8")
    return Scale.model_validate(yaml.safe_load(text))


@cache
def steps() -> tuple[str, ...]:
    """Return the names of the steps from the best to the worst, `D` last."""
    return (*(f"S{i + 1}" for i in range(len(scale().anchors.values))), DEFAULT)


@cache
def boundaries() -> tuple[float, ...]:
    """Return the ten-year default probability between each step and the next: their geometric mean, shape (19,). [1]"""
    anchors = [*map(float, scale().anchors.values), 1.0]
    return tuple(sqrt(better * worse) for better, worse in pairwise(anchors))


def step_of(pd_10_years: float) -> str:
    """Return the step whose band holds a ten-year probability of default; a boundary belongs to the worse step.

    >>> step_of(0.267047), step_of(0.446945), step_of(0.0), step_of(1.0)
    ('S15', 'S17', 'S1', 'D')
    """
    return steps()[sum(pd_10_years >= boundary for boundary in boundaries())]


def worse_of(*names: str) -> str:
    """Return the worst of some steps."""
    return max(names, key=steps().index)


def steps_between(one: str, other: str) -> int:
    """Return how many steps lie between two, never negative. [1]"""
    return abs(steps().index(one) - steps().index(other))


def hazard_of_loss(loss_bp_per_year: float) -> float:
    """Return the hazard of default that an expected loss a year stands for at the reference loss. [1/year]"""
    return loss_bp_per_year / 10_000 / float(scale().reference_loss_given_default)


def hazard_of_default(probability: float, months: float) -> float | None:
    """Return the constant hazard that gives a default probability over `months`, None where it is certain. [1/year]"""
    return -log1p(-probability) / (months / 12) if probability < 1 else None


def ten_year_probability(hazard: float | None) -> float:
    """Return the probability of default over ten years at a constant hazard; 1 where there is none. [1]"""
    return 1.0 if hazard is None else -expm1(-YEARS * hazard)


def step_of_hazard(hazard: float | None) -> str:
    """Return the step of a constant hazard of default. [1/year]"""
    return step_of(ten_year_probability(hazard))


def loss_at_boundaries(mean_years: float) -> dict[str, float]:
    """Return the expected loss at which each step becomes the next, over a loan's life. [bp of the commitment]

    Parameters
    ----------
    mean_years : dollar-years outstanding over the commitment. [year]

    Examples
    --------
    >>> round(loss_at_boundaries(2.744242)["S14|S15"], 1)
    425.6
    """
    reference = float(scale().reference_loss_given_default)
    names = steps()
    return {
        f"{names[i]}|{names[i + 1]}": -log(1 - boundary) / YEARS * reference * 10_000 * mean_years
        for i, boundary in enumerate(boundaries())
    }


@dataclass(frozen=True, slots=True)
class Route:
    """One way from a deal to the scale."""

    hazard_per_year: float | None
    """None where default is certain. [1/year]"""

    @property
    def step(self) -> str:
        """Return the step."""
        return step_of_hazard(self.hazard_per_year)

    def as_json(self) -> dict[str, Any]:
        """Return the route's figures."""
        out: dict[str, Any] = {"hazard_per_year": self.hazard_per_year}
        if self.hazard_per_year is None:
            out["hazard_per_year_reason"] = "default is certain"
        return out | {"pd_10_years": ten_year_probability(self.hazard_per_year), "step": self.step}


def loss_route(loss_bp_per_year: float) -> Route:
    """Return the route through expected loss a year outstanding, the headline."""
    return Route(hazard_of_loss(loss_bp_per_year))


def default_route(pd_term: float, months: float) -> Route:
    """Return the route through the probability of default over `months`."""
    return Route(hazard_of_default(pd_term, months))
