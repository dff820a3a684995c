"""All rules on one deal, for one reader."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from types import ModuleType

from schemas.deal import Deal
from slakit.checks import rules
from slakit.checks.finding import SEVERITIES, Audience, Finding, Raised

UNKNOWN_ACCEPTED = "accepted-finding-unknown"


@cache
def rule_modules() -> tuple[ModuleType, ...]:
    """Return the modules of `slakit.checks.rules`; each has an `ID` and a `find(deal)` that yields what it raises."""
    names = sorted(module.name for module in pkgutil.iter_modules(rules.__path__))
    return tuple(import_module(f"{rules.__name__}.{name}") for name in names)


def lint(deal: Deal, audience: Audience = "lawyer") -> tuple[Finding, ...]:
    """Return the findings on the terms as signed and as amended, the most severe first.

    Terms that an amendment changes are read again as of its date; a finding that was there before is not repeated.
    A finding in `accepted_findings` becomes a note to counsel and to nobody else.
    """
    found: dict[tuple[str, str, str | None], Finding] = {}
    days = sorted({amendment.effective_from for amendment in deal.amendments})
    for day in (None, *days):
        terms = deal if day is None else deal.at(day)
        for module in rule_modules():
            for raised in module.find(terms):
                finding = _for_reader(module.ID, raised, deal, audience)
                if finding is None:
                    continue
                key = (finding.id, finding.path, finding.paragraph)
                if key not in found:
                    found[key] = finding if day is None else _from(finding, f"From {day.isoformat()}: ")
    findings = [*found.values(), *_unknown_accepted(deal)]
    return tuple(sorted(findings, key=lambda f: (SEVERITIES.index(f.severity), f.id, f.path)))


def _for_reader(id_: str, raised: Raised, deal: Deal, audience: Audience) -> Finding | None:
    severity = raised.concern.of(audience)
    if severity is None:
        return None
    accepted = deal.accepted_findings.get(id_) if audience == "lawyer" and severity != "note" else None
    message = raised.message
    if accepted is not None:
        severity = "note"
        message += f" Accepted on {accepted.as_of.isoformat()}: {accepted.reason}"
    return Finding(id_, severity, raised.paragraph, raised.path, message, raised.money, accepted)


def _from(finding: Finding, start: str) -> Finding:
    return Finding(
        finding.id,
        finding.severity,
        finding.paragraph,
        finding.path,
        start + finding.message,
        finding.money,
        finding.accepted,
    )


def _unknown_accepted(deal: Deal) -> Iterator[Finding]:
    known = {module.ID for module in rule_modules()}
    for id_ in deal.accepted_findings:
        if id_ not in known:
            yield Finding(
                UNKNOWN_ACCEPTED,
                "warning",
                None,
                f"accepted_findings.{id_}",
                f"No finding has the id {id_!r}, so nothing is accepted by it. Known: {', '.join(sorted(known))}.",
                None,
            )
