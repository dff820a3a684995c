"""The yardsticks of the checks, each with its unit, date and reason."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from importlib.resources import files
from typing import Annotated

import yaml

from schemas.base import Terms
from schemas.sources import Sourced, SourcedHours, SourcedShare, quantity


class Standards(Terms):
    """What findings measure terms against."""

    reference_outage: Annotated[Sourced, quantity("min")]
    """Outage of one node by which units of measurement are compared. [min]"""
    reference_month: SourcedHours
    """Month in which it falls. [h]"""
    claim_window: Annotated[Sourced, quantity("day")]
    """Shortest time in which a claim can be made with care. [day]"""
    short_claim_window: Annotated[Sourced, quantity("day")]
    """Below this a claim is easily lost. [day]"""
    low_month_cap: SourcedShare
    """A lower monthly cap empties the table of credits. [1]"""
    low_year_cap: SourcedShare
    """[1]"""


@cache
def standards() -> Standards:
    """Return the yardsticks of `standards.yaml`."""
    text = (files("slakit.checks") / "standards.yaml").read_text(encoding="utf-8")
    return Standards.model_validate(yaml.safe_load(text))


def exact(number: Sourced) -> Fraction:
    """Return the value of a yardstick, exactly."""
    return Fraction(number.value)
