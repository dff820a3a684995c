"""Columns of the base case for the backstop: what its formula gives, what its limit leaves, what it posts."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.backstop import (
    FloorCover,
    IndexPriceFloor,
    Leaseback,
    ResidualGuarantee,
    RevenueFloor,
    UnsoldHoursPut,
    UtilisationFloor,
)
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.grid import Column
from slakit.reports.workbook.inputs import Inputs
from slakit.reports.workbook.tranches import Tranches

NEVER = "1E9"
"""A month that never comes."""


def cover_inputs(basis: Basis, inputs: Inputs) -> None:
    """Add the terms of the backstop that the base case reads."""
    terms, add = basis.deal.backstop, inputs.term
    if terms is None:
        return
    currency = basis.finance.currency
    inputs.section(f"Backstop: {terms.shape.replace('_', ' ')}")
    if terms.start_date is not None:
        add("cover_from", "Starts", "backstop.start_date", "date")
    if isinstance(terms, ResidualGuarantee):
        add("cover_threshold", "Threshold of value", "backstop.threshold", currency, look.MONEY)
        add("cover_measured", "Value is measured", "backstop.at", "date")
    _ends(basis, inputs)
    if terms.amount is not None:
        add("cover_amount", "Greatest sum in all", "backstop.amount", currency, look.MONEY)
    if terms.amount_per_year is not None:
        add("cover_year", "Greatest sum in twelve months", "backstop.amount_per_year", currency, look.MONEY)
    if terms.amortisation_months is not None:
        add("cover_falls", "Months over which the amount falls", "backstop.amortisation_months", "month")
    if isinstance(terms, FloorCover):
        add("cover_fraction", "Share of capacity covered", "backstop.floor_fraction", "1")
    if isinstance(terms, UnsoldHoursPut | RevenueFloor | IndexPriceFloor | Leaseback):
        add("cover_rent", "Rent of the cover", "backstop.floor_rent", f"{currency}/GPU-hour", look.CENTS)
    if terms.fee_rate:
        add("cover_fee_rate", "Fee, of the amount", "backstop.fee_rate", "1/year", look.PERCENT)
    if terms.revenue_share:
        add("cover_revenue_share", "Share of revenue for its provider", "backstop.revenue_share", "1", look.PERCENT)
        path = "backstop.revenue_share_above"
        add("cover_revenue_above", "Above", path, f"{currency}/month", look.MONEY)
    if basis.default_month:
        why = (
            "Cover ends with the default of the loan; taken from the model, because cash would otherwise chase itself."
        )
        inputs.model("cover_ended", "Loan defaults in the base case", basis.default_month, "month", why)


def _ends(basis: Basis, inputs: Inputs) -> None:
    """Add the last month that belongs to the cover."""
    terms = basis.deal.backstop
    assert terms is not None
    if terms.expires is not None:
        ends = inputs.term("cover_expires", "Expires", "backstop.expires", "date")
    else:
        ends = "last_payment_month" if basis.loan is not None else str(basis.months)
        if isinstance(terms, ResidualGuarantee):
            ends = f"MAX({ends},MAX(1,-INT(-(cover_measured-1E-9))))"
    inputs.formula("cover_last_month", "Last month of the cover", f"=INT({ends}+1E-9)", "month after close", look.WHOLE)


def cover_is_paid(inputs: Inputs) -> bool:
    """Return whether the cover can pay in a base case: by capacity or value, not for a failure."""
    return inputs.has("cover_fraction") or inputs.has("cover_rent") or inputs.has("cover_threshold")


def cover_columns(basis: Basis, inputs: Inputs, tranches: Tranches) -> list[Column]:
    """Return the columns from the life of the cover to what it posts, none without a backstop."""
    terms = basis.deal.backstop
    if terms is None:
        return []
    ended = ",[month]<=cover_ended" if inputs.has("cover_ended") else ""
    columns = [
        Column("cover_on", "In force", f"=IF(AND([month]<=cover_last_month{ended}),1,0)", look.MARK, width=8),
        *_started(basis, inputs),
    ]
    paid = cover_is_paid(inputs)
    if paid or inputs.has("cover_revenue_share"):
        columns += _capacity(basis, tranches)
    if paid:
        columns += _payment(basis, inputs)
    return columns


def _started(basis: Basis, inputs: Inputs) -> Iterator[Column]:
    terms = basis.deal.backstop
    assert terms is not None
    close = None
    match terms.starts:
        case "signing":
            start = "=0"
        case "date":
            start = "=cover_from"
        case "rfs_all":
            start = "=latest_ready"
        case "rfs_each_tranche":
            start = "=INT(MIN(ready_each))"
        case "rent_commenced":
            close = f"={NEVER}"
            start = f"=IF(AND([cover_start@-1]>={NEVER},[fees]>0),[month]-1,[cover_start@-1])"
    yield Column("cover_start", "Starts after month", start, look.MONTHS, close=close, width=10)
    yield Column("cover_started", "Started", "=IF([cover_start]<=[month]-1,1,0)", look.MARK, width=8)


def _capacity(basis: Basis, tranches: Tranches) -> list[Column]:
    """Return hours, hours sold and market revenue of the capacity under cover."""
    terms, currency = basis.deal.backstop, basis.finance.currency
    out_alone = isinstance(terms, FloorCover) and terms.covers == "out_of_contract"
    is_let = tranches.has("relet_from")

    def hours(share: str) -> str:
        each = (f"{tranches.at('gpus', j - 1)}*({share.replace('#', str(j))})" for j in range(1, tranches.count + 1))
        return f"=[hours]*({'+'.join(each)})"

    let = "[tranche:out_#]*[tranche:let_#]" if is_let else "0"
    market = "[reletting]" if is_let else "0"
    if out_alone:
        counted, sold, revenue = "[tranche:out_#]", let, f"={market}"
    else:
        counted, sold = "[tranche:ready_#]", f"[tranche:term_#]+{let}"
        revenue = f"=[fees]+[credits]+{market}"
    return [
        Column("cover_hours", "GPU-hours covered", hours(counted), look.COUNT, "h"),
        Column("cover_sold", "Of them sold", hours(sold), look.COUNT, "h"),
        Column("cover_revenue", "Market revenue of them", revenue, unit=currency),
    ]


def _payment(basis: Basis, inputs: Inputs) -> Iterator[Column]:
    """Yield the claim, the room that the limits leave, what is paid and what the project has of it."""
    terms, currency = basis.deal.backstop, basis.finance.currency
    assert terms is not None
    claim = f"=[cover_on]*[cover_started]*({_formula(basis)})"
    yield Column("cover_claim", "Due by its formula", claim, unit=currency)
    room = []
    if inputs.has("cover_amount"):
        falls = "*(1-MAX([month]-[cover_start],0)/cover_falls)" if inputs.has("cover_falls") else ""
        room.append(f"MAX(0,cover_amount{falls}-[cover_so_far@-1])")
    if inputs.has("cover_year"):
        room.append("MAX(0,cover_year-IF(MOD([month]-1,12)=0,0,[cover_this_year@-1]))")
    paid = f"=MIN({','.join(['[cover_claim]', *room])})"
    yield Column("cover_paid", "Paid", paid, unit=currency, total=True)
    yield Column("cover_so_far", "Paid so far", "=[cover_so_far@-1]+[cover_paid]", unit=currency)
    if inputs.has("cover_year"):
        year = "=IF(MOD([month]-1,12)=0,0,[cover_this_year@-1])+[cover_paid]"
        yield Column("cover_this_year", "Paid this year", year, unit=currency)
    posted = "=[cover_paid]"
    if isinstance(terms, Leaseback):  # the lessee keeps market revenue for the part of its rent that it pays
        posted = "=[cover_paid]-IF([cover_claim]>0,[cover_paid]/[cover_claim],0)*[cover_revenue]"
    yield Column("cover_posted", "Paid, less revenue kept", posted, unit=currency, total=True)


def _formula(basis: Basis) -> str:
    """Return what the shape owes for a month."""
    terms = basis.deal.backstop
    match terms:
        case UnsoldHoursPut():
            return "cover_rent*MAX(cover_fraction*[cover_hours]-[cover_sold],0)"
        case UtilisationFloor():
            return "[spot_rent]*MAX(cover_fraction*[cover_hours]-[cover_sold],0)"
        case RevenueFloor():
            return "MAX(cover_rent*cover_fraction*[cover_hours]-[cover_revenue],0)"
        case IndexPriceFloor():
            return "cover_fraction*[cover_hours]*MAX(cover_rent-[spot_rent],0)"
        case Leaseback():
            return "cover_rent*[cover_hours]"
    measured = "[month]=MAX(1,-INT(-(cover_measured-1E-9)))"
    return f"IF(AND({measured},latest_end<=[month]),MAX(cover_threshold-[gpu_value],0),0)"
