"""Which format a file has, and what it holds."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from pathlib import Path

from schemas.errors import DealError, Problem
from slakit.statements.importers import formats
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log

SURE_ENOUGH = 30
"""Least certainty on which a format is taken without being named. [1/100]"""


@cache
def forms() -> dict[str, Form]:
    """Return all formats by id, found by looking through the package `formats`: modules with a name `FORMS`."""
    found: dict[str, Form] = {}
    for module in pkgutil.iter_modules(formats.__path__):
        for form in getattr(import_module(f"{formats.__name__}.{module.name}"), "FORMS", ()):
            if form.id in found:
                raise ValueError(f"two formats are called {form.id!r}")
            found[form.id] = form
    return dict(sorted(found.items()))


def form_of(log: Log, named: str | None = None) -> Form:
    """Return the format of a file: the one named, else the surest.

    Raises
    ------
    DealError
        When no such format is known, none knows the file, or two are equally sure.
    """
    known = forms()
    if named is not None:
        if named not in known:
            raise _refused("--format", repr(named), f"one of {', '.join(known)}", "correct the name")
        return known[named]
    by_certainty = sorted(((form.sniff(log), form.id) for form in known.values()), reverse=True)
    (best, name), (second, other) = by_certainty[:2]
    if best < SURE_ENOUGH:
        raise _refused(
            log.name,
            f"a file that begins {log.head[:60]!r}",
            "one of the formats known",
            f"name its format with --format: {', '.join(known)}",
        )
    if best == second:
        raise _refused(log.name, f"a file that may be {name} or {other}", "one format", "name it with --format")
    return known[name]


def imported(path: Path, options: Options, named: str | None = None) -> Imported:
    """Return what a file holds.

    Raises
    ------
    DealError
        When the file as a whole must be refused.
    """
    log = Log.open(path)
    return form_of(log, named).read(log, options)


def _refused(where: str, found: str, expected: str, remedy: str) -> DealError:
    return DealError([Problem(where, found, expected, remedy)])
