"""What the GPUs are worth, against the debt."""

from __future__ import annotations

from typing import Any

from risk.core.statistics import quantile
from risk.finance.waterfall import Finances
from risk.result import Result


def residual_value(finances: object, base: Result, result: Result) -> dict[str, Any] | None:
    """Return the value of all GPUs by month and the loan against it, None where the deal has no law of value."""
    if "gpu_value_total" not in result.monthly:
        return None
    values = result.monthly["gpu_value_total"]
    by_month: dict[str, list[Any]] = {"months": list(range(1, result.months + 1))}
    for name, level in (("p5", 0.05), ("p50", 0.5), ("p95", 0.95)):
        by_month[name] = [quantile(values[:, m], level) for m in range(result.months)]
    base_value = base.monthly["gpu_value_total"][0]
    out: dict[str, Any] = {"value_by_month": by_month, "base": base_value.tolist()}
    if isinstance(finances, Finances) and finances.plan is not None:
        balance = finances.plan.closing
        out["balance"] = balance.tolist()
        out["loan_to_value"] = {
            "base": [float(b / v) if v > 0 else None for b, v in zip(balance, base_value, strict=True)],
            "reason": "none where the value is 0",
        }
    return out
