"""A file of scenarios: a list of names, each with the terms of a deal that it changes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from pydantic import Field, ValidationError

from risk.core.parameters import data_with
from risk.score.stresses import Stress
from schemas.base import Terms
from schemas.deal import Deal, steps_of
from schemas.errors import DealError, Problem, TermsError
from schemas.units import Name
from slakit.loading.json_document import read_json
from slakit.loading.messages import described
from slakit.loading.positions import Node, Positions, written
from slakit.loading.problems import problems_of
from slakit.loading.source import WHOLE_FILE, read_source
from slakit.loading.yaml_document import read_yaml

MOST_SCENARIOS = 100
"""Scenarios of one file. [1]"""


class Scenario(Terms):
    """One thing that changes."""

    name: Name
    """What happens, in words."""
    set: dict[str, Any] = Field(min_length=1, max_length=500)
    """Path of a term to its value; a number with a source may be given as the number alone."""


def load_scenarios(path: str | os.PathLike[str], deal: Deal) -> tuple[Stress, ...]:
    """Return the scenarios of a YAML or JSON file, each tried on the deal.

    Raises
    ------
    DealError
        With all problems of the file: what is no scenario, paths that lead nowhere, terms that contradict the deal.
    """
    source = read_source(path)
    if PurePath(source.name).suffix.lower() == ".json":
        root, problems = read_json(source)
    else:
        root, problems, _ = read_yaml(source)
    if not isinstance(root.value, list) or not 1 <= len(root.value) <= MOST_SCENARIOS:
        found = f"a list of {len(root.value)}" if isinstance(root.value, list) else described(root.value)
        expected = f"a list of 1 to {MOST_SCENARIOS} scenarios"
        remedy = "write each as {name: ..., set: {path: value}}"
        raise DealError([*problems, Problem(WHOLE_FILE, found, expected, remedy, *root.place, source.name)])
    found_scenarios: list[Stress] = []
    for i, node in enumerate(root.items):
        try:
            scenario = Scenario.model_validate(node.value)
        except ValidationError as error:
            problems += [
                _inside(i, one) for one in problems_of(error, node.value, Positions(node), source.name, Scenario)
            ]
            continue
        problems += _wrong_terms(i, node, scenario, deal, source.name)
        found_scenarios.append(Stress(f"scenario-{i + 1}", scenario.name, terms=scenario.set))
    if problems:
        raise DealError(sorted(problems, key=lambda p: (p.line or 0, p.column or 0)))
    return tuple(found_scenarios)


def _inside(index: int, problem: Problem) -> Problem:
    """Return a problem of one scenario with its path in the whole list."""
    inner = "" if problem.path == WHOLE_FILE else f".{problem.path}"
    path = f"[{index}]{inner}"
    return Problem(path, problem.found, problem.expected, problem.remedy, problem.line, problem.column, problem.file)


def _wrong_terms(index: int, node: Node, scenario: Scenario, deal: Deal, file: str) -> Iterator[Problem]:
    """Yield what is wrong with the deal once the scenario's terms are set, at the line that sets them."""
    positions = Positions(node)

    def at(setter: str | None, problem: Problem, found: str) -> Problem:
        steps = ("set", *((setter,) if setter else ()))
        place = positions.at(steps, key=True)
        return Problem(written((index, *steps)), found, problem.expected, problem.remedy, *place, file)

    try:
        data = data_with(deal, scenario.set)
    except DealError as error:
        for problem in error.problems:
            yield at(problem.path, problem, problem.found)
        return
    try:
        Deal.model_validate(data)
    except ValidationError as error:
        for problem in problems_of(error, data, positions, file):
            setter = next((path for path in scenario.set if _one_holds_the_other(path, problem.path)), None)
            here = setter is not None and problem.path in (setter, f"{setter}.value")
            yield at(setter, problem, problem.found if here else f"at {problem.path} {problem.found}")


def _one_holds_the_other(path: str, about: str) -> bool:
    try:
        first, second = steps_of(path), steps_of(about)
    except TermsError:
        return False
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]
