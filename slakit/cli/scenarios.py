"""`slakit scenarios`: a deal as it is beside itself under stresses, its own or those of a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from slakit.cli.outcome import Outcome, placed
from slakit.load import load_deal


def run(path: Path, file: Path | None, draws: int | None, seed: int) -> Outcome:
    """Return the deal under each stress: on the base path, and on draws where their number is given."""
    loaded = load_deal(path)
    from risk.score.mitigations import at_close
    from risk.score.named_stresses import stresses
    from risk.score.stresses import run_stresses
    from slakit.loading.scenario_file import load_scenarios
    from slakit.manifest import manifest
    from slakit.reports import scenarios_terminal

    with placed(loaded):
        deal = at_close(loaded.deal)
        chosen = stresses(deal)
    if file is not None:
        chosen += load_scenarios(file, deal)
    with placed(loaded):
        rows = run_stresses(deal, chosen, draws or 0, seed)
    document: dict[str, Any] = {
        "title": deal.title,
        "currency": deal.finance.currency if deal.finance else None,
        "draws": draws or 0,
        "seed": seed,
        "scenarios": rows,
        "manifest": manifest(loaded, seed, draws or 0),
    }
    return Outcome(document, lambda console: scenarios_terminal.show(console, document))
