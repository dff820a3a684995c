"""Cost of ownership: what a GPU-hour must earn over the term, line by line, and the rent that covers it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from risk.core.calendar import HOURS_PER_EQUAL_MONTH
from risk.core.running_cost import RunningCost, running_cost
from risk.core.setting import Setting, share_in_term
from schemas.errors import MissingTermError

FloatArray = NDArray[np.float64]
IGNORES = (
    "Cost of ownership: every tranche on its date, under contract and at full load to the end of its term; no delay, "
    "outage, credit, tax, reserve or empty month; a charge for the use of money at one rate instead of debt and "
    "equity."
)


def cost_of_ownership(
    setting: Setting,
    *,
    annual_rate: float | None = None,
    gpu_value: FloatArray | None = None,
    insurance_premium: FloatArray | None = None,
    cover_fee: FloatArray | None = None,
) -> dict[str, Any]:
    """Return the cost of owning and running the GPUs over the term, by line, with the rent that covers it.

    Parameters
    ----------
    annual_rate
        Charge for the use of money, annual effective; when not given that of `assumptions.value.discount_rate`, else
        that of the loan. [1/year]
    gpu_value
        Value of all GPUs at the end of each month, of the base case, shape (months,); what is left at the end of the
        term is taken off capital. Nothing is taken off when not given. [currency]
    insurance_premium, cover_fee
        Paid in each month of the base case, shape (months,). [currency]

    Returns
    -------
    dict
        `lines`, each with `name`, `per_gpu_hour`, `per_gpu_month` of 730 hours, `total` over the term, `cash` as paid,
        and `rests_on`; `rent_to_cover_it` and `contract_rent` [currency/GPU-hour]; `gpu_hours`; `last_month`;
        `annual_rate` and `annual_rate_rests_on`; `ignores`. Where a tranche does not say what its GPUs are, no line,
        and `rent_to_cover_it` None with its reason.

    Notes
    -----
    Levelised: with v^m the discount factor of month m, a line costs sum(cash v^m) / sum(GPU-hours v^m) for each
    GPU-hour, and `total` is that on all GPU-hours of the term. Capital recovery is the level charge that pays capital
    expenditure and other uses at close back with the rate, less what is left at the end: the annuity that takes the
    place of depreciation and interest. So at `rent_to_cover_it`, the sum of the lines, the present value of rent less
    cost is 0.

    Raises
    ------
    MissingTermError
        When no rate is given and the deal has none.

    References
    ----------
    Short, Packey and Holt, A Manual for the Economic Evaluation of Energy Efficiency and Renewable Energy Technologies,
    NREL/TP-462-5173, 1995, section on the levelised cost of energy (pre-tax form).
    """
    deal, finance = setting.deal, setting.deal.finance
    assert finance is not None
    if not setting.gpus.all():
        reason = "a tranche names no cluster, so its GPUs are not known"
        return {"lines": [], "rent_to_cover_it": None, "rent_to_cover_it_reason": reason, "ignores": IGNORES}
    rate, rate_rests_on = _rate(setting, annual_rate)
    number = np.arange(1, setting.months + 1, dtype=float)
    ends = setting.term_ends(setting.planned_ready)
    share = np.stack([share_in_term(setting.planned_ready, int(m), ends) for m in number], axis=1)
    sold = share > 0
    last = int(number[sold.any(axis=0)].max(initial=0.0))
    hours = (setting.gpus[:, None] * share * setting.timeline.hours).sum(axis=0)
    factor = (1.0 + rate) ** (-number / 12)
    worth_of_hours = float(hours @ factor)
    if worth_of_hours == 0:
        reason = "no tranche is in its term within the months simulated"
        return {"lines": [], "rent_to_cover_it": None, "rent_to_cover_it_reason": reason, "ignores": IGNORES}
    in_term = (number <= last).astype(float)
    lines = []

    def add(name: str, cash: FloatArray, rests_on: str, at_close: float = 0.0) -> None:
        if not cash.any() and at_close == 0:
            return
        each = (at_close + float(cash @ factor)) / worth_of_hours
        lines.append(
            {
                "name": name,
                "total": each * float(hours.sum()),
                "per_gpu_hour": each,
                "per_gpu_month": each * HOURS_PER_EQUAL_MONTH,
                "cash": at_close + float(cash.sum()),
                "rests_on": rests_on,
            }
        )

    left = np.zeros(setting.months)
    rests_on = f"finance.capital_expenditure and other_uses, paid back at {rate:.2%} a year over the term"
    if gpu_value is not None:
        left[last - 1] = -float(gpu_value[last - 1])
        rests_on += f", less the base case's value of the GPUs at the end of month {last}"
    else:
        rests_on += ", nothing being left at its end"
    add("capital_recovery", left, rests_on, float(finance.capital_expenditure) + float(finance.other_uses))
    for name, cash, basis in _running(setting, running_cost(setting), share):
        add(name, cash * in_term, basis)
    for name, paid, basis in (
        ("insurance_premium", insurance_premium, "insurance.layers.*.premium_per_month"),
        ("cover_fee", cover_fee, "backstop.fee_rate and amount"),
    ):
        if paid is not None:
            add(name, paid * in_term, basis)
    fees = (setting.fees * share).sum(axis=0)
    out: dict[str, Any] = {
        "lines": lines,
        "rent_to_cover_it": sum(line["per_gpu_hour"] for line in lines),
        "contract_rent": float(fees @ factor) / worth_of_hours,
        "gpu_hours": float(hours.sum()),
        "last_month": last,
        "annual_rate": rate,
        "annual_rate_rests_on": rate_rests_on,
        "ignores": IGNORES,
    }
    beyond = float(ends.max()) - setting.months
    if beyond > 0:
        out["ignores"] += f" The term runs {beyond:g} months past the last month simulated; they are left out."
    if deal.commercial and deal.commercial.prepayment:
        out["ignores"] += " Fees are counted when they accrue, not when they are paid ahead."
    return out


def _rate(setting: Setting, annual_rate: float | None) -> tuple[float, str]:
    """Return the annual effective rate, and what it rests on. [1/year]"""
    if annual_rate is not None:
        return annual_rate, "as asked for"
    value, finance = setting.deal.assumptions.value, setting.deal.finance
    assert finance is not None
    if value is not None:
        return float(np.expm1(float(value.discount_rate))), "assumptions.value.discount_rate, continuous"
    if finance.loan is not None:
        return (1 + float(finance.loan.annual_rate) / 12) ** 12 - 1, "finance.loan.annual_rate, monthly"
    raise MissingTermError("assumptions.value.discount_rate", "the cost of ownership", "give it, or a loan")


def _running(setting: Setting, cost: RunningCost, share: FloatArray) -> list[tuple[str, FloatArray, str]]:
    """Return name, cash by month and basis of each cost of running in the term. [currency]"""
    gpus, deal = setting.gpus, setting.deal
    used = (gpus[:, None] * share * setting.timeline.hours).T
    months = (gpus[:, None] * share).T
    from_power = "power.kw_per_gpu or the hardware file, pue and price_per_mwh, at full load"
    rented = "power.site_rent_per_kw_month on "
    rented += "contracted_kw" if deal.power and deal.power.contracted_kw is not None else "the GPUs' equipment power"
    return [
        ("power", used @ cost.power, from_power if deal.power else "finance.operating_costs.power, at full load"),
        ("site_rent", months @ cost.site_rent * cost.growth, rented),
        ("staff", months @ cost.staff * cost.growth, "operations.staff_per_gpu_month"),
        ("property_insurance", months @ cost.property_insurance, "operations.property_insurance_rate of capital"),
        ("other", used @ cost.other + cost.shared, "finance.operating_costs.other and fixed"),
    ]
