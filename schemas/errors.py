"""Problems a person can act on, and the exceptions that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with the input: where it is, what was found, what was expected, what to do."""

    path: str
    """Path in the deal, for example `service_levels.nodes.credit.bands[1].below`."""
    found: str
    expected: str
    remedy: str
    line: int | None = None
    column: int | None = None
    file: str | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        head = f"{place} {self.path}" if place else self.path
        return f"{head}: found {self.found}; expected {self.expected}; {self.remedy}"


class SlakitError(Exception):
    """Base of every error slakit raises on purpose."""


class DealError(SlakitError):
    """The input holds one or more problems; all of them are listed."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class TermsError(ValueError):
    """A value of a term contradicts itself or another term.

    Raised inside validators, so the message says found and expected, then a `|`, then what to do.
    """

    def __init__(self, found: str, expected: str, remedy: str) -> None:
        self.found, self.expected, self.remedy = found, expected, remedy
        super().__init__(f"found {found}; expected {expected}; {remedy}")


class TermsErrors(ValueError):
    """Several contradictions of one model, so that all of them are listed at once."""

    def __init__(self, errors: Iterable[TermsError]) -> None:
        self.errors = tuple(errors)
        super().__init__("\n".join(str(error) for error in self.errors))


class NotComputedError(SlakitError):
    """A term is valid but this version cannot compute it; it is refused by name, never guessed."""

    def __init__(self, path: str, what: str, remedy: str) -> None:
        self.path, self.what, self.remedy = path, what, remedy
        super().__init__(f"{path}: {what} is not computed by this version; {remedy}")


class MissingTermError(SlakitError):
    """A command needs a term that the deal does not give."""

    def __init__(self, path: str, needed_by: str, remedy: str) -> None:
        self.path, self.needed_by, self.remedy = path, needed_by, remedy
        super().__init__(f"{path}: missing, and needed by {needed_by}; {remedy}")
