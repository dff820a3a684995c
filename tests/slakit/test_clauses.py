"""The clauses: every term of the contract is printed by one, every word is defined once, every choice has its words.

How the cases of the clauses are written stands at the top of test_clause_cases.py, which runs them.
"""

import re
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml

from schemas.base import Terms
from schemas.deal import Deal, path_of, steps_of, value_at
from schemas.service_levels import Level, ServiceLevel
from slakit.documents.clauses import ClauseFile, clause_file, document_file
from slakit.documents.lint import covers, lint
from slakit.documents.markdown import to_markdown
from slakit.documents.nodes import Document
from slakit.documents.tree import assemble
from slakit.documents.values import CONTRACT, PROMISES, is_of_contract, schema_has

ROOT = Path(__file__).resolve().parents[2]
SPEC = document_file("sla")
CLAUSES: dict[str, ClauseFile] = {slug: clause_file(slug) for slug in SPEC.clauses()}
TEXTS = {slug: (ROOT / f"templates/clauses/{slug}/text/balanced.en.md.j2").read_text() for slug in CLAUSES}
BASE = yaml.safe_load((ROOT / "templates/clauses/base_case.yaml").read_text())

NOT_PRINTED = {
    "parties.*.role": "each role has its own place in the text",
    "clusters.*.nodes": "how nodes fail is an estimate, not a promise",
    "sites.*.zone": "times are in the one zone of the contract",
    "sites.*.it_capacity_mw": "not sold by this agreement",
    "sites.*.hall_kw_per_rack": "not sold by this agreement",
    "sites.*.restart_hours": "an estimate, not a promise",
    "sites.*.topology": "how the site is built is not promised; what must come of it is",
    "commercial.charges.*.accrual": "has one value, which the text states",
    "commercial.term.starts": "has one value, which the text states",
    "delivery.tranches.*.delay_damages.accrual": "has one value, which the text states",
    "measurement.monitors": "names in logs; the text says whose monitoring system decides, and when",
}
"""Terms of the contract's sections that no clause prints, and why."""

BANDS = {"bands": [{"below": "0.99", "credit_fraction": "0.1"}, {"below": "0.9", "credit_fraction": "0.5"}]}
SHAPES: dict[str, Any] = {
    "linear": {"shape": "linear", "slope": "1.5", "cap": "0.4"},
    "steps": {"shape": "steps", "step": "0.01", "credit_fraction": "0.02"},
    "durations": {
        "shape": "duration_table",
        "rows": [
            {"from_minutes": 0, "credit_hours": "12"},
            {"from_minutes": 9, "unstated": "no row of the printed table covers 9 minutes"},
            {"from_minutes": 10, "credit_hours": "24"},
        ],
        "cap_hours": "672",
    },
    "multiple": {"shape": "multiple_of_price", "multiple": 10, "least": "5"},
    "breaches": {"shape": "per_breach", "credit_fraction": "0.1", "at_risk": "0.3"},
    "hours": {"shape": "hour_waiver", "minutes_in_clock_hour": 6},
    "onset": {"shape": "onset_plus_hourly", "onset": "0.03", "hourly": "0.03", "free_minutes": 15},
    "days": {"shape": "term_extension", "rows": [{"below": "0.99", "days": 1}, {"below": "0.95", "days": 5}]},
    "silent": {"shape": "unstated", "reason": "the schedule was not attached"},
}
"""A credit of every shape but bands."""
DELAY = {
    "grace": {"days": 14},
    "steps": [{"until": {"days": 30}, "fee_fraction": 1}, {"fee_fraction": 2}],
    "cap": {"days": 60},
}
LEVELS = [level for level in get_args(Level) if level not in ("cluster", "rack", "scale_up_domain")]
FULL: dict[str, Any] = {
    **BASE,
    "sites": {"hall-1": {"name": "Hall One", "place": "Small Town, Far County", "spare_rows": 1}},
    "clusters": {
        "cluster-1": {
            "name": "Cluster One",
            "site": "hall-1",
            "hardware": "gb300_nvl72",
            "units": {"gpu": 7200, "node": 1800, "rack": 100, "kw": "11520.5"},
            "spares": {"node": 36},
        },
        "cluster-2": {"units": {"gpu": 800}},
    },
    "parties": {
        "provider": {**BASE["parties"]["provider"], "entity": "a company", "notice_address": "1 First Street"},
        "customer": {**BASE["parties"]["customer"], "entity": "a company", "notice_address": "2 Second Street"},
    },
    "services": {
        "compute": {"name": "Compute Service", "tranches": ["tranche-1", "tranche-2"]},
        "storage": {"name": "Storage Service", "tranches": ["tranche-3"]},
    },
    "service_levels": {
        "racks": {
            "level": "rack",
            "service": "compute",
            "target": "0.99",
            "k": 16,
            "n": 18,
            "degraded": {"busbw": {"baseline": "340", "floor": "0.95"}, "MFU": {"weight": "full"}},
            "requires": ["fabric"],
            "credit": BANDS,
        },
        "domains": {"level": "scale_up_domain", "service": "compute", "target": "0.99", "credit": BANDS},
        "clusters": {
            "level": "cluster",
            "service": "compute",
            "target": "0.99",
            "nodes_needed_share": "0.95",
            "requires": ["fabric", "storage", "control_plane"],
            "down_tests": list(get_args(get_args(ServiceLevel.model_fields["down_tests"].annotation)[0])),
            "measurement": {
                "minimum_outage_minutes": 5,
                "minimum_test": "more_than",
                "minute_rule": "exact_seconds",
                "merge_gap_minutes": 0,
                "month_length": "fixed_30",
            },
            "credit": BANDS,
        },
        **{f"level-{i}": {"level": level, "service": "storage", "target": "0.999", "credit": BANDS}
           for i, level in enumerate(LEVELS)},
        **{name: {"level": "node", "service": "compute", "credit": credit,
                  **({"target": "0.99"} if credit["shape"] in ("linear", "steps") else {})}
           for name, credit in SHAPES.items()},
    },
    "measurement": {
        "backdate_limit_hours": 24,
        "min_window_days": 5,
        "business_calendars": ["US-NY", "GB-ENG"],
        "fault_list": {"xid-79": "down", "xid-94": "degraded", "xid-31": "application", "xid-63": "no_event"},
    },
    "exclusions": {
        **BASE["exclusions"],
        "scheduled": {
            "cap_unit_month_hours": 8,
            "cap_cluster_quarter_hours": 12,
            "windows": "Tuesday, 00:00 to 06:00 at the site",
            "max_concurrent_fraction": "0.05",
            "checkpoint_warning_hours": 24,
        },
        "emergency": {**BASE["exclusions"]["emergency"], "stale_patch_days": 30},
        "force_majeure": {"never": ["price"]},
        "recovery_grace_hours": 4,
        "year_cap_hours": 96,
        "report_days": 10,
    },
    "operations": {
        "replacement": {"target_hours": {"node": 4, "rack": 72}},
        "support": {"severities": {"urgent": {"response_minutes": 15, "update_minutes": 30}}},
        "reports": {},
    },
    "credits": {"caps": {"unit": 1, "month": "0.3", "year": "0.1"}, "form": {"expiry_months": 24}},
    "delivery": {
        "tranches": {
            "tranche-1": {
                "name": "First Half",
                "cluster": "cluster-1",
                "ready_for_service_date": {"close_plus_months": 4},
                "share_of_service": "0.5",
                "delay_damages": DELAY,
                "long_stop": {"after": {"days": 120}},
            },
            "tranche-2": {
                "cluster": "cluster-2",
                "ready_for_service_date": "2027-03-01",
                "share_of_service": "0.5",
                "delay_damages": {**DELAY, "grace": {"months": 1}},
                "long_stop": {"after": {"months": 4}, "exercise": {"months": 0}},
            },
            "tranche-3": {"ready_for_service_date": "2027-04-01"},
        }
    },
    "cancellation": {
        "chronic_failure": {
            "limbs": [
                {"form": "bad_months", "service_level": "clusters", "below": "0.98", "k": 3, "m": 6},
                {"form": "single_outage", "service_level": "racks", "hours": 72},
                {"form": "cumulative_hours", "service_level": "racks", "hours": 72, "window_days": 30},
                {"form": "same_cause", "service_level": "racks", "count": 3, "window_days": 90},
                {"form": "cap_reached", "cap": "year"},
                {"form": "replacement_missed", "count": 3, "window_days": 90},
            ],
            "cure_days": 30,
        },
        "convenience": {"first_exercise": "2028-01-01", "notice": {"days": 90}, "fee": 1000000},
    },
    "commercial": {
        "currency": "USD",
        "charges": {
            "compute": {"price": {"per": "gpu_hour", "amount": "2.5"}, "take_or_pay": "0.8"},
            "storage": {"price": {"per": "lump_month", "amount": "100000"}},
        },
        "term": {"months": 36, "ends_by": {"close_plus_months": 48}},
        "prepayment": {"fraction": "0.2", "credited_from_month": 25},
        "renewal_months": 12,
        "liability_cap_fraction": 1,
        "expert_body": "the president of an engineers' society",
    },
}  # fmt: skip
"""A deal in which every optional term of the contract is given."""
BARE: dict[str, Any] = {
    **BASE,
    "clusters": {},
    "exclusions": {"heads": [], "force_majeure": {"never": [], "events": []}},
    "credits": {"excludes": []},
    "delivery": {"tranches": {"tranche-1": {"ready_for_service_date": "2027-01-01"}}, "extension_heads": []},
    "cancellation": {"sole_remedy": False, "sole_remedy_carve_outs": []},
}
"""A deal in which as little as possible is agreed."""
HALLS: dict[str, Any] = {
    **FULL,
    "clusters": {
        "cluster-1": {"site": "hall-1", "units": {"gpu": 7200, "rack": 100}},
        "cluster-2": {"units": {"gpu": 8}},
    },
    "services": {"halls": {"name": "Hall Service", "tranches": ["tranche-1", "tranche-2", "tranche-3"]}},
    "service_levels": {
        "halls": {"level": "hall", "target": "0.999", "down_tests": ["power_lost", "cooling_lost"], "credit": BANDS}
    },
    "delivery": {"tranches": {
        "tranche-1": {**FULL["delivery"]["tranches"]["tranche-1"]},
        "tranche-2": {**FULL["delivery"]["tranches"]["tranche-2"], "share_of_service": "0.25"},
        "tranche-3": {**FULL["delivery"]["tranches"]["tranche-3"], "share_of_service": "0.25"}}},
    "measurement": {},
    "operations": {"replacement": {"target_hours": {"hall": 72}}},
    "cancellation": {},
    "commercial": {
        **FULL["commercial"],
        "charges": {"halls": {"price": {"per": "lump_month", "amount": "9"}, "take_or_pay": "0.9"}},
    },
}  # fmt: skip
"""A deal of powered halls: no node is counted and the hardware is the customer's."""


def literals(kind: Any) -> tuple[Any, ...]:
    """Return the values of a Literal, optional or not; nothing for any other type."""
    if get_origin(kind) is Literal:
        return get_args(kind)
    if get_origin(kind) in (typing.Union, types.UnionType):
        members = [member for member in get_args(kind) if member is not type(None)]
        return literals(members[0]) if len(members) == 1 else ()
    return ()


def choices(terms: Terms, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Yield the path and the possible values of every term that is a choice of words or a yes or no."""
    for name, field in type(terms).model_fields.items():
        below = (*path, name)
        if not path and name not in CONTRACT and name not in PROMISES:
            continue
        if path and path[0] not in CONTRACT and not is_of_contract(below):
            continue
        options = literals(field.annotation) or ((False, True) if field.annotation is bool else ())
        if len(options) > 1:
            yield path_of(below), options
        yield from _below(getattr(terms, name), below)


def _below(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    if isinstance(value, Terms):
        yield from choices(value, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _below(item, (*path, key))
    elif isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _below(item, (*path, index))


def with_terms(data: dict[str, Any], changes: dict[str, Any]) -> Deal:
    """Return a deal with the terms at some paths changed."""
    import datetime

    amendments = [{"effective_from": "2026-01-01", "set": changes}] if changes else []
    return Deal.model_validate({**data, "amendments": amendments}).at(datetime.date(2026, 1, 2))


KEPT = re.compile(r"parties\.\w+\.role|service_levels\.[\w-]+\.level|commercial\.charges\.\w+\.price\.per")
CHOICES = [pair for pair in choices(Deal.model_validate(FULL)) if not KEPT.fullmatch(pair[0])]
MOST = max(len(options) for _, options in CHOICES)


@pytest.fixture(scope="module")
def drafts() -> dict[str, Document]:
    """Return a draft for every round of choices, in which each choice takes its next value, and for bare deals."""
    found = {
        f"round {i}": assemble(with_terms(FULL, {path: options[i % len(options)] for path, options in CHOICES}))
        for i in range(MOST)
    }
    prices = {"commercial.charges.compute.price.per": "node_month", "cancellation.chronic_failure.cure_days": 0}
    found["per node"] = assemble(with_terms(FULL, prices))
    found["per kW"] = assemble(with_terms(FULL, {"commercial.charges.compute.price.per": "kw_month"}))
    found["empty"] = assemble(Deal(schema_version=1))
    found["bare"] = assemble(Deal.model_validate(BARE))
    no_event = {"exclusions.force_majeure.events": ()}
    found["no event"] = assemble(with_terms(BASE, no_event))
    found["halls"] = assemble(Deal.model_validate(HALLS))
    found["base case"] = assemble(Deal.model_validate(BASE))
    return found


def test_every_value_of_every_choice_has_words_and_no_draft_has_a_fault(drafts: dict[str, Document]):
    assert len(CHOICES) > 40
    for name, document in drafts.items():
        errors = [f"{name}: {f.paragraph} {f.message}" for f in lint(document) if f.severity == "error"]
        assert not errors, "\n".join(errors)


def leaves(kind: Any, path: tuple[str, ...]) -> Iterator[str]:
    """Yield the path of every value that the schema can hold below `path`, with `*` for keys and indexes."""
    origin = get_origin(kind)
    if origin is typing.Annotated:
        yield from leaves(get_args(kind)[0], path)
    elif origin in (typing.Union, types.UnionType):
        for member in get_args(kind):
            if member is not type(None):
                yield from leaves(member, path)
    elif origin is dict:
        yield from leaves(get_args(kind)[1], (*path, "*"))
    elif origin is tuple and not literals(get_args(kind)[0]):
        yield from leaves(get_args(kind)[0], (*path, "*"))
    elif isinstance(kind, type) and issubclass(kind, Terms) and kind.__name__ not in ("Duration", "MonthsAfterClose"):
        for name, field in kind.model_fields.items():
            yield from leaves(field.annotation, (*path, name))
    else:
        yield ".".join(path)


def contract_terms() -> set[str]:
    """Return the paths of all terms of the sections that a contract may print."""
    sections = sorted(CONTRACT | set(PROMISES))
    found = {path for section in sections for path in leaves(Deal.model_fields[section].annotation, (section,))}
    return {path for path in found if is_of_contract(path.split("."))}


def without_indexes(path: str) -> str:
    """Return a path with dots only: `bands[0].below` as `bands.0.below`."""
    return ".".join(str(step) for step in steps_of(path))


def test_every_term_of_the_contract_is_declared_by_a_clause():
    declared = {prefix for clause in CLAUSES.values() for prefix in clause.terms}
    missing = [
        path
        for path in sorted(contract_terms())
        if not any(covers(prefix, path) for prefix in declared) and not any(covers(p, path) for p in NOT_PRINTED)
    ]
    assert missing == []


def test_every_term_of_the_contract_is_read_in_some_draft(drafts: dict[str, Document]):
    read = {
        without_indexes(path) for document in drafts.values() for paths in document.reads.values() for path in paths
    }
    terms = contract_terms()
    assert len(terms) > 120
    unread = {path for path in terms if not any(covers(path, seen) for seen in read)}
    explained = {path for path in terms if any(covers(prefix, path) for prefix in NOT_PRINTED)}
    assert unread - explained == set()
    assert {prefix for prefix in NOT_PRINTED if not any(covers(prefix, path) for path in unread)} == {"parties.*.role"}


def test_no_clause_declares_what_a_contract_may_not_print():
    for slug, clause in CLAUSES.items():
        for prefix in clause.terms:
            steps = tuple(prefix.split("."))
            assert is_of_contract(steps), f"{slug}: {prefix}"
            assert schema_has(Deal, steps), f"{slug}: {prefix}"


def test_each_word_is_defined_by_one_clause():
    owners: dict[str, str] = {}
    for slug, clause in CLAUSES.items():
        for word in clause.defines:
            assert word not in owners, f"{word!r} in {slug} and {owners[word]}"
            owners[word] = slug


def test_clause_one_points_to_every_word_defined_elsewhere(drafts: dict[str, Document]):
    listed = set()
    for document in drafts.values():
        (section,) = (s for s in document.sections if s.id == "definitions")
        table = next(block for node in section.nodes if node.id == "definitions.elsewhere" for block in node.blocks[1:])
        listed |= {word.strip() for row in table.rows for word in row[0][0].text.split(",")}
    elsewhere = {word for slug, clause in CLAUSES.items() if slug != "definitions" for word in clause.defines}
    assert listed == elsewhere


def test_a_reason_is_given_for_every_default_and_it_is_the_default_of_the_schema():
    seen = set()
    for slug, clause in CLAUSES.items():
        for default in clause.defaults:
            assert default.term not in seen, f"{default.term} twice"
            seen.add(default.term)
            assert any(covers(prefix, default.term) for prefix in clause.terms), f"{slug}: {default.term}"
            for text in (default.reason, default.range, default.source):
                assert len(text) > 3, f"{slug}: {default.term}"
            if "*" in default.term or default.value is None:
                continue
            try:
                standard = value_at(Deal(schema_version=1), default.term)
            except KeyError:
                continue
            plain = list(standard) if isinstance(standard, tuple) else standard
            if plain is not None and not isinstance(plain, Terms):
                assert str(plain) == str(default.value), f"{slug}: {default.term}"
    assert len(seen) > 40


def test_texts_have_no_archaic_words_and_no_obligation_hides_in_a_definition():
    archaic = re.compile(
        r"\b(shall|hereby|herein|hereof|thereof|whereas|whatsoever|and/or|best efforts|deemed)\b", re.I
    )
    for slug, text in TEXTS.items():
        words = re.sub(r"\{[{%].*?[%}]\}|\[\.*[a-z-]+\]", "", text, flags=re.DOTALL)
        assert not archaic.search(words), slug
    for meaning in CLAUSES["definitions"].definitions:
        assert not re.search(r"\b(must|may not|is obliged|undertakes)\b", meaning.text), meaning.term


def test_every_list_of_the_text_ends_its_items_alike():
    for slug, text in TEXTS.items():
        for line in text.splitlines():
            if re.match(r" *\[\.", line):
                assert line[-1] not in ".;,", f"{slug}: {line.strip()}"


def test_a_clause_of_something_not_agreed_is_not_printed(drafts: dict[str, Document]):
    printed = {section.id for section in drafts["base case"].clauses()}
    left_out = {
        "domain-availability",
        "cluster-availability",
        "facility-level",
        "delay-damages",
        "long-stop",
        "take-or-pay",
        "prepayment",
        "degraded-performance",
        "replacement-times",
        "support-response",
        "root-cause-reports",
    }
    assert printed == set(CLAUSES) - left_out
    assert {section.id for section in drafts["round 0"].clauses()} == set(CLAUSES)


def test_a_contract_for_halls_speaks_of_no_node(drafts: dict[str, Document]):
    text = to_markdown(drafts["halls"])
    body = text[: text.index("## Annex 1")]
    assert not re.search(r"\b(Node|Slot|Fabric|Spare|Xid|scheduler)s?\b", body)
