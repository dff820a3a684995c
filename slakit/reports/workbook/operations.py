"""Columns of the base case from fees to cash available for debt service: operations, cover, tax."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from schemas.backstop import IndexPriceFloor, UtilisationFloor
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.cover import cover_columns, cover_is_paid
from slakit.reports.workbook.grid import Column, Grid
from slakit.reports.workbook.inputs import Inputs
from slakit.reports.workbook.tranches import Tranches

HELD_BY_FORMULA = (
    *("fees", "prepayment_credited", "prepayment_refunded", "reletting", "operating_costs"),
    *("insurance_premium", "backstop", "backstop_fee", "backstop_revenue_share"),
)
"""Cash lines of the engine that the sheets compute; any other with cash in it is shown as the model gave it."""
NOTHING_IN_BASE = (
    ("credits", "Service credits", ("credits",)),
    ("damages", "Delay damages", ("delay_damages", "delay_damages_set_off", "damages_recovered")),
    ("recovery", "Insurance paid", ("insurance_recovery",)),
)
"""Lines without cash in a base case: nothing is late, down or claimed."""


def market_inputs(basis: Basis, inputs: Inputs) -> None:
    """Add the market's quoted path, where something is let or covered at its rent."""
    market = basis.deal.assumptions.market
    covered = isinstance(basis.deal.backstop, UtilisationFloor | IndexPriceFloor)
    if market is None or not (covered or basis.deal.assumptions.reletting is not None):
        return
    inputs.section("Market")
    path, add = "assumptions.market", inputs.term
    add("spot_rent", "Spot rent at close", f"{path}.spot_rent", market.spot_rent.unit, look.CENTS)
    add("rent_decay", "Loss of log rent a year", f"{path}.decay_per_year", "1/year")
    if market.next_generation is not None:
        add("launch_earliest", "Next generation, earliest", f"{path}.next_generation.earliest", "month")
        add("launch_latest", "Next generation, latest", f"{path}.next_generation.latest", "month")
        add("launch_drop", "Fall of log rent at its launch", f"{path}.next_generation.log_drop", "1")


def insurance_inputs(basis: Basis, inputs: Inputs) -> None:
    """Add the premium of each layer of insurance."""
    if basis.deal.insurance is None:
        return
    inputs.section("Insurance")
    for k, (name, layer) in enumerate(basis.deal.insurance.layers.items(), start=1):
        path = f"insurance.layers.{name}"
        unit = f"{basis.finance.currency}/month"
        inputs.term(f"layer_{k}_premium", f"Premium, {name}", f"{path}.premium_per_month", unit, look.MONEY)
        if layer.premium_from is not None:
            inputs.term(f"layer_{k}_from", f"Premium begins, {name}", f"{path}.premium_from", "date")
        elif basis.loan is not None:
            words = f"Premium begins with the first debt payment, {name}"
            inputs.formula(f"layer_{k}_from", words, "=first_payment_month-1", "months after close")
        else:
            words = f"Premium begins with the first debt service, {name}"
            inputs.formula(f"layer_{k}_from", words, "=debt_service_from-1", "months after close")


def operations(grid: Grid, basis: Basis, inputs: Inputs, tranches: Tranches) -> None:
    """Add hours, capacity, cash before tax, tax and cash available for debt service."""
    currency = basis.finance.currency
    grid.add("Calendar", _calendar(basis, inputs, currency))
    if basis.setting.gpus.any():
        gpus = [
            (
                f"{key}_gpus",
                words,
                "=" + "+".join(f"{_cell(key, j)}*{tranches.at('gpus', j - 1)}" for j in _each(tranches)),
            )
            for key, words in (("ready", "GPUs ready"), ("term", "GPUs under contract"))
        ]
        grid.add("Capacity", [Column(key, words, formula, look.COUNT, "GPU", width=11) for key, words, formula in gpus])
    cover = cover_columns(basis, inputs, tranches)
    if cover:
        grid.add("Cover", cover)
    lines = [*_lines(basis, inputs, tranches, currency)]
    before_tax = "=" + "+".join(f"[{line.key}]" for line in lines)
    lines.append(Column("before_tax", "Cash before tax", before_tax, unit=currency, total=True, bold=True))
    grid.add("Operating cash", lines)
    tax = list(_tax(basis, inputs, currency))
    grid.add("Tax", tax)
    after = "=[before_tax]-[tax]" if tax else "=[before_tax]"
    words = "Cash available for debt service"
    if basis.deal.assumptions.prescribed.cfads is not None:
        after, words = "=cfads_multiple*[service]", "Cash for debt service, prescribed"
    grid.add("CFADS", [Column("cfads", words, after, unit=currency, total=True, bold=True)])


def _calendar(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    line = basis.setting.timeline
    content: str | tuple[float, ...]
    why = "calendar months in the contract's zone, whose clocks change"
    if line.first is None:
        content = "=hours_per_month"
    else:
        days = "EDATE(DATE(YEAR(close),MONTH(close),1),[month])-EDATE(DATE(YEAR(close),MONTH(close),1),[month]-1)"
        content = f"=({days})*24"
        if not np.array_equal(line.hours, 24.0 * np.round(line.hours / 24.0)):  # clocks change in the contract's zone
            content = tuple(float(hours) for hours in line.hours)
    yield Column("hours", "Hours", content, look.WHOLE, "h", width=7, why=why)
    yield Column("growth", "Growth of cost", "=(1+cost_growth)^INT(([month]-1)/12)", "0.0000", "1", width=9)
    if inputs.has("spot_rent"):
        launch = "-IF([month]>=(launch_earliest+launch_latest)/2,launch_drop,0)" if inputs.has("launch_drop") else ""
        rent = f"=spot_rent*EXP(-rent_decay*[month]/12{launch})"
        yield Column("spot_rent", "Spot rent", rent, look.RENT, f"{currency}/GPU-hour", width=12)


def _lines(basis: Basis, inputs: Inputs, tranches: Tranches, currency: str) -> Iterator[Column]:
    """Yield every line of cash, positive where it comes in."""

    def all_of(key: str, sign: str = "") -> str:
        return f"={sign}SUM([tranche:{key}_1..{key}_{tranches.count}])"

    def line(key: str, words: str, content: str | tuple[float, ...]) -> Column:
        why = "cash of the base case that no formula here computes"
        return Column(key, words, content, unit=currency, total=True, why=why)

    yield line("fees", "Fees", all_of("fee"))
    if tranches.has("prepaid"):
        yield line("prepaid_used", "Prepayment credited", all_of("prepaid_used", "-"))
        yield line("prepaid_refunded", "Prepayment paid back", all_of("prepaid_refunded", "-"))
    if tranches.has("relet_from"):
        yield line("reletting", "Letting again", all_of("relet"))
    for key, words, names in NOTHING_IN_BASE:
        yield line(key, words, _of_the_model(basis, names) or "=0")
    yield line("power", "Power", all_of("power", "-"))
    yield line("other", "Other cost", all_of("other", "-"))
    yield line("fixed", "Site rent, staff, property insurance", all_of("fixed", "-"))
    if inputs.has("fixed_cost"):
        begun = "MAX(0,MIN(1,[month]-fixed_cost_from))"
        yield line("shared", "Fixed cost of the project", f"=-fixed_cost*{begun}*[growth]")
    layers = len(basis.deal.insurance.layers) if basis.deal.insurance is not None else 0
    if layers:
        each = (f"layer_{k}_premium*MAX(0,MIN(1,[month]-layer_{k}_from))" for k in range(1, layers + 1))
        yield line("premium", "Insurance premium", f"=-({'+'.join(each)})")
    if cover_is_paid(inputs):
        yield line("cover", "Paid by the cover", "=[cover_posted]")
    if inputs.has("cover_fee_rate"):
        begins = "first_payment_month" if basis.loan is not None else "1"
        yield line(
            "cover_fee", "Fee of the cover", f"=-IF([month]>={begins},[cover_on]*cover_fee_rate*cover_amount/12,0)"
        )
    if inputs.has("cover_revenue_share"):
        above = "MAX([cover_revenue]-cover_revenue_above,0)"
        share = f"=-[cover_on]*[cover_started]*cover_revenue_share*{above}"
        yield line("cover_share", "Revenue shared with its provider", share)
    known = {*HELD_BY_FORMULA, *(name for _, _, names in NOTHING_IN_BASE for name in names)}
    others = _of_the_model(basis, tuple(name for name in basis.ledger.lines if name not in known))
    if others:
        yield line("others", "Other cash (model)", others)


def _tax(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    """Yield income and the tax on it."""
    tax = basis.finance.tax
    if tax is None or basis.deal.assumptions.prescribed.cfads is not None:
        return
    begins = "first_payment_month" if basis.loan is not None else "1"
    runs = f"AND([month]>={begins},[month]<{begins}+depreciation_months)"
    level = f"IF({runs},(1-at_once)*capital_expenditure/depreciation_months,0)"
    at_once = f"IF([month]={begins},at_once*capital_expenditure,0)"
    yield Column("depreciation", "Depreciation", f"={level}+{at_once}", unit=currency, total=True)
    income = "=[before_tax]-[depreciation]"
    if inputs.has("prepayment_share"):
        income += (
            "-[prepaid_used]-[prepaid_refunded]" if tax.prepayment == "as_earned" else "+IF([month]=1,prepaid_all,0)"
        )
    if basis.loan is not None:
        income += "-[interest]"
    yield Column("income", "Taxable income", income, unit=currency, total=True)
    if tax.losses == "refunded":
        yield Column("tax", "Tax", "=tax_rate*[income]", unit=currency, total=True)
        return
    yield Column("losses", "Losses carried forward", "=MAX(0,[losses@-1]-[income])", unit=currency)
    yield Column("tax", "Tax", "=tax_rate*MAX(0,[income]-[losses@-1])", unit=currency, total=True)


def _of_the_model(basis: Basis, names: tuple[str, ...]) -> tuple[float, ...]:
    """Return the model's cash of some lines by month, nothing where there is none. [currency]"""
    total = np.sum([basis.line(name) for name in names], axis=0) if names else np.zeros(basis.months)
    return tuple(float(cash) for cash in total) if np.any(total) else ()


def _cell(key: str, tranche: int) -> str:
    return f"[tranche:{key}_{tranche}]"


def _each(tranches: Tranches) -> range:
    return range(1, tranches.count + 1)
