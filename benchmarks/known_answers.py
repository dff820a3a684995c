"""Compare what takes too long for a test with the reference figures of golden deal 10, and print both.

The outer loop over what is not known, and the values that would move the deal by one step. The reference has its own
random numbers, so figures agree within standard errors; quantiles and shares have none and are for reading.
"""

import argparse
import json
import math
import time
from pathlib import Path

import yaml

from risk.core.parameters import parameters
from risk.score.levers import levers
from risk.score.uncertainty import parameter_uncertainty
from schemas.deal import Deal

GOLDEN = Path(__file__).resolve().parents[1] / "tests" / "golden"
NAMES = {
    "customer_hazard": "assumptions.counterparties.customer.default_rate",
    "p_late": "assumptions.delay.share_late",
    "delay_median_months": "assumptions.delay.median",
    "up_mean_hours": "assumptions.prescribed.outages.mean_up_hours",
    "outage_median_hours": "assumptions.prescribed.outages.median_hours",
    "decay_per_year": "assumptions.market.decay_per_year",
    "gen_log_drop": "assumptions.market.next_generation.log_drop",
    "p_reprice": "assumptions.exercise.reprice_probability",
    "novation_fraction": "finance.recovery.novation_share",
}
LEVERS = {
    "backstop_cap_usd": "backstop_amount",
    "decay_per_year": "rent_decay",
    "up_mean_hours": "mean_up_hours",
    "outage_median_hours": "outage_median_hours",
    "loan_usd": "loan",
    "customer_hazard": "customer_default_rate",
}


def main() -> None:
    """Run both and print them beside the reference."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--outer", type=int, default=200, help="sets of parameters")
    parser.add_argument("--inner", type=int, default=4_000, help="futures of each set")
    parser.add_argument("--draws", type=int, default=16_384, help="futures of each lever's run")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    deal = Deal.model_validate(yaml.safe_load((GOLDEN / "gd-10.yaml").read_text()))
    expected = json.loads((GOLDEN / "expected.json").read_text())["GD-10"]["expected"]
    _uncertainty(deal, expected["parameter_uncertainty"], options.outer, options.inner, options.workers)
    _levers(deal, expected["one_notch"]["levers"], options.draws, options.workers)


def _uncertainty(deal: Deal, truth: dict, outer: int, inner: int, workers: int) -> None:
    start = time.perf_counter()
    found = parameter_uncertainty(deal, outer, inner, seed=1, workers=workers)
    print(f"{outer} x {inner} futures, {len(parameters(deal))} inputs: {time.perf_counter() - start:.0f} s")
    loss, default = found["el_bp"], found["pd_term"]
    error = math.hypot(loss["mean_standard_error"], truth["el_bp_mean_se"])
    apart = (loss["mean"] - truth["el_bp_mean"]) / error
    print(f"{'':28}{'here':>10}{'reference':>12}")
    for name, ours, theirs in (
        ("predictive EL [bp]", loss["mean"], truth["el_bp_mean"]),
        ("sd from parameters [bp]", loss["sd_from_parameters"], truth["el_bp_sd_epistemic"]),
        ("EL 5% [bp]", loss["quantiles"]["p5"], truth["el_bp_q05"]),
        ("EL 50% [bp]", loss["quantiles"]["p50"], truth["el_bp_q50"]),
        ("EL 95% [bp]", loss["quantiles"]["p95"], truth["el_bp_q95"]),
        ("predictive PD", default["mean"], truth["pd_mean"]),
        ("judgement share", found["judgement_share"], truth["judgement_share_of_explained_variance"]),
        ("R squared", found["r_squared"], truth["explained"]),
    ):
        print(f"{name:28}{ours:10.3f}{theirs:12.3f}")
    print(f"predictive EL apart by {apart:+.1f} standard errors")
    shares = {entry["paths"][0]: entry["share"] for entry in found["shares"]}
    for name, path in NAMES.items():
        print(f"  share of {name:24}{shares.get(path, 0.0):10.3f}{truth['variance_share'][name]:12.3f}")


def _levers(deal: Deal, truth: list[dict], draws: int, workers: int) -> None:
    start = time.perf_counter()
    found = levers(deal, draws, seed=1, workers=workers, el_bp=473.5, el_bp_per_year=473.5 / 2.744242)
    print(f"one step, {draws} futures a run: {time.perf_counter() - start:.0f} s")
    for entry in truth:
        name = LEVERS.get(entry["lever"])
        direction = "better" if entry["target"] < 473.5 else "worse"
        ours = [one for one in found[direction]["levers"] if one["lever"] == name]
        if ours:
            print(f"  {direction:7}{name:26}{ours[0]['to']:14,.5g}{entry['value']:14,.5g}")


if __name__ == "__main__":
    main()
