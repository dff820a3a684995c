"""A whole deal with secrets in every place that must not be printed, and a small set of templates."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.deal import Deal
from slakit.paths import templates_dir

CANARY = "CANARY-7f3a"
FINANCE_AMOUNT = "9876543210.55"


def whole_deal() -> dict[str, Any]:
    """Return a deal that fills every section, with a canary wherever no contract may look."""
    judged = {"kind": "judgement", "as_of": "2026-11-30", "rationale": f"{CANARY} rationale"}
    damages = {
        "grace": {"days": 14},
        "steps": [{"until": {"days": 30}, "fee_fraction": 1}, {"fee_fraction": 2}],
        "cap": {"days": 60},
    }
    return {
        "schema_version": 1,
        "title": f"{CANARY} title",
        "about": f"{CANARY} about",
        "parties": {
            "seller": {
                "name": "Northfield Compute LLC",
                "role": "provider",
                "entity": "a Delaware limited liability company",
                "notice_address": "1 Mill Street, Northfield",
            },
            "buyer": {
                "name": "Halden Models Inc.",
                "role": "customer",
                "entity": "a Delaware corporation",
                "notice_address": "2 Harbour Road, Halden",
            },
            "bank": {
                "name": f"{CANARY} lender",
                "role": "lender",
                "entity": f"{CANARY} entity",
                "notice_address": f"{CANARY} address",
            },
            "cover": {"name": f"{CANARY} insurer", "role": "insurer"},
        },
        "sites": {
            "campus": {
                "name": "Northfield Campus",
                "place": "Northfield, Texas",
                "restart_hours": {"value": 3, "unit": "h", **judged},
            }
        },
        "clusters": {
            "east": {
                "name": "East",
                "site": "campus",
                "hardware": "gb300_nvl72",
                "units": {"gpu": 1152, "node": 288, "rack": 16},
                "spares": {"node": 9},
            }
        },
        "services": {"compute": {"name": "Compute Service", "tranches": ["first", "second"]}},
        "service_levels": {
            "nodes": {
                "level": "node",
                "target": 0.995,
                "credit": {
                    "bands": [
                        {"below": 0.995, "credit_fraction": 0.1},
                        {"below": 0.99, "credit_fraction": 0.25},
                        {"below": 0.95, "credit_fraction": 0.5},
                    ]
                },
            },
            "domains": {
                "level": "scale_up_domain",
                "target": 0.995,
                "k": 16,
                "n": 18,
                "credit": {"bands": [{"below": 0.995, "credit_fraction": 0.1}]},
            },
            "cluster": {
                "level": "cluster",
                "target": 0.995,
                "nodes_needed_share": 0.95,
                "credit": {
                    "bands": [
                        {"below": 0.995, "credit_fraction": 0.05},
                        {"below": 0.99, "credit_fraction": 0.15},
                        {"below": 0.95, "credit_fraction": 0.3},
                    ]
                },
            },
        },
        "exclusions": {
            "scheduled": {
                "cap_unit_month_hours": 8,
                "windows": "Tuesday to Thursday, 00:00 to 06:00",
                "max_concurrent_fraction": 0.05,
                "checkpoint_warning_hours": 24,
            },
            "emergency": {"min_notice_hours": 2, "cap_quarter_hours": 4},
        },
        "credits": {"caps": {"unit": 1, "month": 0.3, "year": 0.1}},
        "delivery": {
            "tranches": {
                "first": {
                    "name": "Tranche 1",
                    "cluster": "east",
                    "ready_for_service_date": "2027-03-01",
                    "share_of_service": 0.5,
                    "delay_damages": damages,
                    "long_stop": {"after": {"days": 120}},
                },
                "second": {
                    "name": "Tranche 2",
                    "cluster": "east",
                    "ready_for_service_date": "2027-06-01",
                    "share_of_service": 0.5,
                    "delay_damages": damages,
                    "long_stop": {"after": {"days": 120}},
                },
            }
        },
        "cancellation": {
            "chronic_failure": {
                "limbs": [
                    {"form": "bad_months", "service_level": "cluster", "below": 0.98, "k": 3, "m": 6},
                    {"form": "single_outage", "service_level": "cluster", "hours": 72},
                ]
            },
            "convenience": {
                "party": "customer",
                "first_exercise": "2028-03-01",
                "notice": {"days": 90},
                "fee": 1000000,
            },
        },
        "commercial": {
            "currency": "USD",
            "charges": {"compute": {"price": {"per": "gpu_hour", "amount": 2.5}}},
            "term": {"months": 60},
            "prepayment": {"fraction": 0.2, "credited_from_month": 1},
            "governing_law": "new_york",
            "liability_cap_fraction": 1,
            "expert_body": "the president of an engineering society",
        },
        "operations": {"staff_per_gpu_month": "71828182.5", "property_insurance_rate": "0.0071828182"},
        "power": {
            "kw_per_gpu": "1.71828182",
            "pue": "1.25",
            "price_per_mwh": "71828182",
            "density_choice": {
                "facility_mw": "5.71828182",
                "discount_rate": "0.0071828182",
                "old": {"server_kw": 10, "gpus_per_server": 8, "gpu_cost": "71828182", "sale_share": "0.71828182"},
                "keep": {"market": {"rent": "171828182", "utilisation": "0.71828182"}},
                "sell": {"cost_share": "0.0071828182"},
            },
        },
        "residual_value": {"book_life_months": 71, "floor_rent_share": {"value": "0.71828182", "unit": "1", **judged}},
        "insurance": {
            "layers": {
                "outage": {
                    "insurer": "cover",
                    "rate_per_hour": "71828182",
                    "wait_hours": "8",
                    "premium_per_month": "71828182",
                }
            }
        },
        "backstop": {
            "shape": "payment_guarantee",
            "provider": "bank",
            "triggers": ["payment_default"],
            "amount": FINANCE_AMOUNT,
            "amortisation_months": 77,
        },
        "finance": {
            "currency": "USD",
            "close": "2026-12-01",
            "loan": {
                "amount": FINANCE_AMOUNT,
                "annual_rate": 0.0876543219,
                "first_payment_month": 7,
                "payments": 48,
            },
        },
        "assumptions": {
            "claimed_share": {"value": 0.8123456789, "unit": "1", **judged},
            "counterparties": {"customer": {"default_rate": {"value": "0.0071828182", "unit": "1/year", **judged}}},
        },
        "provenance": {"*": {"source": f"{CANARY} source", "as_of": "2026-11-30", "kind": "published"}},
    }


@pytest.fixture
def data() -> dict[str, Any]:
    """The whole deal as plain data, to be changed by a test."""
    return whole_deal()


@pytest.fixture(scope="session")
def deal() -> Deal:
    """The whole deal."""
    return Deal.model_validate(whole_deal())


CLAUSE = """
slug: {slug}
title: {title}
terms: [{terms}]
defines: [{defines}]
paragraphs: [{paragraphs}]
"""

Writer = Callable[..., Path]


@pytest.fixture
def templates(tmp_path: Path) -> Writer:
    """Return a function that writes a small document into the test's own folder; see `writer`."""
    return writer(tmp_path / "templates")


def writer(root: Path) -> Writer:
    """Return a function that writes a small document and gives its folder.

    It takes the text of each clause by slug; `terms`, `defines` and `marks` by slug where a test needs them; and
    changes to the document's description.
    """

    def write(
        texts: dict[str, str],
        *,
        terms: dict[str, list[str]] | None = None,
        defines: dict[str, list[str]] | None = None,
        marks: dict[str, list[str]] | None = None,
        **changes: Any,
    ) -> Path:
        description: dict[str, Any] = {
            "id": "sla",
            "title": "Service Level Agreement",
            "status": "Draft for review by counsel",
            "parts": [{"title": "Terms", "clauses": list(texts)}],
            "execution": {"id": "execution", "title": "Signatures", "terms": ["parties"]},
            **changes,
        }
        pages = root / "documents" / "sla"
        pages.mkdir(parents=True, exist_ok=True)
        (root / "documents" / "sla.yaml").write_text(yaml.safe_dump(description, sort_keys=False))
        (pages / "execution.en.md.j2").write_text("[testimonium] The parties have signed.\n")
        for slug, text in texts.items():
            folder = root / "clauses" / slug
            (folder / "text").mkdir(parents=True, exist_ok=True)
            (folder / "text" / "balanced.en.md.j2").write_text(text)
            names = (marks or {}).get(slug, ["a", "b", "c"])
            (folder / "clause.yaml").write_text(
                CLAUSE.format(
                    slug=slug,
                    title=slug.replace("-", " ").capitalize(),
                    terms=", ".join((terms or {}).get(slug, [])),
                    defines=", ".join((defines or {}).get(slug, [])),
                    paragraphs=", ".join(f"{{id: {name}, mark: computed}}" for name in names),
                )
            )
        for shared in ("styles", "fonts"):
            if not (root / shared).exists():
                (root / shared).symlink_to(templates_dir() / shared)
        return root

    return write
