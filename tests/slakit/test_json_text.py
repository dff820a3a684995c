"""JSON of results: exact numbers as text, never a number that is not one, the same text every time."""

import json
import math
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from schemas.errors import NotComputedError, Problem
from schemas.money import Money
from slakit.json_text import json_text, plain, problem_json


@dataclass(frozen=True)
class Row:
    name: str
    share: Fraction


def test_exact_values_become_text_and_estimates_numbers():
    found = json.loads(
        json_text(
            {
                "decimal": Decimal("1E+3"),
                "fraction": Fraction(1, 3),
                "money": Money(Decimal("1000000.50"), "USD"),
                "day": date(2026, 11, 30),
                "moment": datetime(2026, 11, 30, 12, tzinfo=UTC),
                "path": Path("out/a.pdf"),
                "row": Row("a", Fraction(2, 1)),
                "estimate": 0.1,
                "array": np.array([[1, 2], [3, 4]]),
                "number": np.float64(0.5),
                "flag": np.bool_(True),
                "tuple": (None, True, 3),
            }
        )
    )
    assert found == {
        "decimal": "1000",
        "fraction": "1/3",
        "money": {"amount": "1000000.50", "currency": "USD"},
        "day": "2026-11-30",
        "moment": "2026-11-30T12:00:00+00:00",
        "path": "out/a.pdf",
        "row": {"name": "a", "share": "2"},
        "estimate": 0.1,
        "array": [[1, 2], [3, 4]],
        "number": 0.5,
        "flag": True,
        "tuple": [None, True, 3],
    }


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, np.float64("nan")])
def test_what_is_not_finite_is_an_error_that_says_where(number: float):
    with pytest.raises(NotComputedError, match=r"default\.pd\[1\]: a figure that came out as -?(nan|inf)"):
        json_text({"default": {"pd": [0.1, number]}})


def test_what_has_no_form_is_an_error():
    with pytest.raises(TypeError, match="rows: set has no form"):
        json_text({"rows": {1, 2}})
    with pytest.raises(TypeError, match="the key 1 is not text"):
        json_text({1: 2})


def test_keys_keep_their_order_and_zero_has_no_sign():
    assert json_text({"b": 1, "a": -0.0}) == '{\n  "b": 1,\n  "a": 0.0\n}\n'


def test_text_is_ascii_so_that_any_terminal_takes_it():
    assert json_text({"a": "é–"}).isascii()


def test_plain_leaves_plain_values_alone():
    assert plain({"a": [1, "x", None]}) == {"a": [1, "x", None]}


def test_a_problem_has_its_parts_by_name():
    problem = Problem("a.b", "x", "y", "z", 3, 4, "deal.yaml")
    assert problem_json(problem) == {
        **{"file": "deal.yaml", "path": "a.b", "line": 3, "column": 4},
        **{"found": "x", "expected": "y", "remedy": "z"},
    }
