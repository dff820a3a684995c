"""Paths inside a deal, its amended terms, and its hash."""

from datetime import date

import pytest

HEAD = """schema_version: 1
clusters:
  c: {units: {gpu: 8}}
finance: {close: 2026-01-01, currency: USD, other_uses: 5}
"""
SOURCE = "{kind: judgement, as_of: 2026-01-01, rationale: an example}"


@pytest.mark.parametrize("path", ["*", "finance.*", "finance.other_uses", "clusters.c.units.gpu", "credits.caps.unit"])
def test_provenance_may_name_a_value_a_beginning_or_everything(load, path: str):
    assert path in load(HEAD + f"provenance: {{'{path}': {SOURCE}}}\n").deal.provenance


@pytest.mark.parametrize(
    ("path", "nearest"),
    [
        ("finance.other_use", "finance"),
        ("finance.loan", "finance"),
        ("clusters.d.*", "clusters"),
        ("clusters.c.units.gpu.x", "clusters.c.units.gpu"),
        ("nowhere", "*"),
        ("clusters[0]", "clusters"),
    ],
)
def test_provenance_of_nothing_is_an_error_that_names_what_is_near(problems, path: str, nearest: str):
    (problem,) = problems(HEAD + f"provenance:\n  '{path}': {SOURCE}\n")
    assert (problem.line, problem.column) == (6, 3)
    assert f"the nearest that is there is {nearest!r}" in problem.remedy


@pytest.mark.parametrize("path", ["a..b", "a.[", "a[x]", "sites.*.name", "a[99999999999999999999]"])
def test_provenance_that_is_no_path_is_an_error(problems, path: str):
    (problem,) = problems(HEAD + f"provenance:\n  '{path}': {SOURCE}\n")
    assert problem.expected == "keys joined by dots, indexes in brackets"


def test_an_amendment_gives_the_terms_of_its_day(load):
    loaded = load(HEAD + "amendments: [{effective_from: 2027-01-01, set: {finance.other_uses: 7}}]\n")
    amended = loaded.deal.at(date(2027, 1, 1)).finance
    assert amended is not None
    assert amended.other_uses == 7


def test_a_later_amendment_does_not_change_an_earlier_one(load):
    loaded = load(
        HEAD
        + "amendments:\n"
        + "  - {effective_from: 2027-01-01, set: {credits.caps: {month: 0.3}}}\n"
        + "  - {effective_from: 2028-01-01, set: {credits.caps.month: 0.2}}\n"
    )
    assert str(loaded.deal.at(date(2028, 1, 1)).credits.caps.month) == "0.2"
    assert str(loaded.deal.at(date(2027, 1, 1)).credits.caps.month) == "0.3"


def test_amendments_that_lead_nowhere_or_break_the_terms_are_all_listed(problems):
    found = problems(
        HEAD
        + "amendments:\n"
        + "  - effective_from: 2027-01-01\n"
        + "    set: {clusters.c.units.gpu: 0, clusters.c.colour: red}\n"
        + "  - effective_from: 2027-02-01\n"
        + "    set: {credits.caps.month: 0.3}\n"
        + "  - effective_from: 2027-03-01\n"
        + "    set: {credits.caps.month: 1.5}\n"
        + "  - effective_from: 2027-04-01\n"
        + "    set: {'clusters.c.units[3]': 1, nowhere.at.all: 2}\n"
    )
    assert [(problem.line, problem.path) for problem in found] == [
        (7, "amendments[0].set['clusters.c.units.gpu']"),
        (7, "amendments[0].set['clusters.c.colour']"),
        (11, "amendments[2].set['credits.caps.month']"),
        (13, "amendments[3].set['clusters.c.units[3]']"),
        (13, "amendments[3].set['nowhere.at.all']"),
    ]


def test_an_amendment_that_makes_names_lead_nowhere_is_placed(problems):
    (problem,) = problems(HEAD + "amendments: [{effective_from: 2027-01-01, set: {clusters.c.site: hall}}]\n")
    assert problem.path == "amendments[0].set['clusters.c.site']"
    assert "entry of sites" in problem.expected


def test_a_path_into_a_list_that_is_too_short_is_an_error(problems):
    limb = "{form: single_outage, service_level: n, hours: 72}"
    level = "{level: hall, target: 0.99, credit: {bands: [{below: 0.99, credit_fraction: 0.1}]}}"
    (problem,) = problems(
        f"schema_version: 1\nservice_levels: {{n: {level}}}\ncancellation: {{chronic_failure: {{limbs: [{limb}]}}}}\n"
        "amendments: [{effective_from: 2027-01-01, set: {'cancellation.chronic_failure.limbs[1].hours': 48}}]\n"
    )
    assert (problem.path, problem.expected) == ("amendments[0].set", "a path of this deal")


def test_a_path_is_found_where_it_or_its_holder_stands(load):
    positions = load(HEAD).positions
    assert positions.of("clusters.c.units.gpu") == (3, 20)
    assert positions.of("clusters.c.units") == (3, 7)
    assert positions.of("clusters.c.units.node") == (3, 7)
    assert positions.of("credits.caps.month") == (1, 1)


def test_the_hash_follows_the_terms_and_not_their_layout(load):
    same = load(HEAD.replace("other_uses: 5", "other_uses: '5.00'") + "# a comment\n")
    other = load(HEAD.replace("other_uses: 5", "other_uses: 6"))
    assert load(HEAD).sha256 == same.sha256
    assert load(HEAD).sha256 != other.sha256


def test_the_hash_follows_the_order_of_entries_because_results_do(load):
    a, b = "a: {units: {gpu: 1}}", "b: {units: {gpu: 1}}"
    assert (
        load(f"schema_version: 1\nclusters: {{{a}, {b}}}\n").sha256
        != load(f"schema_version: 1\nclusters: {{{b}, {a}}}\n").sha256
    )


# --- names of the data files ------------------------------------------------------------------------------------


def test_an_unknown_hardware_generation_is_an_error_of_the_file(problems):
    (problem,) = problems("schema_version: 1\nclusters:\n  c: {units: {gpu: 8}, hardware: h100_hgxx}\n")
    assert (problem.path, problem.line) == ("clusters.c.hardware", 3)
    assert problem.remedy == "did you mean h100_hgx?"


def test_an_unknown_type_of_component_is_an_error_of_the_file(problems):
    (problem,) = problems(
        "schema_version: 1\nsites:\n  s:\n    name: S\n    place: P\n    topology:\n"
        "      blocks: {a: {component: warp_core}, b: {all_of: [a]}}\n      rows: {count: 1, up_when: b}\n"
    )
    assert (problem.path, problem.line) == ("sites.s.topology.blocks.a.component", 7)
    assert "ups_module" in problem.expected


# --- paths that lead nowhere at all -------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["schema_version", "amendments", "amendments[0].note", "accepted_findings.x.reason"])
def test_an_amendment_of_what_is_no_term_is_refused(problems, path: str):
    (problem,) = problems(HEAD + f"amendments: [{{effective_from: 2027-01-01, set: {{'{path}': 1}}}}]\n")
    assert (problem.path, problem.expected) == ("amendments[0]", "a term")


def test_an_empty_path_is_an_error(problems):
    (amended,) = problems(HEAD + "amendments: [{effective_from: 2027-01-01, set: {'': 1}}]\n")
    assert (amended.path, amended.found) == ("amendments[0].set", "an empty path")
    (sourced,) = problems(HEAD + f"provenance: {{.*: {SOURCE}}}\n")
    assert (sourced.path, sourced.found) == ("provenance['.*']", "an empty path")
