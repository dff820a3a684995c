"""How old a missing security fix is, against the age that the contract allows for its severity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True)
class MissingFix:
    """A fix that a scan found missing on a host."""

    host: str
    severity: str
    fix_published: date
    scanned: date


@dataclass(frozen=True, slots=True)
class PatchAge:
    """The age of one missing fix."""

    found: MissingFix
    age_days: int
    """[day]"""
    limit_days: int
    """[day]"""

    @property
    def is_kept(self) -> bool:
        """Return whether the fix is not older than allowed; exactly as old is."""
        return self.age_days <= self.limit_days


def exact(found: Sequence[MissingFix], limits: Mapping[str, int]) -> tuple[PatchAge, ...]:
    """Return the age of each missing fix on the day of the scan, in the order given.

    Parameters
    ----------
    limits : greatest age by severity; `other` stands for severities that it does not name. [day]

    Raises
    ------
    KeyError
        When a severity has no limit and there is none for `other`.
    """
    return tuple(
        PatchAge(
            one,
            (one.scanned - one.fix_published).days,
            limits[one.severity] if one.severity in limits else limits["other"],
        )
        for one in found
    )


def hosts_failed(ages: Sequence[PatchAge]) -> tuple[str, ...]:
    """Return the hosts on which any fix is older than allowed, each once, in the order found."""
    return tuple(dict.fromkeys(age.found.host for age in ages if not age.is_kept))
