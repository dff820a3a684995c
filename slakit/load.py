"""A deal file to a validated deal, or to every problem in it with its line and column."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from pydantic import ValidationError

from schemas.deal import Deal
from schemas.errors import DealError, Problem
from slakit.json_text import canonical_sha256
from slakit.loading.json_document import read_json
from slakit.loading.positions import Node, Positions
from slakit.loading.problems import problems_of
from slakit.loading.references import amendment_problems, data_problems, provenance_problems
from slakit.loading.source import WHOLE_FILE, SourceText, read_source
from slakit.loading.yaml_document import read_yaml

MOST_PROBLEMS = 1_000
"""Listed one by one; a file with more is no deal with mistakes. [1]"""


@dataclass(frozen=True, slots=True)
class LoadedDeal:
    """A deal as loaded, with what is needed to point back into its file."""

    deal: Deal
    data: dict[str, Any]
    """Plain data as typed, before validation."""
    positions: Positions
    """Line and column of every path."""
    path: str
    """Name of the file, as given."""
    sha256: str
    """Of the deal's canonical text: comments, layout and YAML or JSON make no difference."""
    file_sha256: str
    """Of the bytes of the file."""
    warnings: tuple[Problem, ...]
    """What is read rightly but may surprise."""


def load_deal(path: str | os.PathLike[str]) -> LoadedDeal:
    """Return the deal in the YAML 1.2 or JSON file at `path` (JSON where the name ends in `.json`).

    Raises
    ------
    DealError
        With all problems of the file, in its order; past a thousand, with their number. Nothing else is raised for any
        content of the file.
    """
    return deal_in(read_source(path))


def deal_in(source: SourceText) -> LoadedDeal:
    """Return the deal in a text, JSON where its name ends in `.json`.

    Raises
    ------
    DealError
        As `load_deal`.
    """
    root, problems, warnings = _parsed(source)
    if not isinstance(root.value, dict):
        found = "a list" if isinstance(root.value, list) else "one value"
        raise DealError(
            [
                *problems,
                Problem(
                    WHOLE_FILE,
                    found,
                    "a mapping with `schema_version` and sections",
                    "start from a deal: slakit new",
                    *root.place,
                    source.name,
                ),
            ]
        )
    positions = Positions(root)
    deal: Deal | None = None
    try:
        deal = Deal.model_validate(root.value)
    except ValidationError as error:
        places = {(problem.line, problem.column) for problem in problems}
        paths = {problem.path for problem in problems} - {WHOLE_FILE}
        problems += [
            problem
            for problem in problems_of(error, root.value, positions, source.name)
            if (problem.line, problem.column) not in places and problem.path not in paths
        ]
    if deal is not None:
        problems += provenance_problems(deal, positions, source.name)
        problems += amendment_problems(deal, positions, source.name)
        problems += data_problems(deal, positions, source.name)
    if problems or deal is None:
        raise DealError(_bearable(problems, source.name))
    return LoadedDeal(
        deal=deal,
        data=root.value,
        positions=positions,
        path=source.name,
        sha256=canonical_sha256(deal),
        file_sha256=source.sha256,
        warnings=tuple(warnings),
    )


def _bearable(problems: list[Problem], name: str) -> list[Problem]:
    """Return problems in the order of the file; past `MOST_PROBLEMS` their number alone."""
    ordered = sorted(problems, key=lambda p: (p.line or 0, p.column or 0))
    left_out = len(ordered) - MOST_PROBLEMS
    if left_out <= 0:
        return ordered
    found = f"{left_out:,} more problems"
    return [*ordered[:MOST_PROBLEMS], Problem(WHOLE_FILE, found, "a deal", "correct these first", file=name)]


def _parsed(source: SourceText) -> tuple[Node, list[Problem], list[Problem]]:
    """Return the root of the document, its problems and warnings."""
    try:
        if PurePath(source.name).suffix.lower() == ".json":
            return *read_json(source), []
        return read_yaml(source)
    except DealError as error:
        raise DealError(_bearable(list(error.problems), source.name)) from None
