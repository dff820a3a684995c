"""`slakit site`: the redundancy of the sites of a deal."""

from __future__ import annotations

from pathlib import Path

from slakit.cli.outcome import Outcome, placed
from slakit.load import load_deal


def run(path: Path) -> Outcome:
    """Return availability, outages, weak points and capacity of each site."""
    loaded = load_deal(path)
    from risk.availability import site_report
    from slakit.reports import site_terminal

    with placed(loaded):
        report = site_report(loaded.deal)
    return Outcome(report, lambda console: site_terminal.show(console, report))
