"""How a command ends: its figures in words or as one JSON document, its problems in full, its exit code."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import typer

from schemas.errors import (
    DealError,
    MissingTermError,
    NotComputedError,
    Problem,
    SlakitError,
    TermsError,
    TermsErrors,
)

if TYPE_CHECKING:
    from rich.console import Console

    from slakit.load import LoadedDeal

DONE, ERRORS = 0, 1


class Outcome:
    """What a command hands back: its JSON, how to print it in words, whether it found errors, what comes after."""

    def __init__(
        self,
        document: Mapping[str, Any],
        show: Callable[[Console], None],
        *,
        found_errors: bool = False,
        then: Callable[[], None] | None = None,
    ) -> None:
        self.document, self.show, self.found_errors, self.then = document, show, found_errors, then


def finished(as_json: bool, run: Callable[..., Outcome], *arguments: Any) -> int:
    """Run a command, print what it returns or what went wrong, and return the exit code."""
    try:
        outcome = run(*arguments)
        if as_json:
            from slakit.json_text import json_text

            typer.echo(json_text(outcome.document), nl=False)
        else:
            outcome.show(console())
        if outcome.then is not None:
            outcome.then()
    except (SlakitError, TermsError, TermsErrors, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        print_problems(problems_of(error), as_json)
        return ERRORS
    return ERRORS if outcome.found_errors else DONE


@contextmanager
def placed(loaded: LoadedDeal) -> Iterator[None]:
    """Give a problem that arises after loading the file, line and column of the terms it names."""
    try:
        yield
    except (SlakitError, TermsError, TermsErrors) as error:
        raise DealError(_at_its_place(problem, loaded) for problem in problems_of(error)) from None


def _at_its_place(problem: Problem, loaded: LoadedDeal) -> Problem:
    section = re.match(r"\w*", problem.path)
    if problem.file is not None or section is None or section[0] not in type(loaded.deal).model_fields:
        return problem
    line, column = loaded.positions.of(problem.path)
    return replace(problem, file=loaded.path, line=line, column=column)


def console(*, to_errors: bool = False) -> Console:
    """Return where to print words."""
    from rich.console import Console

    return Console(stderr=to_errors, highlight=False, markup=False, emoji=False)


def problems_of(error: Exception) -> tuple[Problem, ...]:
    """Return an error as problems."""
    match error:
        case DealError():
            return error.problems
        case NotComputedError():
            return (Problem(error.path, error.what, "something this version computes", error.remedy),)
        case MissingTermError():
            return (Problem(error.path, "nothing", f"a term that {error.needed_by} needs", error.remedy),)
        case TermsErrors():
            return tuple(problem for one in error.errors for problem in problems_of(one))
        case TermsError():
            return (Problem("(whole file)", error.found, error.expected, error.remedy),)
        case OSError():
            said = error.strerror or type(error).__name__
            return (Problem(str(error.filename or "(system)"), said, "a place to read from or write to", "correct it"),)
    return (Problem("(command)", str(error), "terms that can be computed", "correct the deal"),)


def print_problems(problems: tuple[Problem, ...], as_json: bool) -> None:
    """Print problems: as JSON on standard output, or in words on standard error."""
    if as_json:
        from slakit.json_text import json_text, problem_json

        typer.echo(json_text({"errors": [problem_json(problem) for problem in problems]}), nl=False)
        return
    for problem in problems:
        typer.echo(str(problem), err=True)
    if len(problems) > 1:
        typer.echo(f"{len(problems)} errors.", err=True)


def is_watched() -> bool:
    """Whether a person sees standard error, so that progress is worth drawing."""
    return sys.stderr.isatty()
