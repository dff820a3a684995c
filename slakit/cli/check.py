"""`slakit check`: is the deal valid, and what should its reader know."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from schemas.errors import DealError, Problem
from slakit.checks.finding import Audience, Finding, Severity
from slakit.checks.lint import lint
from slakit.cli.outcome import Outcome, print_problems
from slakit.json_text import problem_json
from slakit.load import LoadedDeal, load_deal

if TYPE_CHECKING:
    from rich.console import Console

_COUNTED: dict[Severity, tuple[str, str]] = {
    "error": ("{} blocks signing", "{} block signing"),
    "warning": ("{} costs money", "{} cost money"),
    "note": ("{} is a note", "{} are notes"),
}
_ALONE: dict[Severity, tuple[str, str]] = {
    "error": ("{} finding for the {} blocks signing", "{} findings for the {} block signing"),
    "warning": ("{} finding for the {} costs money", "{} findings for the {} cost money"),
    "note": ("{} note for the {}", "{} notes for the {}"),
}
"""How findings are counted, one and many: among others, and where all are of one kind."""
_LABELS: dict[Severity, str] = {"error": "blocks signing", "warning": "costs money", "note": "note"}
_STYLES: dict[Severity, str] = {"error": "bold red", "warning": "bold yellow", "note": "bold"}


def run(path: Path, reader: str) -> Outcome:
    """Return the errors of a deal file, or its findings for one reader."""
    audience = cast("Audience", reader)
    try:
        loaded = load_deal(path)
    except DealError as error:
        problems = error.problems
        document: dict[str, Any] = {
            "deal": str(path),
            "for": audience,
            "errors": [problem_json(problem) for problem in problems],
            "warnings": [],
            "findings": [],
        }
        return Outcome(document, lambda console: print_problems(problems, as_json=False), found_errors=True)
    findings = lint(loaded.deal, audience)
    document = {
        "deal": str(path),
        "deal_sha256": loaded.sha256,
        "for": audience,
        "errors": [],
        "warnings": [problem_json(warning) for warning in loaded.warnings],
        "findings": [_json(finding, loaded) for finding in findings],
    }
    found_errors = any(finding.severity == "error" for finding in findings)
    return Outcome(document, lambda console: _show(console, loaded, findings, audience), found_errors=found_errors)


def _json(finding: Finding, loaded: LoadedDeal) -> dict[str, Any]:
    line, column = loaded.positions.of(finding.path)
    return {
        "id": finding.id,
        "severity": finding.severity,
        "paragraph": finding.paragraph,
        "path": finding.path,
        "line": line,
        "column": column,
        "message": finding.message,
        "money": finding.money,
        "accepted": finding.accepted,
    }


def answer(findings: tuple[Finding, ...], audience: Audience) -> str:
    """Return the one sentence that answers."""
    counts = Counter(finding.severity for finding in findings)
    kinds = [severity for severity in _COUNTED if counts[severity]]
    if not kinds:
        return f"The deal is valid, and {'an' if audience == 'insurer' else 'a'} {audience} finds nothing to remark."
    head = "The deal is valid" if not counts["error"] else "The deal is valid and not ready to sign"
    words = _ALONE if len(kinds) == 1 else _COUNTED
    parts = [words[kind][counts[kind] > 1].format(counts[kind], audience) for kind in kinds]
    if len(parts) == 1:
        return f"{head}: {parts[0]}."
    return f"{head}: of {len(findings)} findings for the {audience}, {', '.join(parts[:-1])} and {parts[-1]}."


def _show(console: Console, loaded: LoadedDeal, findings: tuple[Finding, ...], audience: Audience) -> None:
    from slakit.reports.figures import money_estimate
    from slakit.reports.terminal import print_line, print_list

    console.print()
    print_line(console, answer(findings, audience), style="bold")
    for finding in findings:
        line, _ = loaded.positions.of(finding.path)
        console.print()
        print_line(console, f"{_LABELS[finding.severity]}: {finding.id}", style=_STYLES[finding.severity])
        print_line(console, finding.message)
        parts = [f"{finding.path}, line {line}"]
        if finding.paragraph:
            parts.append(f"paragraph {finding.paragraph}")
        if finding.money:
            parts.append(f"{money_estimate(finding.money.amount, finding.money.currency)} at stake")
        print_line(console, "; ".join(parts), style="dim")
    print_list(console, "Read rightly, but may surprise", [_said(warning) for warning in loaded.warnings])
    console.print()
    if audience == "lawyer" and any(finding.severity == "error" for finding in findings):
        print_line(console, "To let one stand, put its name under accepted_findings, with a reason and as_of.", "dim")
    print_line(console, f"Deal {loaded.sha256[:8]}. For review by counsel.", style="dim")


def _said(warning: Problem) -> str:
    return f"{warning.path}, line {warning.line}: {warning.found}; {warning.remedy}."
