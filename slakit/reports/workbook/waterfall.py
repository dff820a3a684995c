"""Columns of the base case after cash available for debt service: payment, reserve, tests, distribution, equity."""

from __future__ import annotations

from collections.abc import Iterator

from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.finance_inputs import levels
from slakit.reports.workbook.grid import Column, Grid
from slakit.reports.workbook.inputs import Inputs

HALF_A_CENT, ROUNDING = "0.005", "1E-9"
IN_PAYMENT = "AND([month]>=first_payment_month,[month]<=last_payment_month)"
VALUES = {"market": "gpu_value", "book": "gpu_book_value", "floor": "gpu_floor_value"}
"""Figure of the model for each basis of value."""


def waterfall(grid: Grid, basis: Basis, inputs: Inputs) -> None:
    """Add everything after cash available for debt service."""
    currency = basis.finance.currency
    values = [*_values(basis, inputs, currency)]
    if basis.loan is None:
        typed = "=IF(AND([month]>=debt_service_from,[month]<=debt_service_to),debt_service,0)"
        service = typed if inputs.has("debt_service") else "=0"
        grid.add("Debt service", [Column("service", "Debt service", service, unit=currency, total=True), _dscr()])
        grid.add("Value of the GPUs", values)
        distribution = "=[cfads]-[service]" + _residual(inputs, "1")
        grid.add("Equity", _equity(basis, inputs, currency, distribution))
        return
    grid.add("Loan", _loan(basis, inputs, currency))
    grid.add("Value of the GPUs", values)
    grid.add("Payment", _payment(basis, inputs, currency))
    grid.add("Reserve", _reserve(basis, inputs, currency))
    grid.add("Tests", _tests(basis, inputs, currency))
    grid.add("Distribution and equity", _equity(basis, inputs, currency, _distribution(inputs)))


def _values(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    """Yield the value of the GPUs on each basis that a test or equity reads, as the model gave it."""
    words = {"gpu_value": "Market value", "gpu_book_value": "Book value", "gpu_floor_value": "Floor value"}
    read = {"gpu_value"} if basis.finances.residual is None or _reads_market(basis) else set()
    if inputs.has("maximum_ltv"):
        read.add(VALUES[basis.finance.covenants.ltv_basis])
    for name, title in words.items():
        if name in read and basis.has(name):
            why = "GPU by GPU from rent and age, with the right to switch off"
            figures = tuple(map(float, basis.figure(name)))
            yield Column(name, f"{title} (model)", figures, unit=currency, why=why)


def _reads_market(basis: Basis) -> bool:
    shape = basis.deal.backstop.shape if basis.deal.backstop is not None else ""
    return shape == "residual_guarantee" or (basis.loan is not None and basis.loan.refinancing_ltv is not None)


def _dscr() -> Column:
    return Column("dscr", "DSCR", '=IF([service]>0,[cfads]/[service],"")', look.COVER, "1", bold=True, width=9)


def _loan(basis: Basis, inputs: Inputs, currency: str) -> list[Column]:
    """Return what falls due, as scheduled or, with a sweep, on what is still owed."""
    columns = list(_swept(basis, currency)) if inputs.has("sweep") else list(_scheduled(basis, currency))
    columns.append(_dscr())
    assert basis.finances.plan is not None
    if basis.months >= basis.finances.plan.last_payment_month:
        worth = "([pv_cash@+1]+[cfads@+1])/(1+loan_rate/12)"
        words = "Present value of cash to the last payment"
        columns.append(
            Column("pv_cash", words, f"=IF([month]>=last_payment_month,0,{worth})", unit=currency, close=f"={worth}")
        )
        after = f'=IF([loan:closing]>{HALF_A_CENT},[pv_cash]/[loan:closing],"")'
        columns.append(Column("llcr", "LLCR after the payment", after, look.COVER, "1", width=12))
    return columns


def _scheduled(basis: Basis, currency: str) -> Iterator[Column]:
    yield Column("opening", "Opening balance", "=[loan:opening]", unit=currency)
    yield Column("interest", "Interest", "=[loan:interest]", unit=currency, total=True)
    yield Column("principal", "Principal", "=[loan:principal]", unit=currency, total=True)
    if basis.finances.plan is not None and basis.finances.plan.refinances:
        yield Column("balloon", "Balloon to be refinanced", "=[loan:balloon]", unit=currency)
    yield Column("closing", "Closing balance", "=[loan:closing]", unit=currency, close="=[loan:closing@close]")
    yield Column("service", "Debt service", "=[loan:service]", unit=currency, total=True, bold=True)


def _swept(basis: Basis, currency: str) -> Iterator[Column]:
    """Yield what falls due on the balance that earlier sweeps have left."""
    loan, plan = basis.loan, basis.finances.plan
    assert loan is not None
    assert plan is not None
    before, first = "[month]<first_payment_month", "[month]=first_payment_month"
    opening = f"=IF(OR({before},{first}),[loan:opening],IF([month]>last_payment_month,0,[owed@-1]))"
    yield Column("opening", "Opening balance", opening, unit=currency)
    yield Column("interest", "Interest", f"=IF({IN_PAYMENT},[opening]*loan_rate/12,0)", unit=currency, total=True)
    balloon = "[loan:balloon]" if plan.balloon else "0"
    if loan.sweep_effect == "re_levels":
        part = f"=IF({IN_PAYMENT},IF([loan:opening]>0,[opening]/[loan:opening],0),0)"
        yield Column("part", "Owed over planned", part, look.SHARE, "1", width=9)
        regular, last = "[part]*[loan:regular]", f"[part]*{balloon}"
    else:
        regular = "MIN([loan:regular],[opening]+[interest])"
        last = f"MIN({balloon},[opening]+[interest]-[regular])"
    yield Column("regular", "Payment without a balloon", f"=IF({IN_PAYMENT},{regular},0)", unit=currency)
    yield Column("balloon", "Balloon", f"=IF({IN_PAYMENT},{last},0)", unit=currency)
    yield Column(
        "principal", "Principal, before the sweep", "=[regular]+[balloon]-[interest]", unit=currency, total=True
    )
    closing = f"=IF({before},[loan:closing],IF([month]>last_payment_month,0,[opening]-[principal]))"
    yield Column("closing", "Balance before the sweep", closing, unit=currency, close="=[loan:closing@close]")
    service = "=[regular]" if plan.refinances else "=[regular]+[balloon]"
    yield Column("service", "Debt service", service, unit=currency, total=True, bold=True)


def _payment(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    """Yield what is due to the lender in cash, and where it comes from when cash is short."""
    plan, parts = basis.finances.plan, ["[service]"]
    assert plan is not None
    yield Column("alive", "Loan alive", "=IF([fails@-1]=1,0,[alive@-1])", look.MARK, close="=1", width=8)
    if plan.refinances:
        called = "=IF([balloon]>refinancing_ltv*[gpu_value],[balloon],0)"
        yield Column("called", "Balloon not refinanced", called, unit=currency)
        parts.append("[called]")
    if inputs.has("grace_months"):
        yield Column("brought", "Arrears with interest", "=[arrears@-1]*(1+loan_rate/12)", unit=currency)
        parts.append("[brought]")
    claim = "[service]"
    if len(parts) > 1:
        yield Column("claim", "Due to the lender", "=" + "+".join(parts), unit=currency, total=True)
        claim = "[claim]"
    yield Column("surplus", "Surplus after debt service", f"=MAX([cfads]-{claim},0)", unit=currency)
    short = f"=IF([alive]=1,MAX({claim}-[cfads],0),0)"
    yield Column("short", "Short of cash", short, unit=currency, total=True)
    reserve = "[reserve@-1]" if inputs.has("reserve_months") else "0"
    if inputs.has("reserve_months"):
        yield Column("from_reserve", "Drawn from reserve", f"=MIN([short],{reserve})", unit=currency, total=True)
    drawn = "[from_reserve]" if inputs.has("reserve_months") else "0"
    trapped = f"=MIN([short]-{drawn},[trapped@-1])"
    yield Column("from_trapped", "From trapped cash", trapped, unit=currency, total=True)
    yield Column("unpaid", "Unpaid", f"=[short]-{drawn}-[from_trapped]", unit=currency, total=True)
    if inputs.has("grace_months"):
        yield Column("arrears", "Arrears", f"=IF([alive]=1,MIN([unpaid],{claim}),0)", unit=currency)
        yield Column("costs_unpaid", "Running cost unpaid", f"=MAX([unpaid]-{claim},0)", unit=currency)
        window = "([month@to]>[month]-grace_months)"
        held = f"=SUMPRODUCT({window}*[service@to]*(1+loan_rate/12)^([month]-[month@to]))"
        yield Column("grace", "Debt service within the grace", held, unit=currency)
    yield Column("paid_up", "Paid up", f"=IF(AND([alive]=1,[unpaid]<={HALF_A_CENT}),1,0)", look.MARK, width=8)


def _reserve(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    """Yield the reserve, and what is left of the surplus once it is full."""
    if inputs.has("reserve_months"):
        target = "=[loan:reserve_target]"
        if inputs.has("sweep"):
            ahead = "[ahead:held]"
            if basis.loan is not None and basis.loan.sweep_effect == "re_levels":
                ahead = "IF([loan:closing]>0,[closing]/[loan:closing],0)*[loan:reserve_target]"
            target = f"=IF(AND([month]>=first_payment_month,[month]<last_payment_month),{ahead},[loan:reserve_target])"
        yield Column("reserve_target", "Target", target, unit=currency, close="=[loan:reserve_target@close]")
        gap = "[reserve_target]-([reserve@-1]-[from_reserve])"
        yield Column(
            "topped_up", "Topped up", f"=IF([paid_up]=1,MAX(0,MIN([surplus],{gap})),0)", unit=currency, total=True
        )
        yield Column("released", "Released", f"=IF([paid_up]=1,MAX(0,-({gap})),0)", unit=currency, total=True)
        kept = "=IF([fails]=1,0,[reserve@-1]-[from_reserve]+[topped_up]-[released])"
        yield Column("reserve", "Reserve", kept, unit=currency, close="=[loan:reserve_target@close]", bold=True)
    moved = "-[topped_up]+[released]" if inputs.has("reserve_months") else ""
    if inputs.has("sweep"):
        swept = f"=IF(AND([paid_up]=1,[service]>0),MIN(sweep*([surplus]{moved}),[closing]),0)"
        yield Column("swept", "Swept", swept, unit=currency, total=True)
        moved += "-[swept]"
    yield Column("free", "Surplus left", f"=IF([alive]=1,[surplus]{moved},0)", unit=currency, total=True)
    owed = "[closing]" + ("-[swept]" if inputs.has("sweep") else "")
    if basis.finances.plan is not None and basis.finances.plan.refinances:
        at_last = "IF([month]=last_payment_month,[balloon]-[called],IF([month]>last_payment_month,[refinanced@-1],0))"
        yield Column("refinanced", "Refinanced balloon", f"={at_last}", unit=currency)
        owed += "+[refinanced]"
    yield Column("owed", "Owed after the month", f"={owed}", unit=currency, close="=[closing@close]")


def _tests(basis: Basis, inputs: Inputs, currency: str) -> Iterator[Column]:
    """Yield cover looked back on, covenants, default, and whether cash may be distributed."""
    covenants = basis.finance.covenants
    back = "look_back_months" if inputs.has("look_back_months") else "1"
    yield Column("cash_due", "Cash of months with debt service", "=IF([service]>0,[cfads],0)", unit=currency)
    since = f'[month@to],">"&[month]-{back}'
    yield Column("cash_back", "Cash looked back on", f"=SUMIFS([cash_due@to],{since})", unit=currency)
    yield Column("due_back", "Debt service looked back on", f"=SUMIFS([service@to],{since})", unit=currency)
    cover = '=IF([due_back]>0,[cash_back]/[due_back],"")'
    yield Column("look_back", "Look-back cover", cover, look.COVER, "1", bold=True, width=10)
    yield from _breaches(basis, inputs)
    late = f"[unpaid]>{HALF_A_CENT}"
    if inputs.has("grace_months"):
        lasting = f"OR([arrears]>[grace]+{HALF_A_CENT},[costs_unpaid]>{HALF_A_CENT})"
        late = f"AND({late},OR([month]>=last_payment_month,{lasting}))"
    late = f"AND({late},OR([month]<first_payment_month,{_owed_before(inputs)}>{HALF_A_CENT}))"
    reasons = [late]
    if covenants.on_breach == "default":
        reasons += [f"[lasts_{name}]>cure_months" for name in levels(covenants)]
    fails = f"=IF(AND([alive]=1,OR({','.join(reasons)})),1,0)"
    yield Column("fails", "Loan defaults", fails, look.MARK, width=8)
    yield Column("pays_out", "May distribute", f"=IF({_may_distribute(basis, inputs)},1,0)", look.MARK, width=10)


def _breaches(basis: Basis, inputs: Inputs) -> Iterator[Column]:
    """Yield a mark for each month in breach of each covenant, and for how long it has lasted."""
    covenants = basis.finance.covenants
    owed = "([closing]" + ("-[swept]" if inputs.has("sweep") else "")
    owed += "+[arrears])" if inputs.has("grace_months") else ")"
    owes = f"{owed}>{HALF_A_CENT}"
    tests = {
        "minimum_dscr": f"AND([service]>0,[cash_back]<(minimum_dscr-{ROUNDING})*[due_back])",
        "minimum_llcr": f"AND({owes},[to_come]<(minimum_llcr-{ROUNDING})*{owed})",
        "maximum_ltv": f"AND({owes},{owed}>(maximum_ltv+{ROUNDING})*[{VALUES[covenants.ltv_basis]}])",
    }
    words = {"minimum_dscr": "DSCR", "minimum_llcr": "LLCR", "maximum_ltv": "LTV"}
    for name in levels(covenants):
        if name == "minimum_llcr":
            yield _to_come(basis, inputs)
        mark = f"=IF(AND({IN_PAYMENT},{tests[name]}),1,0)"
        yield Column(f"breach_{name}", f"{words[name]} covenant in breach", mark, look.MARK, total=True, width=10)
        if covenants.on_breach == "default":
            lasts = f"=IF({IN_PAYMENT},IF([breach_{name}]=1,[lasts_{name}@-1]+1,0),[lasts_{name}@-1])"
            yield Column(f"lasts_{name}", "Lasts for", lasts, look.MARK, "month", width=8)


def _to_come(basis: Basis, inputs: Inputs) -> Column:
    """Return the worth of cash to come that the LLCR covenant reads; with a sweep as the model gave it.

    A sweep lowers interest, and with it the tax on cash to come: the covenant would look at itself.
    """
    content: str | tuple[float, ...] = "=[pv_cash]"
    covenants = basis.finances.covenants
    if inputs.has("sweep"):
        assert covenants is not None
        assert covenants.cash_to_come is not None
        content = tuple(float(worth) for worth in covenants.cash_to_come[1:])
    words = "Present value of cash to come" + (" (model)" if inputs.has("sweep") else "")
    why = "with a sweep the covenant would look at cash that it moves itself"
    return Column("to_come", words, content, unit=basis.finance.currency, why=why)


def _may_distribute(basis: Basis, inputs: Inputs) -> str:
    """Return the condition for a distribution."""
    conditions = ["[paid_up]=1"]
    covenants = basis.finance.covenants
    if covenants.on_breach != "report":
        conditions += [f"[breach_{name}]=0" for name in levels(covenants)]
    if inputs.has("lock_up_dscr"):
        passes = f"AND([due_back]>0,[cash_back]>=(lock_up_dscr-{ROUNDING})*[due_back],latest_ready<=[month])"
        repaid = f"AND([month]>=first_payment_month,{_owed_before(inputs)}<={HALF_A_CENT})"
        conditions.append(f"OR([month]>last_payment_month,{passes},{repaid})")
    return f"AND({','.join(conditions)})"


def _owed_before(inputs: Inputs) -> str:
    """Return what was owed as the month began; a loan that is repaid neither defaults nor locks cash up."""
    return "[opening]+[interest]" + ("+[brought]" if inputs.has("grace_months") else "")


def _distribution(inputs: Inputs) -> str:
    """Return what is distributed: all free and trapped cash, or nothing."""
    return f"=IF([pays_out]=1,{_trapped()},0)" + _residual(inputs, "[alive]")


def _trapped() -> str:
    return "([trapped@-1]-[from_trapped]+[free])"


def _residual(inputs: Inputs, alive: str) -> str:
    """Return value that goes to equity in one month, where it is typed."""
    return f"+IF([month]=residual_month,residual_amount,0)*{alive}" if inputs.has("residual_month") else ""


def _equity(basis: Basis, inputs: Inputs, currency: str, distribution: str) -> Iterator[Column]:
    """Yield distributions, what is trapped, what is left at the end, and the flows of equity."""
    last, accounts = basis.months, []
    yield Column("distribution", "Distribution", distribution, unit=currency, total=True, bold=True)
    if basis.loan is not None:
        kept = f"=IF(OR([pays_out]=1,[fails]=1),0,{_trapped()})"
        yield Column("trapped", "Trapped cash", kept, unit=currency)
        held = "[reserve@-1]-[from_reserve]+[topped_up]-[released]" if inputs.has("reserve_months") else "0"
        taken = f"=IF([fails]=1,{held}+IF([pays_out]=1,0,{_trapped()}),0)"
        yield Column("taken", "To the lender at default", taken, unit=currency, total=True)
        accounts = ["[trapped]", *(["[reserve]"] if inputs.has("reserve_months") else [])]
    at_end = "+".join(accounts) or "0"
    yield Column("accounts", "Accounts at the end", f"=IF([month]={last},{at_end},0)", unit=currency, total=True)
    worth = "0"
    if basis.finances.residual is None and basis.has("gpu_value"):
        worth = f"MAX([gpu_value]-{'[owed]' if basis.loan is not None else '0'},0)"
    yield Column("left", "GPUs above the debt at the end", f"=IF([month]={last},{worth},0)", unit=currency, total=True)
    if basis.loan is not None:
        bare = "=[distribution]+[accounts]"
        yield Column(
            "equity_bare", "Equity flow without them", bare, unit=currency, close="=-equity_at_close", total=True
        )
    flow = "=[distribution]+[accounts]+[left]"
    yield Column("equity", "Equity flow", flow, unit=currency, close="=-equity_at_close", total=True, bold=True)
