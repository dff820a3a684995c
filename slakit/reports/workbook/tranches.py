"""The sheet of tranches: when each is ready, what it earns and what it costs, by formula from the inputs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from risk.core.data import hardware
from risk.core.setting import least_share
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, absolute, heading, write, write_text
from slakit.reports.workbook.grid import Grids
from slakit.reports.workbook.inputs import Inputs

SHEET = "Tranches"
HEAD_ROW, UNIT_ROW, FIRST_ROW = 4, 5, 6
_REFERENCE = re.compile(r"\[(\w+)(@all)?\]")


@dataclass(frozen=True, slots=True)
class Property:
    """One column: what is said of every tranche."""

    key: str
    title: str
    unit: str
    cells: tuple[str, ...]
    """Text, or a formula, of each tranche."""
    format: str = look.GENERAL
    width: float = 12.0


class Tranches:
    """What is said of each tranche, and where on the sheet it stands."""

    def __init__(self, basis: Basis, inputs: Inputs) -> None:
        self.basis, self.inputs = basis, inputs
        self.ids = basis.setting.tranches
        deal = basis.deal
        assert deal.delivery is not None
        assert deal.commercial is not None
        self.terms = [deal.delivery.tranches[tranche] for tranche in self.ids]
        self.services = list(dict.fromkeys(basis.setting.service_of))
        self.clusters = list(dict.fromkeys(term.cluster for term in self.terms if term.cluster is not None))
        self.properties: list[Property] = []
        self._inputs()
        self._properties()

    @property
    def count(self) -> int:
        """Return how many tranches there are."""
        return len(self.ids)

    def per_hour(self, tranche: int) -> bool:
        """Return whether a tranche is priced by the hour."""
        assert self.basis.deal.commercial is not None
        return self.basis.deal.commercial.charges[self.basis.setting.service_of[tranche]].price.per == "gpu_hour"

    def at(self, key: str, tranche: int) -> str:
        """Return the address of one cell, for formulas of other sheets."""
        place = next(i for i, one in enumerate(self.properties, start=1) if one.key == key)
        return f"{SHEET}!{absolute(f'{get_column_letter(place)}{FIRST_ROW + tranche}')}"

    def has(self, key: str) -> bool:
        """Return whether a property is said of the tranches."""
        return any(one.key == key for one in self.properties)

    # --- inputs ------------------------------------------------------------------------------------------------------

    def _inputs(self) -> None:
        deal, add = self.basis.deal, self.inputs.term
        assert deal.commercial is not None
        self.inputs.section("Delivery and term")
        for j, tranche in enumerate(self.ids, start=1):
            path = f"delivery.tranches.{tranche}"
            add(f"tranche_{j}_ready", f"Ready for service, {tranche}", f"{path}.ready_for_service_date", "date")
            add(f"tranche_{j}_share", f"Share of the service, {tranche}", f"{path}.share_of_service", "1")
        add("term_months", "Firm term from readiness", "commercial.term.months", "months")
        if deal.commercial.term.ends_by is not None:
            add("term_ends_by", "Every term ends at the latest", "commercial.term.ends_by", "date")
        self.inputs.section("Price")
        for s, service in enumerate(self.services, start=1):
            charge = deal.commercial.charges[service]
            unit = f"{deal.commercial.currency} {charge.price.per.replace('_', ' ').replace('lump', 'a')}"
            path = f"commercial.charges.{service}"
            add(f"service_{s}_price", f"Price, {service}", f"{path}.price.amount", unit, look.CENTS)
            if least_share(charge) < 1:
                add(f"service_{s}_least", f"Paid for at least, {service}", f"{path}.take_or_pay", "1")
        if any(least_share(deal.commercial.charges[service]) < 1 for service in self.services):
            add("usage", "Share of reserved capacity used", "assumptions.usage", "1")
        for c, cluster in enumerate(self.clusters, start=1):
            add(f"cluster_{c}_gpu", f"GPUs, {cluster}", f"clusters.{cluster}.units.gpu", "GPU", look.COUNT)
            for counted in sorted(self._counted(cluster) - {None, "gpu"}, key=str):
                words = {"node": "Nodes", "kw": "Contracted power"}[str(counted)]
                add(f"cluster_{c}_{counted}", f"{words}, {cluster}", f"clusters.{cluster}.units.{counted}", str(counted))
        if deal.commercial.prepayment is not None:
            path = "commercial.prepayment"
            add("prepayment_share", "Share of the term's fees paid ahead", f"{path}.fraction", "1")
            add("prepayment_from", "Credited from month of the term", f"{path}.credited_from_month", "month")
            add("refund_days", "Days until a balance is paid back", "cancellation.refund_days", "day")
        self._cost_inputs()
        if deal.assumptions.reletting is not None:
            self._reletting_inputs()

    def _counted(self, cluster: str) -> set[str | None]:
        """Return the units of a cluster that prices count."""
        assert self.basis.deal.commercial is not None
        charges = self.basis.deal.commercial.charges
        pairs = zip(self.terms, self.basis.setting.service_of, strict=True)
        return {charges[service].price.counted for term, service in pairs if term.cluster == cluster}

    def _cost_inputs(self) -> None:
        deal, add = self.basis.deal, self.inputs.term
        currency, costs, power = self.basis.finance.currency, self.basis.finance.operating_costs, deal.power
        self.inputs.section("Cost of running")
        if power is not None:
            if power.kw_per_gpu is not None:
                add("kw_per_gpu", "Equipment power of a GPU", "power.kw_per_gpu", "kW/GPU")
            else:
                for c, cluster in enumerate(self.clusters, start=1):
                    name = deal.clusters[cluster].hardware
                    if name is not None:
                        path = f"risk/data/hardware/{name}.yaml: kw_per_gpu"
                        self.inputs.data(
                            f"cluster_{c}_kw_per_gpu", f"Equipment power of a GPU, {cluster}",
                            hardware(name).kw_per_gpu, path,
                        )  # fmt: skip
            add("pue", "Power usage effectiveness", "power.pue", "1")
            add("price_per_mwh", "Price of power", "power.price_per_mwh", f"{currency}/MWh", look.CENTS)
            add("idle_share", "Power of a GPU not in use", "power.idle_share", "share of full")
            if power.site_rent_per_kw_month is not None:
                add("site_rent", "Rent of the hall", "power.site_rent_per_kw_month", f"{currency}/kW-month", look.CENTS)
                if power.contracted_kw is not None:
                    add("contracted_kw", "Power that rent is paid for", "power.contracted_kw", "kW", look.COUNT)
        elif costs.power is not None:
            path = "finance.operating_costs.power.amount"
            add("power_per_gpu_hour", "Power", path, f"{currency}/GPU-hour", look.CENTS)
        if costs.other is not None:
            path = "finance.operating_costs.other.amount"
            add("other_per_gpu_hour", "Other cost", path, f"{currency}/GPU-hour", look.CENTS)
        if deal.operations.staff_per_gpu_month:
            path = "operations.staff_per_gpu_month"
            add("staff_per_gpu_month", "Staff", path, f"{currency}/GPU-month", look.CENTS)
        if deal.operations.property_insurance_rate:
            path = "operations.property_insurance_rate"
            add("property_insurance_rate", "Property insurance", path, "of capital expenditure a year", look.PERCENT)
        if costs.fixed is not None:
            add("fixed_cost", "Fixed cost of the project", "finance.operating_costs.fixed.amount",
                f"{currency}/month", look.MONEY)  # fmt: skip
            add("fixed_cost_from", "Fixed cost begins", "finance.operating_costs.fixed.starts", "date")
        add("cost_growth", "Growth of staff, rent and fixed cost", "operations.cost_growth", "1/year", look.PERCENT)

    # --- the sheet ---------------------------------------------------------------------------------------------------

    def _properties(self) -> None:
        deal, setting = self.basis.deal, self.basis.setting
        assert deal.commercial is not None
        currency = deal.commercial.currency
        self._add("id", "Tranche", "", self.ids, width=16)
        self._add("service", "Service", "", setting.service_of, width=14)
        self._add("cluster", "Cluster", "", tuple(term.cluster or "" for term in self.terms), width=16)
        self._add("ready", "Planned ready", "months after close", self._each("=tranche_{j}_ready"), look.MONTHS)
        end = "=[ready]+term_months"
        if self.inputs.has("term_ends_by"):
            end = "=MIN([ready]+term_months,term_ends_by)"
        self._add("end", "Term ends", "months after close", self._each(end), look.MONTHS)
        self._add("share", "Share of the service", "1", self._each("=tranche_{j}_share"), look.SHARE)
        whole = "SUMPRODUCT(([cluster@all]=[cluster])*[share@all])"
        self._add("part", "Part of its cluster", "1", self._each(f"=IF({whole}>0,[share]/{whole},1)"), look.SHARE)
        gpus = tuple("=0" if term.cluster is None else f"={self._unit(term.cluster, 'gpu')}*[part]" for term in self.terms)
        self._add("gpus", "GPUs", "GPU", gpus, look.COUNT)
        self._price(currency)
        if deal.commercial.prepayment is not None:
            self._prepayment(currency)
        self._costs(currency)
        if deal.assumptions.reletting is not None:
            ends, ready = "-INT(-([end]-1E-9))", "-INT(-([ready]-1E-9))"
            first = f"=MAX({ends},{ready})-INT(-(relet_empty-1E-9))+1"
            self._add("relet_from", "First month let again", "month", self._each(first), look.WHOLE)

    def _reletting_inputs(self) -> None:
        """Add the inputs of letting again."""
        deal, add = self.basis.deal, self.inputs.term
        terms = deal.assumptions.reletting
        assert terms is not None
        self.inputs.section("Letting again")
        for name, label, unit in (
            ("empty", "Months empty", "month"),
            ("haircut", "Share of market rent lost", "1"),
            ("first_utilisation", "Share of hours let in the first month", "1"),
            ("utilisation_step", "Added in each month after it", "1"),
            ("highest_utilisation", "Highest share of hours let", "1"),
        ):
            add(f"relet_{name}", label, f"assumptions.reletting.{name}", unit)
        if terms.rent_fixed_months is not None:
            add("relet_fixed_months", "Months for which a rent holds", "assumptions.reletting.rent_fixed_months", "month")

    def _price(self, currency: str) -> None:
        deal, setting = self.basis.deal, self.basis.setting
        assert deal.commercial is not None
        basis, paid, fee, least = [], [], [], []
        for term, service in zip(self.terms, setting.service_of, strict=True):
            s, charge = self.services.index(service) + 1, deal.commercial.charges[service]
            basis.append(charge.price.per.replace("_", " "))
            partly = least_share(charge) < 1
            paid.append(f"=MAX(usage,service_{s}_least)" if partly else "=1")
            least.append(f"=IF([paid]>0,service_{s}_least/[paid],0)" if partly else "=1")
            counted = charge.price.counted
            if counted is None:
                units = "[share]"
            else:
                assert term.cluster is not None
                whole = "SUMPRODUCT(([cluster@all]=[cluster])*([service@all]=[service])*[share@all])"
                units = f"{self._unit(term.cluster, counted)}*IF({whole}>0,[share]/{whole},1)"
            fee.append(f"=service_{s}_price*[paid]*{units}")
        self._add("basis", "Price basis", "", tuple(basis), width=13)
        self._add("paid", "Share paid for", "1", tuple(paid), look.SHARE)
        unit = "an hour for gpu hour, else a month"
        self._add("fee", "Fee of all units", f"{currency}, {unit}", tuple(fee), look.CENTS, width=18)
        if any(cell != "=1" for cell in least):
            self._add("least", "Least of it due", "1", tuple(least), look.SHARE)

    def _prepayment(self, currency: str) -> None:
        least = "*[least]" if self.has("least") else ""
        cells = tuple(
            f"=prepayment_share*term_months*[fee]{least}*{'AVERAGE([base:hours@all])' if self.per_hour(j) else '1'}"
            for j in range(self.count)
        )
        self._add("prepaid", "Prepaid at close", currency, cells, look.MONEY, width=16)
        back = "=-INT(-([end]+refund_days/(365.25/12)-1E-9))"
        self._add("refund", "Balance paid back in", "month", self._each(back), look.WHOLE)

    def _costs(self, currency: str) -> None:
        power, has = self.basis.deal.power, self.inputs.has
        if has("price_per_mwh"):
            kilowatts = tuple(self._kilowatts(term.cluster) for term in self.terms)
            self._add("kw", "Power of a GPU", "kW/GPU", kilowatts, look.SHARE)
            cost = "=[kw]*pue*price_per_mwh/1000"
        else:
            cost = "=power_per_gpu_hour" if has("power_per_gpu_hour") else "=0"
        self._add("power", "Power", f"{currency}/GPU-hour", self._each(cost), look.RENT)
        other = "=other_per_gpu_hour" if has("other_per_gpu_hour") else "=0"
        self._add("other", "Other cost", f"{currency}/GPU-hour", self._each(other), look.RENT)
        rent = "=0"
        if has("site_rent"):
            assert power is not None
            rented = "contracted_kw/MAX(SUM([gpus@all]),1)" if has("contracted_kw") else "[kw]"
            rent = f"={rented}*site_rent"
        self._add("rent", "Site rent", f"{currency}/GPU-month", self._each(rent), look.CENTS)
        staff = "=staff_per_gpu_month" if has("staff_per_gpu_month") else "=0"
        self._add("staff", "Staff", f"{currency}/GPU-month", self._each(staff), look.CENTS)
        insurance = "=0"
        if has("property_insurance_rate"):
            insurance = "=capital_expenditure/MAX(SUM([gpus@all]),1)*property_insurance_rate/12"
        self._add("insurance", "Property insurance", f"{currency}/GPU-month", self._each(insurance), look.CENTS)

    def _kilowatts(self, cluster: str | None) -> str:
        if self.inputs.has("kw_per_gpu"):
            return "=kw_per_gpu"
        assert cluster is not None
        return f"={self._unit(cluster, 'kw_per_gpu')}"

    def _unit(self, cluster: str, counted: str) -> str:
        return f"cluster_{self.clusters.index(cluster) + 1}_{counted}"

    def _each(self, formula: str) -> tuple[str, ...]:
        """Return one formula for every tranche, which may name its own inputs by `{j}`."""
        return tuple(formula.replace("{j}", str(j)) for j in range(1, self.count + 1))

    def _add(
        self, key: str, title: str, unit: str, cells: tuple[str, ...], format: str = look.GENERAL, width: float = 12.0
    ) -> None:
        self.properties.append(Property(key, title, unit, cells, format, width))

    def formula(self, text: str, tranche: int) -> str:
        """Return a formula of the sheet with its columns by their addresses; others are left as they are."""
        letters = {one.key: get_column_letter(i) for i, one in enumerate(self.properties, start=1)}

        def address(found: re.Match[str]) -> str:
            key, every = found.groups()
            if key not in letters:
                return found[0]
            if every:
                return f"${letters[key]}${FIRST_ROW}:${letters[key]}${FIRST_ROW + self.count - 1}"
            return f"{letters[key]}{FIRST_ROW + tranche}"

        return _REFERENCE.sub(address, text)

    def write(self, book: Book, outside: Grids) -> None:
        """Write the sheet.

        Parameters
        ----------
        outside : the sheets by month, whose columns some formulas name.
        """
        sheet = book.sheet(SHEET)
        heading(sheet, "Tranches", "Dates, price and cost of each tranche, by formula from the inputs.")
        for place, one in enumerate(self.properties, start=1):
            is_text = one.format == look.GENERAL
            align = look.HEAD_LEFT if is_text else look.HEAD_RIGHT
            write_text(sheet.cell(HEAD_ROW, place), one.title, font=look.HEAD, fill=look.HEAD_FILL, align=align)
            write_text(
                sheet.cell(UNIT_ROW, place), one.unit, font=look.SMALL, fill=look.HEAD_FILL, align=align,
                border=look.UNDER_HEAD,
            )  # fmt: skip
            for j, content in enumerate(one.cells):
                cell = sheet.cell(FIRST_ROW + j, place)
                if is_text:
                    write_text(cell, content, border=look.UNDER)
                else:
                    formula = outside.formula(self.formula(content, j))
                    write(cell, formula, format=one.format, align=look.RIGHT, border=look.UNDER)
            sheet.column_dimensions[get_column_letter(place)].width = one.width
        total = FIRST_ROW + self.count
        write_text(sheet.cell(total, 1), "All", font=look.BOLD, border=look.ABOVE_TOTAL)
        added = {"gpus": "SUM", "prepaid": "SUM", "ready": "MAX", "end": "MAX"}
        for place, one in enumerate(self.properties, start=1):
            cell = sheet.cell(total, place)
            cell.border = look.ABOVE_TOTAL
            if one.key in added:
                formula = self.formula(f"={added[one.key]}([{one.key}@all])", 0)
                write(cell, formula, font=look.BOLD, format=one.format, align=look.RIGHT, border=look.ABOVE_TOTAL)
                name = {"gpus": "gpus_all", "prepaid": "prepaid_all", "ready": "latest_ready", "end": "latest_end"}
                book.define(name[one.key], SHEET, cell.coordinate)
        note = "Ready and Term ends show the latest of all tranches in the last row, GPUs and prepayment their sum."
        write_text(sheet.cell(total + 2, 1), note, font=look.SMALL)
        sheet.row_dimensions[HEAD_ROW].height = 30
        sheet.row_dimensions[UNIT_ROW].height = 38
        sheet.freeze_panes = sheet.cell(FIRST_ROW, 2)
        sheet.print_title_cols = "A:A"
