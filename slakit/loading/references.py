"""What a deal points at must be there: paths of provenance and amendments, entries of the data files."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches

from pydantic import ValidationError

from risk.core.data import component_types, hardware_generations
from schemas.deal import Amendment, Deal, path_of, steps_of, value_at
from schemas.errors import Problem, TermsError
from schemas.topology import ComponentBlock
from slakit.loading.positions import Positions, written
from slakit.loading.problems import problems_of

WHOLE_DEAL = "*"


def provenance_problems(deal: Deal, positions: Positions, file: str) -> Iterator[Problem]:
    """Yield a problem for each path of `provenance` that leads nowhere."""
    for pattern in deal.provenance:
        if pattern == WHOLE_DEAL:
            continue
        path = pattern.removesuffix(".*")
        steps = ("provenance", pattern)
        line, column = positions.at(steps, key=True)
        place = written(steps)
        try:
            value = value_at(deal, path)
        except TermsError as error:
            yield Problem(place, error.found, error.expected, error.remedy, line, column, file)
            continue
        except KeyError:
            value = None
        if value is None:
            yield Problem(
                place,
                f"{path!r}, where the deal says nothing",
                "the path of a value of this deal, a path with .* after it, or *",
                f"correct the path; the nearest that is there is {nearest_path(deal, path)!r}",
                line,
                column,
                file,
            )


def data_problems(deal: Deal, positions: Positions, file: str) -> Iterator[Problem]:
    """Yield a problem for each hardware generation and type of component that has no data file."""
    for name, cluster in deal.clusters.items():
        if cluster.hardware is not None:
            place = ("clusters", name, "hardware")
            yield from _without_data(cluster.hardware, hardware_generations(), place, positions, file)
    for name, site in deal.sites.items():
        for key, block in site.topology.blocks.items() if site.topology else ():
            if isinstance(block, ComponentBlock):
                path = ("sites", name, "topology", "blocks", key, "component")
                yield from _without_data(block.component, component_types(), path, positions, file)


def _without_data(
    name: str, known: tuple[str, ...], steps: tuple[str, ...], positions: Positions, file: str
) -> Iterator[Problem]:
    if name not in known:
        close = get_close_matches(name, known, 1)
        remedy = f"did you mean {close[0]}?" if close else "use one of these names"
        yield Problem(written(steps), repr(name), f"one of {', '.join(known)}", remedy, *positions.at(steps), file)


def nearest_path(deal: Deal, path: str) -> str:
    """Return the longest beginning of `path` that is there, or `*`."""
    steps = steps_of(path)
    for length in range(len(steps) - 1, 0, -1):
        beginning = path_of(steps[:length])
        try:
            if value_at(deal, beginning) is not None:
                return beginning
        except KeyError:
            continue
    return WHOLE_DEAL


def amendment_problems(deal: Deal, positions: Positions, file: str) -> Iterator[Problem]:
    """Yield the problems of terms as amended, each at the amendment that makes it.

    Amendments are applied in the order of their dates; one that fails is left out before the next is tried, so that
    each is judged by itself.
    """
    current = deal
    for index, amendment in sorted(enumerate(deal.amendments), key=lambda item: item[1].effective_from):
        tried = current.revise({"amendments": (amendment,)})
        try:
            current = tried.at(amendment.effective_from)
        except TermsError as error:
            yield _at_amendment(index, error, positions, file)
        except ValidationError as error:
            data = tried.data_at(amendment.effective_from)
            yield from _of_amended_terms(index, amendment, data, error, positions, file)


def _at_amendment(index: int, error: TermsError, positions: Positions, file: str) -> Problem:
    line, column = positions.at(("amendments", index, "set"), key=True)
    return Problem(written(("amendments", index, "set")), error.found, error.expected, error.remedy, line, column, file)


def _of_amended_terms(
    index: int, amendment: Amendment, data: object, error: ValidationError, positions: Positions, file: str
) -> Iterator[Problem]:
    """Yield the problems of the amended terms, placed at the line of the amendment that sets the value."""
    for problem in problems_of(error, data, positions, file):
        about = problem.path
        setter = next((path for path in amendment.set if _overlap(path, about)), None)
        steps = ("amendments", index, "set", *((setter,) if setter else ()))
        line, column = positions.at(steps, key=True)
        found = problem.found if setter == about else f"at {about} {problem.found}"
        yield Problem(written(steps), found, problem.expected, problem.remedy, line, column, file)


def _overlap(path: str, about: str) -> bool:
    """Whether one of two paths holds the other."""
    try:
        first, second = steps_of(path), steps_of(about)
    except TermsError:
        return False
    shared = min(len(first), len(second))
    return first[:shared] == second[:shared]
