"""The workbook, recalculated by LibreOffice: its formulas give the engine's figures, and follow a changed input."""

from __future__ import annotations

import copy
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from openpyxl import Workbook, load_workbook
from typer.testing import CliRunner

from risk.engine import Model
from risk.score import score
from schemas.deal import Deal
from slakit.cli.main import app
from slakit.json_text import canonical_text
from slakit.load import load_deal
from slakit.paths import examples_dir
from slakit.reports.workbook import workbook
from slakit.reports.workbook.basis import Basis
from slakit.reports.workbook_manifest import SHEET as MANIFEST
from slakit.reports.workbook_manifest import files_of_workbook
from slakit.scoring import score_deal

GOLDEN = Path(__file__).parents[2] / "golden"
SOFFICE = shutil.which("soffice")
FIRST_ROW = 9
"""Row of month 1 on the sheets with one row a month."""
FIGURES = {
    "Cash available for debt service": "cfads",
    "Tax": "tax",
    "Debt service": "debt_service",
    "Owed after the month": "balance",
    "Reserve": "reserve",
    "Trapped cash": "trapped",
    "Unpaid": "unpaid",
    "Distribution": "distribution",
}
"""Heads of columns of the base case by the figure of the engine."""

# --- deals ------------------------------------------------------------------------------------------------------------


def judged(value: float, unit: str = "1") -> dict[str, Any]:
    """Return a number that rests on judgement."""
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "made up"}


def after(months: float) -> dict[str, str]:
    """Return a date in months after close."""
    return {"close_plus_months": str(months)}


SMALL: dict[str, Any] = {
    "schema_version": 1,
    "title": "Small deal",
    "parties": {"guarantor": {"name": "Guarantor C", "role": "guarantor"}},
    "clusters": {"one": {"units": {"gpu": 1000, "node": 125, "kw": "1900"}}},
    "services": {"compute": {"tranches": ["first", "second"]}},
    "commercial": {
        "currency": "USD",
        "charges": {"compute": {"price": {"per": "gpu_hour", "amount": "3.50"}}},
        "term": {"months": 16},
    },
    "delivery": {
        "tranches": {
            "first": {"cluster": "one", "ready_for_service_date": after(2), "share_of_service": "0.6"},
            "second": {"cluster": "one", "ready_for_service_date": after(3.25), "share_of_service": "0.4"},
        }
    },
    "operations": {"staff_per_gpu_month": "20", "property_insurance_rate": "0.01", "cost_growth": "0.03"},
    "power": {
        "kw_per_gpu": "1.9",
        "pue": "1.25",
        "price_per_mwh": "65",
        "idle_share": "0.3",
        "site_rent_per_kw_month": "100",
    },
    "finance": {
        "close": "2026-01-01",
        "currency": "USD",
        "capital_expenditure": "40000000",
        "other_uses": "500000",
        "horizon_months": 22,
        "loan": {"amount": "20000000", "annual_rate": "0.09", "first_payment_month": 5, "payments": 13},
        "reserve": {"months": 3},
        "lock_up": {"dscr": "1.15", "look_back_months": 3},
        "operating_costs": {"fixed": {"amount": "50000", "starts": after(1.5)}},
        "tax": {"rate": "0.25", "depreciation_months": 30},
    },
    "assumptions": {
        "calendar": "equal_730",
        "market": {
            "spot_rent": judged(2.4, "USD/GPU-hour"),
            "decay_per_year": judged(0.2, "1/year"),
            "persistence": judged(0.9),
            "monthly_noise": judged(0.05),
            "next_generation": {
                "earliest": judged(10, "month"),
                "latest": judged(13, "month"),
                "log_drop": judged(0.15),
            },
        },
        "value": {
            "life": judged(6, "year"),
            "discount_rate": judged(0.15, "1/year"),
            "utilisation": judged(0.85),
            "haircut": judged(0.1),
            "age_at_close": judged(0, "year"),
        },
    },
    "provenance": {"*": {"kind": "judgement", "as_of": "2026-11-28", "rationale": "made up"}},
}
LET_AGAIN = {
    "empty": judged(0.5, "month"),
    "haircut": judged(0.1),
    "first_utilisation": judged(0.4),
    "utilisation_step": judged(0.15),
    "highest_utilisation": judged(0.85),
}
COVERED = {"provider": "guarantor", "expires": after(21.5)}
NO_LOAN = {"loan": None, "reserve": None, "lock_up": None}
VARIANTS: dict[str, dict[str, Any]] = {
    "straight, drawn in parts, nodes paid ahead, term cut short, real months": {
        "commercial": {
            "charges": {"compute": {"price": {"per": "node_month", "amount": "20000"}, "take_or_pay": "0.7"}},
            "prepayment": {"fraction": "0.2", "credited_from_month": 4},
            "term": {"ends_by": "2027-05-12"},
        },
        "delivery": {"tranches": {"first": {"ready_for_service_date": "2026-03-10"}}},
        "measurement": {"zone": "Europe/Berlin"},
        "finance": {
            "loan": {
                "profile": "straight",
                "drawings": [{"month": 1, "amount": "3000000"}, {"month": 3, "amount": "4000000"}],
                "commitment_fee": "0.01",
            },
            "tax": {"losses": "refunded", "first_month_share": "0.4", "prepayment": "on_receipt"},
        },
        "assumptions": {"usage": judged(0.8), "calendar": "real"},
    },
    "bullet refinanced, swept, locked up by covenants": {
        "commercial": {"charges": {"compute": {"price": {"per": "kw_month", "amount": "1300"}}}},
        "finance": {
            "loan": {"profile": "bullet", "refinancing_ltv": "5", "sweep": "0.3"},
            "covenants": {"minimum_llcr": "1.9", "maximum_ltv": "0.7", "ltv_basis": "floor", "on_breach": "lock_up"},
        },
        "residual_value": {"book_life_months": 40, "floor_rent_share": judged(0.8)},
    },
    "balloon, swept and levelled anew, put, let again at fixed rents, insured": {
        "finance": {
            "loan": {"profile": "balloon", "balloon": "3000000", "sweep": "0.3", "sweep_effect": "re_levels"},
            "covenants": {"minimum_dscr": "1.9"},
        },
        "backstop": {
            **COVERED,
            "shape": "unsold_hours_put",
            "floor_rent": "1.5",
            "floor_fraction": "0.9",
            "amount": "5000000",
            "fee_rate": "0.02",
            "amortisation_months": 30,
        },
        "insurance": {
            "layers": {
                "base": {"rate_per_hour": "1000", "wait_hours": 8, "premium_per_month": "20000"},
                "top": {
                    "rate_per_hour": "500",
                    "wait_hours": 24,
                    "premium_per_month": "5000",
                    "premium_from": after(2.5),
                },
            }
        },
        "service_levels": {
            "cluster": {
                "level": "cluster",
                "target": "0.99",
                "nodes_needed_share": "1",
                "credit": {"bands": [{"below": "0.99", "credit_fraction": "0.1"}]},
            }
        },
        "assumptions": {
            "reletting": LET_AGAIN | {"rent_fixed_months": 2},
            "prescribed": {
                "outages": {
                    "outages_per_year": judged(2, "1/year"),
                    "median_hours": judged(3, "h"),
                    "sigma": judged(1),
                }
            },
        },
    },
    "sculpted, utilisation floor": {
        "finance": {"loan": {"profile": "sculpted", "target_dscr": "1.8", "amount": "90000000"}},
        "commercial": {"prepayment": {"fraction": "0.1", "credited_from_month": 2}},
        "backstop": {
            **COVERED,
            "shape": "utilisation_floor",
            "covers": "all",
            "floor_fraction": "0.95",
            "amount_per_year": "500000",
        },
        "assumptions": {"reletting": LET_AGAIN},
    },
    "sculpted and swept": {"finance": {"loan": {"profile": "sculpted", "target_dscr": "1.5", "sweep": "0.5"}}},
    "arrears within the grace, index floor": {
        "finance": {
            "reserve": None,
            "loan": {"first_payment_month": 3, "grace_months": 4},
            "operating_costs": {"fixed": None},
        },
        "backstop": {
            **COVERED,
            "shape": "index_price_floor",
            "floor_rent": "2.2",
            "covers": "all",
            "starts": "date",
            "start_date": after(7.5),
        },
        "assumptions": {"reletting": LET_AGAIN},
    },
    "arrears beyond the grace, no more than the loan simulated": {
        "finance": {"horizon_months": 21, "loan": {"payments": 17, "grace_months": 2}},
    },
    "default with a revenue floor": {
        "finance": {"loan": {"amount": "45000000"}, "reserve": {"months": 1}},
        "backstop": {
            **COVERED,
            "shape": "revenue_floor",
            "starts": "rent_commenced",
            "floor_rent": "1.7",
            "amount": "400000",
            "fee_rate": "0.02",
            "revenue_share": "0.1",
            "revenue_share_above": "200000",
        },
        "assumptions": {"reletting": LET_AGAIN},
    },
    "default by covenant": {
        "finance": {"covenants": {"minimum_dscr": "1.4", "minimum_llcr": "3", "on_breach": "default", "cure_months": 2}}
    },
    "residual guarantee, value to equity": {
        "backstop": {
            "provider": "guarantor",
            "shape": "residual_guarantee",
            "threshold": "30000000",
            "at": after(19.5),
        },
        "assumptions": {"prescribed": {"residual_to_equity": {"month": 22, "amount": "3000000"}}},
    },
    "two services, no loan, leaseback": {
        "services": {"compute": {"tranches": ["first"]}, "burst": {"tranches": ["second"]}},
        "commercial": {"charges": {"burst": {"price": {"per": "lump_month", "amount": "800000"}}}},
        "delivery": {"tranches": {"first": {"share_of_service": "1"}, "second": {"share_of_service": "1"}}},
        "power": None,
        "operations": None,
        "finance": NO_LOAN | {"operating_costs": {"power": {"amount": "0.2"}, "other": {"amount": "0.3"}}},
        "backstop": {
            **COVERED,
            "shape": "leaseback",
            "floor_rent": "3.2",
            "starts": "rfs_each_tranche",
            "amount": "12000000",
        },
        "assumptions": {
            "reletting": LET_AGAIN,
            "prescribed": {"scheduled_debt_service": {"from_month": 5, "to_month": 20, "amount": "500000"}},
        },
    },
    "cash prescribed, fewer months than the loan has": {
        "finance": {"horizon_months": 12},
        "assumptions": {"prescribed": {"cfads": {"while_contracted": "1.3", "after": "0"}}},
    },
}


def changed(terms: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return plain terms with changes merged in; None takes a term away."""
    out = copy.deepcopy(terms)
    for key, value in changes.items():
        if value is None:
            out.pop(key, None)
        elif isinstance(value, dict) and isinstance(out.get(key), dict):
            out[key] = changed(out[key], value)
        else:
            out[key] = copy.deepcopy(value)
    return out


def small(changes: dict[str, Any] | None = None) -> Deal:
    """Return the small deal with changes."""
    return Deal.model_validate(changed(SMALL, changes or {}))


def scored(deal: Deal) -> dict[str, Any]:
    """Return a score of few futures, with what a manifest must hold."""
    return {**score(deal, draws=4), "manifest": {"versions": {}, "seed": 1, "draws": 4}}


DOCUMENTS = {
    "gd-01": GOLDEN / "gd-01.yaml",
    "gd-10": GOLDEN / "gd-10.yaml",
    **{path.stem: path for path in sorted(examples_dir().glob("*.yaml"))},
}
RATE = "gd-10 at a rate one point higher"
MANY = "small deal with a dozen inputs changed"
OVERWRITTEN = "gd-01 with a month of fees written over"


def edit(content: bytes, change: Callable[[Workbook], None]) -> bytes:
    """Return a workbook after a reader has changed it."""
    book, out = load_workbook(BytesIO(content)), BytesIO()
    change(book)
    book.save(out)
    return out.getvalue()


def set_inputs(book: Workbook, values: dict[str, float]) -> None:
    """Write inputs by the names that formulas use."""
    rows = {row[4].value: row for row in book["Inputs"].iter_rows()}
    for name, value in values.items():
        rows[name][1].value = value


MANY_CHANGES: dict[str, tuple[float, dict[str, Any]]] = {
    "tranche_1_ready": (2.5, {"delivery": {"tranches": {"first": {"ready_for_service_date": after(2.5)}}}}),
    "term_months": (15, {"commercial": {"term": {"months": 15}}}),
    "service_1_price": (3.3, {"commercial": {"charges": {"compute": {"price": {"amount": "3.3"}}}}}),
    "cluster_1_gpu": (900, {"clusters": {"one": {"units": {"gpu": 900}}}}),
    "pue": (1.4, {"power": {"pue": "1.4"}}),
    "price_per_mwh": (80, {"power": {"price_per_mwh": "80"}}),
    "cost_growth": (0.05, {"operations": {"cost_growth": "0.05"}}),
    "fixed_cost": (60000, {"finance": {"operating_costs": {"fixed": {"amount": "60000"}}}}),
    "capital_expenditure": (38e6, {"finance": {"capital_expenditure": "38000000"}}),
    "loan_amount": (19e6, {"finance": {"loan": {"amount": "19000000"}}}),
    "loan_rate": (0.11, {"finance": {"loan": {"annual_rate": "0.11"}}}),
    "loan_payments": (12, {"finance": {"loan": {"payments": 12}}}),
    "reserve_months": (2, {"finance": {"reserve": {"months": 2}}}),
    "tax_rate": (0.3, {"finance": {"tax": {"rate": "0.3"}}}),
    "lock_up_dscr": (1.3, {"finance": {"lock_up": {"dscr": "1.3"}}}),
    "spot_rent": (2.2, {"assumptions": {"market": {"spot_rent": judged(2.2, "USD/GPU-hour")}}}),
    "relet_haircut": (0.2, {"assumptions": {"reletting": {"haircut": judged(0.2)}}}),
}


@dataclass(frozen=True, slots=True)
class Recalculated:
    """A workbook whose formulas LibreOffice has computed."""

    deal: Deal
    score: dict[str, Any]
    written: bytes
    """As slakit wrote it."""
    book: Workbook
    """Values of all cells."""
    base: dict[str, np.ndarray]
    """The engine's own base case of the deal, each figure by month."""

    def column(self, head: str, sheet: str = "Base case") -> np.ndarray:
        """Return one column by month, nan where it is empty."""
        page = self.book[sheet]
        place = next(cell.column for cell in page[5] if cell.value == head)
        months = len(self.base["cfads"])
        cells = (page.cell(FIRST_ROW + m, place).value for m in range(months))
        return np.array([float(v) if isinstance(v, int | float) else np.nan for v in cells])

    def summary(self, label: str) -> Any:
        """Return a figure of the first sheet by its label."""
        return next(row[1] for row in self.book["Summary"].iter_rows(values_only=True) if row[0] == label)

    def checks(self) -> dict[str, bool]:
        """Return every check by its label."""
        rows = self.book["Checks"].iter_rows(min_row=5, values_only=True)
        return {row[0]: row[1] for row in rows if row[0] and row[1] is not None and row[1] != "Holds"}


@pytest.fixture(scope="module")
def recalculated(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Recalculated]:
    """Every deal of this module as a workbook, recalculated by one run of LibreOffice."""
    if SOFFICE is None:
        pytest.skip("LibreOffice (soffice) is not installed")
    made: dict[str, tuple[Deal, dict[str, Any], bytes]] = {}
    for name, path in DOCUMENTS.items():
        loaded = load_deal(path)
        result = score_deal(loaded, draws=4)
        made[name] = loaded.deal, result, workbook(loaded.deal, result)
    for name, terms in VARIANTS.items():
        deal = small(terms)
        result = scored(deal)
        made[name] = deal, result, workbook(deal, result)
    made |= _edited(made)
    folder = tmp_path_factory.mktemp("workbooks")
    for i, (_, _, content) in enumerate(made.values()):
        (folder / f"{i:02d}.xlsx").write_bytes(content)
    subprocess.run(
        [
            SOFFICE, f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless", "--convert-to", "xlsx",
            "--outdir", str(folder / "out"), *map(str, sorted(folder.glob("*.xlsx"))),
        ],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    books = (load_workbook(folder / "out" / f"{i:02d}.xlsx", data_only=True) for i in range(len(made)))
    return {
        name: Recalculated(deal, result, content, book, engine(deal))
        for (name, (deal, result, content)), book in zip(made.items(), books, strict=True)
    }


def _edited(made: dict[str, tuple[Deal, dict[str, Any], bytes]]) -> dict[str, tuple[Deal, dict[str, Any], bytes]]:
    """Return workbooks that a reader has changed, each with the deal that it then speaks of."""
    deal, result, content = made["gd-10"]
    dearer = changed(deal.model_dump(mode="json", exclude_unset=True), {"finance": {"loan": {"annual_rate": "0.10"}}})
    let = {"assumptions": {"reletting": LET_AGAIN}}
    before = small(let)
    terms = changed(SMALL, let)
    for _, change in MANY_CHANGES.values():
        terms = changed(terms, change)
    golden, its_score, fees = made["gd-01"]

    def write_over(book: Workbook) -> None:
        page = book["Base case"]
        place = next(cell.column for cell in page[5] if cell.value == "Fees")
        page.cell(FIRST_ROW + 9, place).value = 1_700_000

    numbers = {name: value for name, (value, _) in MANY_CHANGES.items()}
    return {
        RATE: (Deal.model_validate(dearer), result, edit(content, lambda book: set_inputs(book, {"loan_rate": 0.10}))),
        MANY: (
            Deal.model_validate(terms),
            scored(before),
            edit(workbook(before, scored(before)), lambda book: set_inputs(book, numbers)),
        ),
        OVERWRITTEN: (golden, its_score, edit(fees, write_over)),
    }


def close_to(got: np.ndarray, want: np.ndarray) -> bool:
    """Return whether two series agree to 1e-9 of the greatest figure, and are undefined in the same months."""
    scale = max(1.0, float(np.nanmax(np.abs(want), initial=0.0)))
    return bool(np.allclose(got, want, rtol=0, atol=1e-9 * scale, equal_nan=True))


def engine(deal: Deal) -> dict[str, np.ndarray]:
    """Return the engine's base case of a deal, each figure by month."""
    assert deal.finance is not None
    base = Model.of(deal.at(deal.finance.close)).base()
    return {name: series[0] for name, series in base.monthly.items()} | dict(base.shared)


# --- the figures ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DOCUMENTS)
def test_libreoffice_gives_the_engines_dscr_in_every_month(recalculated, name: str):
    one = recalculated[name]
    base = one.base
    service = base["debt_service"]
    dscr = np.divide(base["cfads"], service, out=np.full(len(service), np.nan), where=service > 0)
    got = one.column("DSCR")
    assert np.isfinite(got).any()
    np.testing.assert_allclose(got, dscr, rtol=1e-9)


def test_the_workbook_of_the_first_golden_deal_gives_its_published_figures(recalculated):
    one = recalculated["gd-01"]
    right = json.loads((GOLDEN / "expected.json").read_text())["GD-01"]["expected"]
    for head, key in (
        ("Cash available for debt service", "cfads"),
        ("Tax", "tax"),
        ("Interest", "interest"),
        ("Principal", "principal"),
        ("DSCR", "dscr"),
        ("Closing balance", "balance"),
        ("Distribution", "distribution"),
    ):
        got, want = one.column(head)[3:], [row[key] for row in right["rows"]]
        np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-5)
    assert one.summary("Lowest DSCR") == pytest.approx(right["dscr_min"], rel=1e-9)
    assert one.summary("Average DSCR") == pytest.approx(right["dscr_avg"], rel=1e-9)
    assert one.summary("LLCR at the first payment") == pytest.approx(
        right["llcr_at_first_payment_date_start"], rel=1e-9
    )
    assert one.summary("Equity IRR, annual effective") == pytest.approx(right["equity_irr_annual_effective"], rel=1e-9)
    assert one.summary("Equity at close") == pytest.approx(right["equity"], rel=1e-12)


def test_the_workbook_of_the_tenth_golden_deal_gives_its_published_base_case(recalculated):
    one = recalculated["gd-10"]
    right = json.loads((GOLDEN / "expected.json").read_text())["GD-10"]["expected"]["base_case"]
    want = [np.nan if row["dscr"] is None else row["dscr"] for row in right["rows"]]
    np.testing.assert_allclose(one.column("DSCR"), want, rtol=1e-9)
    np.testing.assert_allclose(one.column("Tax"), [row["tax"] for row in right["rows"]], rtol=1e-9, atol=1e-5)
    np.testing.assert_allclose(one.column("Reserve"), [row["dsra"] for row in right["rows"]], rtol=1e-9, atol=1e-5)
    assert one.summary("Lowest DSCR") == pytest.approx(right["dscr_min"], rel=1e-9)
    assert one.summary("LLCR at the first payment") == pytest.approx(right["llcr_at_month_7_end"], rel=1e-9)
    assert one.summary("Equity IRR, annual effective") == pytest.approx(
        right["base_equity_irr_with_terminal"], rel=1e-9
    )
    assert one.summary("the same without the value of the GPUs at the end") == pytest.approx(
        right["base_equity_irr_without_terminal"], rel=1e-9
    )


@pytest.mark.parametrize("name", DOCUMENTS)
def test_cover_and_return_of_the_summary_are_those_of_the_score(recalculated, name: str):
    one = recalculated[name]
    figures = one.score
    assert one.summary("Lowest DSCR") == pytest.approx(figures["dscr"]["base_minimum"], rel=1e-9)
    assert one.summary("Average DSCR") == pytest.approx(figures["dscr"]["base_average"], rel=1e-9)
    assert one.summary("LLCR at the first payment") == pytest.approx(figures["llcr"]["at_first_payment"], rel=1e-9)
    assert one.summary("Equity IRR, annual effective") == pytest.approx(figures["equity_irr"]["base"], rel=1e-9)
    assert one.summary("Distributions, in all") == pytest.approx(figures["equity_irr"]["distributions"], rel=1e-9)
    assert one.summary("Equity at close") == pytest.approx(figures["sources_and_uses"]["equity"], rel=1e-9)


@pytest.mark.parametrize("name", [*DOCUMENTS, *VARIANTS])
def test_every_check_holds_and_no_cell_shows_an_error(recalculated, name: str):
    one = recalculated[name]
    checks = one.checks()
    assert len(checks) > 12
    assert [label for label, holds in checks.items() if holds is not True] == []
    assert one.summary("Formulas against the model") == "agrees with the model in every month"
    assert one.summary("Arithmetic") == "all checks hold"
    assert [
        (sheet.title, cell.coordinate, cell.value)
        for sheet in one.book
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "e" or str(cell.value).startswith(("#", "Err:"))
    ] == []


@pytest.mark.parametrize("name", VARIANTS)
def test_figures_of_every_profile_and_option_are_the_engines(recalculated, name: str):
    one = recalculated[name]
    base = one.base
    heads = {cell.value for cell in one.book["Base case"][5]}
    compared = [(head, figure) for head, figure in FIGURES.items() if head in heads and figure in base]
    assert len(compared) >= 2
    for head, figure in compared:
        assert close_to(one.column(head), base[figure]), head


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("straight, drawn in parts, nodes paid ahead, term cut short, real months", "prepaid_refunded"),
        ("bullet refinanced, swept, locked up by covenants", "trapped"),
        ("bullet refinanced, swept, locked up by covenants", "refinanced"),
        ("balloon, swept and levelled anew, put, let again at fixed rents, insured", "cover_paid"),
        ("balloon, swept and levelled anew, put, let again at fixed rents, insured", "relet_income"),
        ("balloon, swept and levelled anew, put, let again at fixed rents, insured", "insurance_premium"),
        ("sculpted, utilisation floor", "cover_paid"),
        ("arrears within the grace, index floor", "arrears"),
        ("arrears within the grace, index floor", "cover_paid"),
        ("arrears beyond the grace, no more than the loan simulated", "arrears"),
        ("residual guarantee, value to equity", "cover_paid"),
        ("two services, no loan, leaseback", "cover_paid"),
        ("two services, no loan, leaseback", "cover_market_revenue"),
    ],
)
def test_what_a_variant_is_made_for_happens_in_it(name: str, figure: str):
    deal = small(VARIANTS[name])
    assert Basis.of(deal, {}).figure(figure).max() > 0.01


@pytest.mark.parametrize(
    "name",
    [
        "default with a revenue floor",
        "default by covenant",
        "arrears beyond the grace, no more than the loan simulated",
    ],
)
def test_a_base_case_that_defaults_says_when(recalculated, name: str):
    one = recalculated[name]
    month = int(Model.of(one.deal).base().column["default_month"][0])
    assert month > 0
    assert one.summary("Month in which the loan defaults, – for never") == month


# --- a workbook that is worked with -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [RATE, MANY])
def test_a_changed_input_moves_the_workbook_as_it_moves_the_engine(recalculated, name: str):
    one = recalculated[name]
    base = one.base
    for head, figure in FIGURES.items():
        assert close_to(one.column(head), base[figure]), head
    dscr = one.column("DSCR")
    want = base["cfads"] / np.where(base["debt_service"] > 0, base["debt_service"], np.nan)
    np.testing.assert_allclose(dscr, want, rtol=1e-9)
    assert one.summary("Lowest DSCR") == pytest.approx(np.nanmin(want), rel=1e-9)


def test_a_changed_input_is_named_and_the_arithmetic_still_holds(recalculated):
    one = recalculated[RATE]
    assert one.summary("Inputs").startswith("1 changed")
    assert one.summary("Arithmetic") == "all checks hold"
    assert one.summary("Formulas against the model") == "differs, as inputs are changed"
    assert recalculated["gd-10"].summary("Inputs") == "as delivered"


def test_a_formula_written_over_is_found_by_the_checks(recalculated):
    one = recalculated[OVERWRITTEN]
    assert one.summary("Formulas against the model") == "DIFFERS FROM THE MODEL"
    assert one.checks()["Fees: greatest difference over its greatest figure"] is False


# --- what is in the file ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def plain() -> bytes:
    """The workbook of the small deal."""
    deal = small({"assumptions": {"reletting": LET_AGAIN}})
    return workbook(deal, scored(deal))


def cells(content: bytes) -> Iterator[tuple[str, Any]]:
    """Yield every cell of a workbook with the name of its sheet."""
    for sheet in load_workbook(BytesIO(content)):
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is not None:
                    yield sheet.title, cell


def test_text_of_the_deal_file_never_becomes_a_formula():
    typed = {sign: f'{sign}HYPERLINK("http://example.invalid","pay here")' for sign in "=+-@"}
    sources = zip(("finance.*", "commercial.*", "delivery.*"), "+-@", strict=True)
    provenance = {path: {"kind": "published", "as_of": "2026-11-28", "source": typed[sign]} for path, sign in sources}
    deal = small({"title": typed["="], "provenance": provenance})
    found = [(sheet, cell) for sheet, cell in cells(workbook(deal, scored(deal))) if "HYPERLINK" in str(cell.value)]
    assert {str(cell.value)[0] for _, cell in found if cell.value[0] in "=+-@"} == set("=+-@")
    assert {sheet for sheet, _ in found} >= {"Summary", "Inputs"}
    for _, cell in found:
        assert cell.data_type == "s"
        assert cell.quotePrefix or cell.value[0] not in "=+-@"  # stays text when it is edited


def test_letters_written_by_their_number_are_shown_as_typed():
    deal = small({"title": "A deal_x0041_ of ours"})
    (shown,) = {cell.value for sheet, cell in cells(workbook(deal, scored(deal))) if "deal_x" in str(cell.value)}
    assert shown == "A deal_x005F_x0041_ of ours"


def test_no_formula_speaks_of_a_file_a_link_or_another_program(plain: bytes):
    formulas = [str(cell.value) for _, cell in cells(plain) if cell.data_type == "f"]
    assert len(formulas) > 1000
    used = {name for formula in formulas for name in re.findall(r"([A-Z][A-Z0-9.]+)\(", formula)}
    assert used <= {
        *("ABS", "AND", "AVERAGE", "COUNTIF", "DATE", "DAY", "EDATE", "EOMONTH", "EXP", "IF", "IFERROR", "INDEX"),
        *("INT", "IRR", "ISNUMBER", "MATCH", "MAX", "MIN", "MOD", "MONTH", "OR", "SUM", "SUMIF", "SUMIFS"),
        *("SUMPRODUCT", "YEAR"),
    }
    assert not any("[" in formula or "!#REF" in formula for formula in formulas)


def test_every_input_is_used_by_a_formula(plain: bytes):
    words = {
        word for _, cell in cells(plain) if cell.data_type == "f" for word in re.findall(r"[a-z_0-9]+", cell.value)
    }
    sheet = load_workbook(BytesIO(plain))["Inputs"]
    names = {row[4] for row in sheet.iter_rows(min_row=6, values_only=True) if row[4]}
    assert len(names) > 30
    assert names - words == {"close"}  # months are equal in this deal: no date is reckoned from it


def test_every_input_says_its_path_kind_and_source(plain: bytes):
    sheet = load_workbook(BytesIO(plain))["Inputs"]
    rows = [row for row in sheet.iter_rows(min_row=6, values_only=True) if row[4]]
    by_name = {row[4]: row for row in rows}
    assert by_name["loan_rate"][1:3] + by_name["loan_rate"][5:7] == (
        0.09,
        "1/year",
        "finance.loan.annual_rate",
        "judgement",
    )
    assert by_name["at_once"][6:8] == ("default", "not typed in the deal file; the default of its terms")
    assert "made up (2026-11-28)" in by_name["loan_rate"][7]
    for row in rows:
        assert row[6], row[0]
        assert row[5] or row[6] in ("formula", "model"), row[0]


def test_every_value_that_no_formula_holds_is_listed_in_the_notes():
    deal = small({"finance": {"loan": {"profile": "sculpted", "target_dscr": "1.5", "sweep": "0.5"}}})
    book = load_workbook(BytesIO(workbook(deal, scored(deal))))
    notes = " ".join(str(row[0]) for row in book["Notes"].iter_rows(values_only=True) if row[0])
    found = set()
    for name in ("By tranche", "Base case", "Loan", "Payments ahead"):
        page = book[name]
        for column in page.iter_cols(min_col=3, min_row=5):
            months = column[FIRST_ROW - 5 :]
            if any(cell.data_type == "n" and cell.value is not None for cell in months):
                found.add(str(column[0].value))
                assert f"{name}, {column[0].value}" in notes
    assert found == {"Principal (model)", "Market value (model)"}
    assert "Inputs, Amount sculpted" in notes


def test_the_same_deal_gives_the_same_bytes_and_no_clock_is_in_them(plain: bytes):
    deal = small({"assumptions": {"reletting": LET_AGAIN}})
    assert workbook(deal, scored(deal)) == plain
    with zipfile.ZipFile(BytesIO(plain)) as archive:
        assert {entry.date_time for entry in archive.infolist()} == {(2000, 1, 1, 0, 0, 0)}
        core = archive.read("docProps/core.xml").decode()
        assert set(re.findall(r">(\d{4}-[^<]*)</dcterms", core)) == {"2000-01-01T00:00:00Z"}
        assert b"<Application>slakit</Application>" in archive.read("docProps/app.xml")


def test_another_process_writes_the_same_bytes(plain: bytes, tmp_path: Path):
    terms = tmp_path / "terms.json"
    deal = small({"assumptions": {"reletting": LET_AGAIN}})
    terms.write_text(json.dumps([deal.model_dump(mode="json", exclude_unset=True), scored(deal)]))
    script = (
        "import json, sys, hashlib; from schemas.deal import Deal; from slakit.reports.workbook import workbook; "
        "terms, score = json.load(open(sys.argv[1])); "
        "print(hashlib.sha256(workbook(Deal.model_validate(terms), score)).hexdigest())"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    run = subprocess.run(
        [sys.executable, "-c", script, terms], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == sha256(plain).hexdigest()


def test_the_hidden_sheet_holds_the_whole_deal_and_its_score(plain: bytes):
    book = load_workbook(BytesIO(plain))
    assert book[MANIFEST].sheet_state == "veryHidden"
    files = files_of_workbook(book)
    deal = Deal.model_validate(json.loads(files["deal.json"]))
    assert canonical_text(deal) == canonical_text(small({"assumptions": {"reletting": LET_AGAIN}}))
    assert json.loads(files["manifest.json"])["kind"] == "workbook"
    assert json.loads(files["score.json"])["months"] == 22
    assert all(len(str(row[1])) <= 32_000 for row in book[MANIFEST].iter_rows(values_only=True))


def test_sheets_stand_in_their_order_with_heads_that_stay(plain: bytes):
    book = load_workbook(BytesIO(plain))
    assert book.sheetnames == [
        *("Summary", "Inputs", "Tranches", "By tranche", "Base case", "Loan", "Sources and uses", "Checks", "Model"),
        *("Notes", MANIFEST),
    ]
    for name in ("Inputs", "Tranches", "By tranche", "Base case", "Loan", "Checks", "Model"):
        assert book[name].freeze_panes is not None
    for sheet in book.worksheets[:-1]:
        assert sheet.page_setup.orientation == "landscape"
        assert not sheet.sheet_view.showGridLines
    formats = {cell.number_format for cell in book["Base case"]["D"][FIRST_ROW:]}
    assert formats
    assert book["Inputs"]["B7"].fill.start_color.rgb != "00000000"


def test_amendments_in_force_at_close_are_in_the_workbook():
    amended = {"amendments": [{"effective_from": "2025-06-01", "set": {"finance.loan.annual_rate": "0.12"}}]}
    deal = small(amended)
    sheet = load_workbook(BytesIO(workbook(deal, scored(deal))))["Inputs"]
    (rate,) = [row[1] for row in sheet.iter_rows(values_only=True) if row[4] == "loan_rate"]
    assert Decimal(str(rate)) == Decimal("0.12")


def test_score_writes_the_workbook_where_the_file_ends_in_xlsx(tmp_path: Path):
    target = tmp_path / "base.xlsx"
    ended = CliRunner().invoke(app, ["score", str(GOLDEN / "gd-01.yaml"), "--draws", "4", "-o", str(target)])
    assert ended.exit_code == 0, ended.output
    assert "Base case" in load_workbook(target).sheetnames
