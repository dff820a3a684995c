"""The sheet of the loan: drawings, payments and reserve as scheduled, by formula for each profile."""

from __future__ import annotations

from risk.finance.loan import sculpt
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.grid import Column, Grid
from slakit.reports.workbook.inputs import Inputs

ALIAS = "loan"
ABOUT = (
    "As scheduled, before any sweep and whatever cash there is. Interest before the first payment is paid from uses."
)
IN_PAYMENT = "AND([month]>=first_payment_month,[month]<=last_payment_month)"


def loan_inputs(basis: Basis, inputs: Inputs) -> None:
    """Add the terms of the loan and of what stands beside it."""
    loan, finance, add = basis.loan, basis.finance, inputs.term
    if loan is None:
        return
    currency = finance.currency
    inputs.section("Loan")
    if loan.profile == "sculpted":
        _sculpted(basis, inputs)
    else:
        add("loan_amount", "Amount", "finance.loan.amount", currency, look.MONEY)
    add("loan_rate", "Rate, nominal", "finance.loan.annual_rate", "1/year", look.PERCENT)
    add("first_payment_month", "First payment", "finance.loan.first_payment_month", "month after close")
    add("loan_payments", "Monthly payments", "finance.loan.payments", "1")
    inputs.formula("last_payment_month", "Last payment", "=first_payment_month+loan_payments-1", "month after close")
    if loan.profile == "balloon":
        add("loan_balloon", "Balloon", "finance.loan.balloon", currency, look.MONEY)
    elif loan.profile == "bullet":
        inputs.formula("loan_balloon", "Balloon: the whole loan", "=loan_amount", currency, look.MONEY)
    if loan.profile in ("annuity", "balloon", "bullet"):
        repaid = "(loan_amount-loan_balloon)" if inputs.has("loan_balloon") else "loan_amount"
        first = f"=IF(loan_rate=0,{repaid}/loan_payments,{repaid}*loan_rate/12/((1+loan_rate/12)^loan_payments-1))"
        label = "Principal of the first payment; it grows by the rate, so that payments are level"
        inputs.formula("first_principal", label, first, currency, look.MONEY)
    if loan.refinancing_ltv is not None:
        path = "finance.loan.refinancing_ltv"
        add("refinancing_ltv", "Balloon refinanced up to, of the value of the GPUs", path, "1", look.SHARE)
    if loan.sweep:
        add(
            "sweep",
            f"Share of surplus that repays early ({loan.sweep_effect.replace('_', ' ')})",
            "finance.loan.sweep",
            "1",
            look.PERCENT,
        )
    if loan.grace_months:
        add("grace_months", "Grace for debt service", "finance.loan.grace_months", "month")
    _drawings(basis, inputs)


def _sculpted(basis: Basis, inputs: Inputs) -> None:
    """Add the cover aimed at, and the amount that the model found."""
    loan, plan = basis.loan, basis.finances.plan
    assert loan is not None
    assert plan is not None
    most = f"At most {loan.amount:,} (finance.loan.amount). "
    why = "The amount moves interest, interest tax, and tax the cash that sizes it: found by repetition, not by a cell."
    inputs.model("loan_amount", "Amount sculpted", plan.commitment, basis.finance.currency, most + why, look.MONEY)
    if loan.sweep:
        return  # payments are those of the model
    inputs.term("target_dscr", "Cover of each payment", "finance.loan.target_dscr", "1", look.COVER)
    assert loan.target_dscr is not None
    cash = basis.figure("cfads")[plan.first_payment_month - 1 : plan.last_payment_month]
    carried = sculpt(cash, plan.monthly_rate, float(loan.target_dscr))[0]
    why = "Below 1 where the greatest amount binds: all payments fall alike, and cover is higher than aimed at."
    scale = min(1.0, plan.commitment / carried) if carried else 1.0
    inputs.model("sculpt_scale", "Payments over those at the cover aimed at", scale, "1", why, look.SHARE)


def _drawings(basis: Basis, inputs: Inputs) -> None:
    """Add drawings after close, months first so that formulas can add up those of a date."""
    loan = basis.loan
    assert loan is not None
    if not loan.drawings:
        return
    currency = basis.finance.currency
    first = len(inputs.rows)
    for i in range(len(loan.drawings)):
        inputs.term("", f"Drawing {i + 1}, at the end of", f"finance.loan.drawings[{i}].month", "month after close")
    inputs.range("drawing_months", first)
    first = len(inputs.rows)
    for i in range(len(loan.drawings)):
        inputs.term("", f"Drawing {i + 1}", f"finance.loan.drawings[{i}].amount", currency, look.MONEY)
    inputs.range("drawing_amounts", first)
    inputs.formula("drawn_at_close", "Drawn at close", "=MAX(0,loan_amount-SUM(drawing_amounts))", currency, look.MONEY)
    inputs.term("commitment_fee", "Fee on what is not drawn", "finance.loan.commitment_fee", "1/year", look.PERCENT)


def loan_sheet(basis: Basis, inputs: Inputs) -> Grid | None:
    """Return the loan as scheduled, one row a month from close to the last payment, None without a loan."""
    loan = basis.loan
    if loan is None:
        return None
    grid = Grid(ALIAS, "Loan", "Loan as scheduled", ABOUT, basis.loan_months, basis.money_width)
    currency, before = basis.finance.currency, "[month]<first_payment_month"
    drawn, at_close = "loan_amount", "=loan_amount"
    if loan.drawings:
        drawn = 'MIN(loan_amount,drawn_at_close+SUMIF(drawing_months,"<="&[month],drawing_amounts))'
        at_close = "=drawn_at_close"
    grid.add(
        "Balance and payments",
        [
            Column("opening", "Opening balance", "=[closing@-1]", unit=currency),
            Column(
                "interest", "Interest due", f"=IF({IN_PAYMENT},[opening]*loan_rate/12,0)", unit=currency, total=True
            ),
            *_principal(basis),
            Column(
                "closing",
                "Closing balance",
                f"=IF({before},{drawn},[opening]-[principal])",
                unit=currency,
                close=at_close,
            ),
        ],
    )
    service = "=[interest]+[principal]" + ("-[balloon]" if loan.refinancing_ltv is not None else "")
    grid.add("Due in cash", [Column("service", "Debt service", service, unit=currency, total=True, bold=True)])
    grid.add(
        "Paid from uses",
        [
            Column(
                "interest_in_uses",
                "Interest before the first payment",
                f"=IF({before},[opening]*loan_rate/12,0)",
                unit=currency,
                total=True,
            ),
            Column(
                "commitment_fee",
                "Commitment fee",
                f"=IF({before},commitment_fee/12*(loan_amount-[opening]),0)",
                unit=currency,
                total=True,
            )
            if loan.drawings
            else None,
        ],
    )
    _reserve_target(grid, inputs, currency)
    return grid


def _principal(basis: Basis) -> list[Column]:
    """Return principal as the profile says it, and what of it is a balloon."""
    loan, plan, currency = basis.loan, basis.finances.plan, basis.finance.currency
    assert loan is not None
    assert plan is not None
    if loan.profile == "sculpted":
        if loan.sweep:  # sized to cash that tax on the swept loan no longer leaves
            return [
                Column("principal", "Principal (model)", tuple(map(float, plan.principal)), unit=currency, total=True)
            ]
        due = f"IF({IN_PAYMENT},MAX([base:cfads],0)/target_dscr*sculpt_scale,0)"
        return [
            Column("sculpted", "Payment at the cover", f"={due}", unit=currency, total=True),
            Column(
                "principal",
                "Principal",
                f"=IF({IN_PAYMENT},MIN(MAX([sculpted]-[interest],0),[opening]),0)",
                unit=currency,
                total=True,
            ),
        ]
    if loan.profile == "straight":
        return [
            Column(
                "principal", "Principal", f"=IF({IN_PAYMENT},loan_amount/loan_payments,0)", unit=currency, total=True
            )
        ]
    if loan.profile == "annuity":
        return [
            Column(
                "principal",
                "Principal",
                f"=IF({IN_PAYMENT},first_principal*(1+loan_rate/12)^([month]-first_payment_month),0)",
                unit=currency,
                total=True,
            )
        ]
    return [
        Column("balloon", "Balloon", "=IF([month]=last_payment_month,loan_balloon,0)", unit=currency, total=True),
        Column(
            "principal",
            "Principal, balloon included",
            f"=IF({IN_PAYMENT},first_principal*(1+loan_rate/12)^([month]-first_payment_month),0)+[balloon]",
            unit=currency,
            total=True,
        ),
    ]


def _reserve_target(grid: Grid, inputs: Inputs, currency: str) -> None:
    """Add the payments that the reserve is held for: the next ones, a balloon not among them."""
    if not inputs.has("reserve_months") and not inputs.has("sweep"):
        return
    regular = "[interest]+[principal]" + ("-[balloon]" if "balloon" in grid else "")
    begins = "MAX([month],first_payment_month-1)"
    window = f'"<="&{begins}+reserve_months'
    held = f'=SUMIFS([regular@all],[month@all],">"&{begins},[month@all],{window})'
    target = Column("reserve_target", "Target of the reserve", held, unit=currency, close=held.replace("[month]", "0"))
    grid.add(
        "Reserve",
        [
            Column("regular", "Payments without a balloon", f"={regular}", unit=currency, total=True),
            target if inputs.has("reserve_months") else None,
        ],
    )
