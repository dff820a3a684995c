"""Inputs of the tranches: dates, shares, prices, counts of units, cost of running, letting again."""

from __future__ import annotations

from collections.abc import Sequence

from risk.core.data import hardware
from risk.core.setting import least_share
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.inputs import Inputs


def tranche_inputs(basis: Basis, inputs: Inputs, services: Sequence[str], clusters: Sequence[str]) -> None:
    """Add all that the sheets say of tranches by formula.

    Parameters
    ----------
    services, clusters : in the order of their numbers in the names of inputs, which begin with 1.
    """
    _delivery(basis, inputs)
    _price(basis, inputs, services, clusters)
    _cost(basis, inputs, clusters)
    _reletting(basis, inputs)


def _delivery(basis: Basis, inputs: Inputs) -> None:
    commercial, add = basis.deal.commercial, inputs.term
    assert commercial is not None
    inputs.section("Delivery and term")
    for j, tranche in enumerate(basis.setting.tranches, start=1):
        path = f"delivery.tranches.{tranche}"
        add(f"tranche_{j}_ready", f"Ready for service, {tranche}", f"{path}.ready_for_service_date", "date")
        add(f"tranche_{j}_share", f"Share of the service, {tranche}", f"{path}.share_of_service", "1")
    add("term_months", "Firm term from readiness", "commercial.term.months", "months")
    if commercial.term.ends_by is not None:
        add("term_ends_by", "Every term ends at the latest", "commercial.term.ends_by", "date")


def _price(basis: Basis, inputs: Inputs, services: Sequence[str], clusters: Sequence[str]) -> None:
    commercial, add = basis.deal.commercial, inputs.term
    assert commercial is not None
    per = {"lump_month": "a month", "gpu_hour": "a GPU-hour", "node_month": "a node-month", "kw_month": "a kW-month"}
    inputs.section("Price")
    for s, service in enumerate(services, start=1):
        charge, path = commercial.charges[service], f"commercial.charges.{service}"
        unit = f"{commercial.currency} {per[charge.price.per]}"
        add(f"service_{s}_price", f"Price, {service}", f"{path}.price.amount", unit, look.CENTS)
        if least_share(charge) < 1:
            add(f"service_{s}_least", f"Paid for at least, {service}", f"{path}.take_or_pay", "1")
    if any(least_share(commercial.charges[service]) < 1 for service in services):
        add("usage", "Share of reserved capacity used", "assumptions.usage", "1")
    words = {"gpu": ("GPUs", "GPU"), "node": ("Nodes", "node"), "kw": ("Contracted power", "kW")}
    for c, cluster in enumerate(clusters, start=1):
        for counted in sorted({"gpu"} | _counted(basis, cluster)):
            label, unit = words[counted]
            path = f"clusters.{cluster}.units.{counted}"
            add(f"cluster_{c}_{counted}", f"{label}, {cluster}", path, unit, look.COUNT)
    if commercial.prepayment is not None:
        path = "commercial.prepayment"
        add("prepayment_share", "Share of the term's fees paid ahead", f"{path}.fraction", "1")
        add("prepayment_from", "Credited from month of the term", f"{path}.credited_from_month", "month")
        add("refund_days", "Days until a balance is paid back", "cancellation.refund_days", "day")


def _counted(basis: Basis, cluster: str) -> set[str]:
    """Return the units of a cluster that prices count."""
    deal, setting = basis.deal, basis.setting
    assert deal.commercial is not None
    assert deal.delivery is not None
    found = set()
    for tranche, service in zip(setting.tranches, setting.service_of, strict=True):
        counted = deal.commercial.charges[service].price.counted
        if deal.delivery.tranches[tranche].cluster == cluster and counted is not None:
            found.add(str(counted))
    return found


def _cost(basis: Basis, inputs: Inputs, clusters: Sequence[str]) -> None:
    deal, add, currency = basis.deal, inputs.term, basis.finance.currency
    costs, path = basis.finance.operating_costs, "finance.operating_costs"
    inputs.section("Cost of running")
    if deal.power is not None:
        _power(basis, inputs, clusters)
    elif costs.power is not None:
        add("power_per_gpu_hour", "Power", f"{path}.power.amount", f"{currency}/GPU-hour", look.CENTS)
    if costs.other is not None:
        add("other_per_gpu_hour", "Other cost", f"{path}.other.amount", f"{currency}/GPU-hour", look.CENTS)
    if deal.operations.staff_per_gpu_month:
        staff = "operations.staff_per_gpu_month"
        add("staff_per_gpu_month", "Staff", staff, f"{currency}/GPU-month", look.CENTS)
    if deal.operations.property_insurance_rate:
        rate = "operations.property_insurance_rate"
        add("property_insurance_rate", "Property insurance", rate, "of capital expenditure a year", look.PERCENT)
    if costs.fixed is not None:
        label = "Fixed cost of the project"
        add("fixed_cost", label, f"{path}.fixed.amount", f"{currency}/month", look.MONEY)
        add("fixed_cost_from", "Fixed cost begins", f"{path}.fixed.starts", "date")
    add("cost_growth", "Growth of staff, rent and fixed cost", "operations.cost_growth", "1/year", look.PERCENT)


def _power(basis: Basis, inputs: Inputs, clusters: Sequence[str]) -> None:
    deal, add, currency = basis.deal, inputs.term, basis.finance.currency
    assert deal.power is not None
    if deal.power.kw_per_gpu is not None:
        add("kw_per_gpu", "Equipment power of a GPU", "power.kw_per_gpu", "kW/GPU")
    else:
        for c, cluster in enumerate(clusters, start=1):
            name = deal.clusters[cluster].hardware
            if name is not None:
                label, path = f"Equipment power of a GPU, {cluster}", f"risk/data/hardware/{name}.yaml: kw_per_gpu"
                inputs.data(f"cluster_{c}_kw_per_gpu", label, hardware(name).kw_per_gpu, path)
    add("pue", "Power usage effectiveness", "power.pue", "1")
    add("price_per_mwh", "Price of power", "power.price_per_mwh", f"{currency}/MWh", look.CENTS)
    add("idle_share", "Power of a GPU not in use", "power.idle_share", "share of full")
    if deal.power.site_rent_per_kw_month is not None:
        add("site_rent", "Rent of the hall", "power.site_rent_per_kw_month", f"{currency}/kW-month", look.CENTS)
        if deal.power.contracted_kw is not None:
            add("contracted_kw", "Power that rent is paid for", "power.contracted_kw", "kW", look.COUNT)


def _reletting(basis: Basis, inputs: Inputs) -> None:
    terms, path = basis.deal.assumptions.reletting, "assumptions.reletting"
    if terms is None:
        return
    inputs.section("Letting again")
    for name, label, unit in (
        ("empty", "Months empty", "month"),
        ("haircut", "Share of market rent lost", "1"),
        ("first_utilisation", "Share of hours let in the first month", "1"),
        ("utilisation_step", "Added in each month after it", "1"),
        ("highest_utilisation", "Highest share of hours let", "1"),
    ):
        inputs.term(f"relet_{name}", label, f"{path}.{name}", unit)
    if terms.rent_fixed_months is not None:
        inputs.term("relet_fixed_months", "Months for which a rent holds", f"{path}.rent_fixed_months", "month")
