"""All rules together: order, readers, accepted findings, amended terms, sources, and what a deal is too short for."""

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from schemas.deal import Deal
from slakit.checks.finding import AUDIENCES, SEVERITIES, Audience, Concern, Finding, Severity, everybody
from slakit.checks.lint import lint, rule_modules
from slakit.checks.sourcing import numbers_without_source, source_of
from slakit.checks.standards import standards
from slakit.cli.check import answer
from slakit.paths import templates_dir

LEVEL = {"level": "hall", "target": "0.999", "credit": {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}}
JUDGEMENT = {"kind": "judgement", "as_of": "2026-11-30", "rationale": "an example"}


def deal(**sections: Any) -> Deal:
    return Deal.model_validate({"schema_version": 1, "service_levels": {"halls": LEVEL}, **sections})


def test_counsel_sees_the_highest_of_the_four():
    concern = Concern(provider="note", customer=None, lender="warning", insurer="note")
    assert [concern.of(reader) for reader in AUDIENCES] == ["warning", "warning", "note", "note", None]
    assert Concern(None, None, None, None).of("lawyer") is None
    assert everybody("error").of("customer") == "error"


def test_findings_stand_in_order_of_severity():
    found = lint(deal())
    assert [SEVERITIES.index(finding.severity) for finding in found] == sorted(
        SEVERITIES.index(finding.severity) for finding in found
    )
    assert {finding.severity for finding in found} == set(SEVERITIES)


@pytest.mark.parametrize(
    ("severities", "reader", "said"),
    [
        ((), "insurer", "The deal is valid, and an insurer finds nothing to remark."),
        (("note",), "lender", "The deal is valid: 1 note for the lender."),
        (("warning", "warning"), "provider", "The deal is valid: 2 findings for the provider cost money."),
        (("error",), "lawyer", "The deal is valid and not ready to sign: 1 finding for the lawyer blocks signing."),
        (
            ("error", "warning", "note", "note"),
            "lawyer",
            "The deal is valid and not ready to sign: of 4 findings for the lawyer, 1 blocks signing, 1 costs money "
            "and 2 are notes.",
        ),
    ],
)
def test_the_findings_are_counted_in_one_sentence(severities: tuple[Severity, ...], reader: Audience, said: str):
    assert answer(tuple(Finding("x", severity, None, "", "", None) for severity in severities), reader) == said


def test_every_rule_has_an_id_of_its_own_and_says_what_it_finds():
    modules = rule_modules()
    assert len(modules) >= 17
    assert len({module.ID for module in modules}) == len(modules)
    for module in modules:
        assert re.fullmatch(r"(trap-\d\d-)?[a-z-]+", module.ID)
        assert inspect.getdoc(module)
        assert inspect.getdoc(module.find)


def test_the_first_ten_traps_are_all_there():
    numbers = {module.ID[5:7] for module in rule_modules() if module.ID.startswith("trap-")}
    assert numbers >= {f"{number:02d}" for number in range(1, 11)}


def test_every_paragraph_named_is_one_that_the_contract_prints():
    slugs = {path.parent.name for path in (templates_dir() / "clauses").glob("*/clause.yaml")}
    printed = {
        f"{slug}.{paragraph['id']}"
        for slug in slugs
        for paragraph in yaml.safe_load((templates_dir() / "clauses" / slug / "clause.yaml").read_text())["paragraphs"]
    }
    named = {
        node.value
        for module in rule_modules()
        for node in ast.walk(ast.parse(Path(str(module.__file__)).read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.split(".")[0] in slugs
    }
    assert len(named) > 15
    assert {name for name in named if not name.endswith(".")} <= printed  # one name is put together where it is used


def test_every_yardstick_says_why():
    for name in type(standards()).model_fields:
        yardstick = getattr(standards(), name)
        assert yardstick.source or yardstick.rationale


def test_an_accepted_finding_is_a_note_to_counsel_and_to_nobody_else():
    accepted = {"trap-13-credit-caps": {"reason": "The parent answers for it.", "as_of": "2026-11-30"}}
    plain, with_reason = deal(), deal(accepted_findings=accepted)

    def seen(terms: Deal, reader: str) -> str:
        (finding,) = (f for f in lint(terms, reader) if f.id == "trap-13-credit-caps")  # type: ignore[arg-type]
        return finding.severity

    assert (seen(plain, "lawyer"), seen(with_reason, "lawyer")) == ("error", "note")
    assert seen(with_reason, "lender") == "error"
    (finding,) = (f for f in lint(with_reason) if f.id == "trap-13-credit-caps")
    assert finding.message.endswith("Accepted on 2026-11-30: The parent answers for it.")


def test_accepting_a_finding_that_does_not_exist_is_a_warning():
    found = lint(deal(accepted_findings={"trap-99": {"reason": "x", "as_of": "2026-11-30"}}))
    (finding,) = (f for f in found if f.id == "accepted-finding-unknown")
    assert (finding.severity, finding.path) == ("warning", "accepted_findings.trap-99")


def test_terms_are_read_again_as_amended():
    capped = {"credits": {"caps": {"month": "0.3", "year": "0.1"}}}
    amended = [{"effective_from": "2027-07-01", "set": {"credits.caps.month": None, "credits.caps.year": None}}]
    assert not [f for f in lint(deal(**capped)) if f.id == "trap-13-credit-caps"]
    (finding,) = (f for f in lint(deal(**capped, amendments=amended)) if f.id == "trap-13-credit-caps")
    assert finding.message.startswith("From 2027-07-01: Credits have no cap")


def test_what_an_amendment_leaves_as_it_was_is_not_repeated():
    amended = [{"effective_from": "2027-07-01", "set": {"title": "Later"}}]
    assert [f.id for f in lint(deal(amendments=amended))] == [f.id for f in lint(deal())]


@pytest.mark.parametrize(
    ("provenance", "missing"),
    [
        ({}, ["service_levels.halls.target", "service_levels.halls.credit.bands[0].below"]),
        ({"service_levels.halls.target": JUDGEMENT}, ["service_levels.halls.credit.bands[0].below"]),
        ({"service_levels.halls.credit.*": JUDGEMENT}, ["service_levels.halls.target"]),
        ({"service_levels.halls": JUDGEMENT}, []),
        ({"*": JUDGEMENT}, []),
    ],
)
def test_numbers_without_a_source_are_counted_once(provenance: dict[str, Any], missing: list[str]):
    level = {**LEVEL, "credit": {"bands": [{"below": "0.999", "credit_fraction": "0.1"}]}}
    terms = deal(service_levels={"halls": level}, provenance=provenance)
    paths = [path for path in numbers_without_source(terms) if not path.endswith("credit_fraction")]
    assert paths == missing
    found = [finding for finding in lint(terms) if finding.id == "source-missing"]
    assert len(found) == bool(list(numbers_without_source(terms)))


def test_a_number_that_carries_its_source_needs_no_other():
    rent = {"value": "2", "unit": "h", **JUDGEMENT}
    site = {"name": "Hall", "place": "Town", "restart_hours": rent, "spare_rows": 1}
    assert list(numbers_without_source(deal(service_levels={}, sites={"hall": site}))) == ["sites.hall.spare_rows"]


def test_numbers_of_an_amendment_need_a_source_too():
    amended = [
        {"effective_from": "2027-07-01", "set": {"service_levels.halls.target": "0.999", "credits.caps": {"month": 1}}}
    ]
    provenance = {"service_levels.*": JUDGEMENT}
    terms = deal(amendments=amended, provenance=provenance)
    assert list(numbers_without_source(terms)) == ["amendments[0].set: credits.caps.month"]
    assert (
        list(numbers_without_source(deal(amendments=amended, provenance={**provenance, "amendments.*": JUDGEMENT})))
        == []
    )


def test_the_longest_path_names_the_source():
    near = {**JUDGEMENT, "rationale": "near"}
    terms = deal(provenance={"*": JUDGEMENT, "service_levels.*": JUDGEMENT, "service_levels.halls.target": near})
    source = source_of(terms, "service_levels.halls.target")
    assert source is not None
    assert source.rationale == "near"
    assert source_of(deal(), "service_levels.halls.target") is None


def test_what_a_deal_is_too_short_for_is_said_by_command():
    found = [finding.message for finding in lint(Deal(schema_version=1)) if finding.id == "section-missing"]
    assert [message.split("`")[1] for message in found] == ["slakit draft", "slakit score", "slakit site"]
    assert "it needs services, delivery, commercial terms, finance" in found[1]


def test_gpus_that_the_nodes_cannot_hold_are_named():
    data = {"schema_version": 1, "clusters": {"c": {"hardware": "h100_hgx", "units": {"gpu": 1000, "node": 128}}}}
    found = {finding.id: finding for finding in lint(Deal.model_validate(data))}["units-of-hardware"]
    assert found.path == "clusters.c.units.gpu"
    assert "128 nodes of h100_hgx hold 1,024 GPUs, 8 each; the deal says 1,000" in found.message
    data["clusters"]["c"]["units"]["gpu"] = 1024
    assert "units-of-hardware" not in {finding.id for finding in lint(Deal.model_validate(data))}
