"""Slurm's reasons for a state: the text, who set it and when; names of users stay out unless asked for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from slakit.statements.importers.form import Options
from slakit.statements.importers.log import WITHHELD, Log
from slakit.statements.importers.slurm_states import slurm_words

SYSTEM_ACCOUNTS = frozenset({"root", "slurm"})
"""Accounts that are no person: left out where a user is named, but not searched for in free text."""
NONE = frozenset({"", "none", "(null)", "n/a"})
"""Spellings of no reason, in lower case."""

_SET_BY = re.compile(r"\[([^\[\]@]{1,64})@([^\[\]@]{1,40})\]")
_USER_IN_BRACKETS = re.compile(r"\[[^\[\]@]{1,64}@(?=[^\[\]@]{1,40}(?:\]|$))")
_WITH_NUMBER = re.compile(r"(.+)\((\d+)\)")


@dataclass(frozen=True, slots=True)
class Reason:
    """A reason taken apart."""

    text: str
    """Blank where there is none."""
    user: str | None = None
    set_at: str | None = None
    """As written, without a zone."""


def taken_apart(written: str) -> Reason:
    """Return a reason such as `bad fan [kim@2026-05-01T10:00:00]` in its parts.

    Examples
    --------
    >>> taken_apart("bad fan [kim@2026-05-01T10:00:00]")
    Reason(text='bad fan', user='kim', set_at='2026-05-01T10:00:00')
    """
    written = written.strip()
    place = written.rfind("[")
    found = _SET_BY.fullmatch(written, place) if place >= 0 else None
    text = written[:place].strip() if found is not None else written
    text = "" if text.casefold() in NONE else text
    return Reason(text, found[1].strip(), found[2].strip()) if found is not None else Reason(text)


def names_of(users: Sequence[str | None], options: Options) -> tuple[str, ...]:
    """Return the names that must not be shown, in each spelling: `kim(1021)`, `kim`, `1021`."""
    if options.with_names:
        return ()
    found: list[str] = []
    for user in users:
        user = (user or "").strip()
        numbered = _WITH_NUMBER.fullmatch(user)
        spellings = [user, *(numbered.groups() if numbered else ())]
        names = [name for name in spellings if len(name) > 2 or not name.isdecimal()]
        if not SYSTEM_ACCOUNTS.intersection(spellings):
            found += [name for name in names if name.casefold() not in {*NONE, "unknown"}]
    return tuple(dict.fromkeys(found))


def without_users(raw: str, options: Options) -> str:
    """Return a raw text without the users in brackets after reasons."""
    return raw if options.with_names else _USER_IN_BRACKETS.sub(f"[{WITHHELD}@", raw)


def cause(log: Log, reason: str, state: str, private: tuple[str, ...]) -> str:
    """Return the reason as a cause, without `private` names; the words of the state where no reason is given."""
    return log.evidence(None, reason or f"state {state}, no reason given", private).text


def earliest_start(reason: str, set_at: datetime) -> datetime | None:
    """Return how early a node may have failed that Slurm set DOWN because it did not respond; None for other reasons.

    Notes
    -----
    Slurm waits for SlurmdTimeout, 300 s by default, before it sets a node DOWN.
    """
    if not reason.casefold().startswith(("not responding", "node not responding")):
        return None
    return set_at - slurm_words().slurmd_timeout
