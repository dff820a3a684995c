"""The sheet of tranches: when each is ready, what it earns and what it costs, by formula from the inputs."""

from __future__ import annotations

import re
from dataclasses import dataclass

from openpyxl.utils import get_column_letter

from risk.core.setting import least_share
from slakit.reports.workbook import look
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook.book import Book, absolute, heading, write, write_text
from slakit.reports.workbook.grid import Grids
from slakit.reports.workbook.inputs import Inputs
from slakit.reports.workbook.tranche_inputs import tranche_inputs

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
        tranche_inputs(basis, inputs, self.services, self.clusters)
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
        gpus = tuple(
            "=0" if term.cluster is None else f"={self._unit(term.cluster, 'gpu')}*[part]" for term in self.terms
        )
        self._add("gpus", "GPUs", "GPU", gpus, look.COUNT)
        self._price(currency)
        if deal.commercial.prepayment is not None:
            self._prepayment(currency)
        self._costs(currency)
        if deal.assumptions.reletting is not None:
            ends, ready = "-INT(-([end]-1E-9))", "-INT(-([ready]-1E-9))"
            first = f"=MAX({ends},{ready})-INT(-(relet_empty-1E-9))+1"
            self._add("relet_from", "First month let again", "month", self._each(first), look.WHOLE)

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
        hourly = {self.per_hour(j) for j in range(self.count)}
        unit = ", an hour for gpu hour, else a month" if len(hourly) > 1 else "/hour" if True in hourly else "/month"
        self._add("fee", "Fee of all units", f"{currency}{unit}", tuple(fee), look.CENTS, width=18)
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
            rented = "contracted_kw/MAX(gpus_all,1)" if has("contracted_kw") else "[kw]"
            rent = f"={rented}*site_rent"
        self._add("rent", "Site rent", f"{currency}/GPU-month", self._each(rent), look.CENTS)
        staff = "=staff_per_gpu_month" if has("staff_per_gpu_month") else "=0"
        self._add("staff", "Staff", f"{currency}/GPU-month", self._each(staff), look.CENTS)
        insurance = "=0"
        if has("property_insurance_rate"):
            insurance = "=capital_expenditure/MAX(gpus_all,1)*property_insurance_rate/12"
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
        self, key: str, title: str, unit: str, cells: tuple[str, ...], format: str = look.GENERAL, width: float = 13.0
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
                sheet.cell(UNIT_ROW, place),
                "" if one.unit == "1" else one.unit,
                font=look.SMALL,
                fill=look.HEAD_FILL,
                align=align,
                border=look.UNDER_HEAD,
            )
            for j, content in enumerate(one.cells):
                cell = sheet.cell(FIRST_ROW + j, place)
                if is_text:
                    align = look.BESIDE if one.key == "basis" else look.LEFT
                    write_text(cell, content, align=align, border=look.UNDER)
                else:
                    formula = outside.formula(self.formula(content, j))
                    write(cell, formula, format=one.format, align=look.RIGHT, border=look.UNDER)
            sheet.column_dimensions[get_column_letter(place)].width = one.width
        total = FIRST_ROW + self.count
        write_text(sheet.cell(total, 1), "All", font=look.BOLD, border=look.ABOVE_TOTAL)
        added = {"gpus": "SUM", "prepaid": "SUM", "ready": "MAX", "end": "MAX"}
        for place, one in enumerate(self.properties, start=1):
            sheet.cell(total, place).border = look.ABOVE_TOTAL
            if one.key in added:
                formula = self.formula(f"={added[one.key]}([{one.key}@all])", 0)
                write(
                    sheet.cell(total, place),
                    formula,
                    font=look.BOLD,
                    format=one.format,
                    align=look.RIGHT,
                    border=look.ABOVE_TOTAL,
                )
                name = {"gpus": "gpus_all", "prepaid": "prepaid_all", "ready": "latest_ready", "end": "latest_end"}
                book.define(name[one.key], SHEET, f"{get_column_letter(place)}{total}")
        letter = get_column_letter(next(i for i, one in enumerate(self.properties, start=1) if one.key == "ready"))
        book.define("ready_each", SHEET, f"{letter}{FIRST_ROW}", f"{letter}{total - 1}")
        note = "Ready and Term ends show the latest of all tranches in the last row, GPUs and prepayment their sum."
        write_text(sheet.cell(total + 2, 1), note, font=look.SMALL)
        sheet.row_dimensions[HEAD_ROW].height = 30
        sheet.row_dimensions[UNIT_ROW].height = 38
        sheet.freeze_panes = f"B{FIRST_ROW}"
        sheet.print_title_cols = "A:A"
