"""A deal written as text, loaded as a file."""

from pathlib import Path

import pytest

from schemas.errors import DealError, Problem
from slakit.load import LoadedDeal, load_deal


@pytest.fixture
def load(tmp_path: Path):
    """Return a function that loads YAML text as a file."""

    def of(text: str) -> LoadedDeal:
        path = tmp_path / "deal.yaml"
        path.write_text(text, encoding="utf-8")
        return load_deal(path)

    return of


@pytest.fixture
def problems(load):
    """Return a function that gives the problems of a text, read as `load` reads it."""

    def of(text: str) -> tuple[Problem, ...]:
        with pytest.raises(DealError, match="found") as caught:
            load(text)
        return caught.value.problems

    return of
