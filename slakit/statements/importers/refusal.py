"""One way to refuse a file."""

from __future__ import annotations

from schemas.errors import DealError, Problem


def refused(where: str, found: str, expected: str, remedy: str) -> DealError:
    """Return the error that refuses a whole file, to be raised."""
    return DealError([Problem(where, found, expected, remedy)])
