"""Why contracts end and loans default, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from slakit.reports.figures import in_words


class Cause(NamedTuple):
    """One cause: its name in a chart and the clause that follows `because`."""

    name: str
    because: str


CAUSES = {
    "long_stop": Cause("Long stop", "the customer leaves at the long-stop date"),
    "chronic_failure": Cause("Chronic failure", "the customer leaves after repeated outages"),
    "convenience": Cause("Notice", "the contract is ended on notice"),
    "customer_default": Cause("Customer default", "the customer fails"),
    "repricing": Cause("Re-pricing", "the rent is set anew instead of an exit"),
    "base_case": Cause("Base case", "the base case cannot pay the debt"),
    "late_delivery": Cause("Late delivery", "capacity arrives late"),
    "credits_and_market": Cause("Credits and market", "cash falls short with nothing late and no one leaving"),
}


def cause(code: str) -> Cause:
    """Return the words of a cause; one that is not listed is named by its code.

    >>> cause("late_delivery").because
    'capacity arrives late'
    >>> cause("set_off")
    Cause(name='Set off', because='of set off')
    """
    words = in_words(code)
    return CAUSES.get(code, Cause(words[:1].upper() + words[1:], f"of {words}"))


def ending_shares(score: Mapping[str, Any]) -> dict[str, float]:
    """Return the probability of each way the contract ends early, the greatest first. [1]"""
    by_cause = score["cancellation"]["by_cause"]
    return _greatest_first({code: by_cause[code] for code in by_cause if not code.endswith(_BESIDE)})


def default_shares(score: Mapping[str, Any]) -> dict[str, float]:
    """Return the probability of default by cause, the greatest first. [1]"""
    return _greatest_first({code: figures["pd"] for code, figures in score["default"]["by_cause"].items()})


def loss_shares(score: Mapping[str, Any]) -> dict[str, float]:
    """Return the expected loss by cause, the greatest first; empty where no loss is defined. [bp]"""
    by_cause = score["default"]["by_cause"]
    return _greatest_first(
        {
            code: figures["expected_loss_bp"]
            for code, figures in by_cause.items()
            if figures.get("expected_loss_bp") is not None
        }
    )


_BESIDE = ("_standard_error", "_reason", "_upper_95")
"""Endings of the names that stand beside a figure."""


def _greatest_first(shares: Mapping[str, float]) -> dict[str, float]:
    return dict(sorted(shares.items(), key=lambda item: -item[1]))
