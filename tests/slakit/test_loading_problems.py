"""What validation found, as problems: at the right place, in plain words, one for each mistake."""

import pytest

HEAD = "schema_version: 1\n"
BLOCKS = """schema_version: 1
sites:
  hall:
    name: Hall
    place: Town
    topology:
      blocks:
        ups: {component: ups_module}
        it: %s
      rows: {count: 1, up_when: it}
"""


def test_all_problems_are_listed_at_once_in_the_order_of_the_file(problems):
    found = problems(
        HEAD
        + "finance: {close: soon, currency: usd}\n"
        + "service_levels:\n  nodes: {level: nod, target: 99.5, credit: {bands: []}}\n"
        + "titel: x\n"
    )
    assert [problem.path for problem in found] == [
        "finance.close",
        "finance.currency",
        "service_levels.nodes.level",
        "service_levels.nodes.target",
        "service_levels.nodes.credit.bands",
        "titel",
    ]


def test_a_missing_version_says_what_to_add(problems):
    (problem,) = problems("title: x\n")
    assert (problem.path, problem.remedy) == ("schema_version", "add `schema_version: 1`")


def test_an_unknown_key_suggests_the_nearest_known_one(problems):
    (problem,) = problems(HEAD + "finance:\n  close: 2026-01-01\n  currency: USD\n  horizon_month: 12\n")
    assert (problem.line, problem.column) == (5, 3)
    assert "horizon_months" in problem.remedy
    assert "capital_expenditure" in problem.expected


def test_a_key_like_no_other_is_not_given_a_suggestion(problems):
    (problem,) = problems(HEAD + "zzz: 1\n")
    assert problem.remedy == "correct the key or delete it"


def test_a_misspelt_required_key_is_one_problem_and_not_two(problems):
    (problem,) = problems(HEAD + "finance: {closs: 2026-01-01, currency: USD}\n")
    assert problem.remedy == "did you mean `close`?"


def test_a_missing_key_is_told_at_its_holder_with_what_it_is(problems):
    (problem,) = problems(HEAD + "finance:\n  close: 2026-01-01\n")
    assert (problem.path, problem.line, problem.column) == ("finance.currency", 2, 1)
    assert problem.found == "nothing"
    (problem,) = problems(HEAD + "finance: {currency: USD}\n")
    assert problem.expected == "`close` (financial close)"


def test_percent_where_a_fraction_is_meant_says_how_to_write_it(problems):
    (problem,) = problems(HEAD + "credits: {caps: {month: 30}}\n")
    assert problem.expected == "at most 1"
    assert "fraction of 1" in problem.remedy


def test_one_value_where_a_mapping_is_meant_says_how_the_mapping_is_written(problems):
    (hours, share, term, notice) = problems(
        """\
        schema_version: 1
        sites: {a: {name: A, place: B, restart_hours: 4}}
        credits: {caps: {month: 30%}}
        commercial: {currency: USD, charges: {}, term: 36 months}
        cancellation: {convenience: {first_exercise: 2027-01-01, notice: 90 days}}
        """
    )
    assert hours.remedy.startswith("write {value: ..., unit: ...")
    assert share.remedy == "write the fraction of 1: 0.3"
    assert term.remedy == "write {months: ...}"
    assert notice.remedy == "write {months: ...} or {days: ...}"


def test_a_word_outside_a_closed_list_suggests_the_nearest(problems):
    (problem,) = problems(HEAD + "credits: {between_levels: highest}\n")
    assert problem.expected == "one of highest_level, cumulative, parent_absorbs_children, choose_one"
    assert problem.remedy == "did you mean highest_level?"


def test_a_version_in_quotes_says_to_drop_them(problems):
    (problem,) = problems("schema_version: '1'\n")
    assert problem.remedy == "write 1 without quotes"


def test_an_empty_section_says_to_fill_or_delete_it(problems):
    (problem,) = problems(HEAD + "parties:\n")
    assert (problem.found, problem.remedy) == ("nothing", "write it, or delete the key")


@pytest.mark.parametrize(
    ("block", "path", "said"),
    [
        ("{component: ups_module, count: 0}", "it.count", "expected at least 1"),
        ("{componnent: ups_module, cuont: 2}", "it.componnent", "did you mean `component`?"),
        ("{any_of: []}", "it.any_of", "expected at least 1 entry"),
        ("{at_leest: 1, of: [ups]}", "it.at_leest", "did you mean `at_least`?"),
        ("{at_least: 2, of: [ups]}", "it.at_least", "at_least 2 of 1"),
        ("{all_of: ups}", "it.all_of", "expected a list"),
        ("some text", "it", "expected a mapping of keys to values"),
        ("{colour: red}", "it", "a mapping with `component`, or with `all_of`, or with `any_of`, or with `at_least`"),
        ("{any_of: [ups], all_of: [ups]}", "it", "found a mapping with any_of, all_of"),
    ],
)
def test_one_mistake_in_a_block_gives_one_clear_problem(problems, block: str, path: str, said: str):
    found = problems(BLOCKS % block)
    assert said in str(found[0])
    assert found[0].path.startswith(f"sites.hall.topology.blocks.{path}")
    assert found[0].line == 9
    assert len(found) <= 2
    assert len({problem.found for problem in found}) == len(found)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ("soon", "expected a date written yyyy-mm-dd"),
        ("{close_plus_month: 3}", "did you mean `close_plus_months`?"),
        ("{close_plus_months: -1}", "expected at least 0"),
    ],
)
def test_a_date_that_may_be_two_things_is_judged_by_what_it_looks_like(problems, point: str, said: str):
    (problem,) = problems(HEAD + f"delivery: {{tranches: {{t: {{ready_for_service_date: {point}}}}}}}\n")
    assert said in str(problem)


def test_a_duration_of_two_units_or_none_is_one_problem(problems):
    for length in ("{months: 1, days: 2}", "{}"):
        tranche = f"{{ready_for_service_date: 2026-01-01, long_stop: {{after: {length}}}}}"
        (problem,) = problems(HEAD + f"delivery: {{tranches: {{t: {tranche}}}}}\n")
        assert problem.path == "delivery.tranches.t.long_stop.after"
        assert problem.remedy == "write {months: n} or {days: n}"


def test_a_limb_without_a_form_says_which_forms_there_are(problems):
    found = problems(HEAD + "cancellation: {chronic_failure: {limbs: [{form: bad_month}, {k: 1}]}}\n")
    assert found[0].path == "cancellation.chronic_failure.limbs[0].form"
    assert found[0].remedy == "did you mean bad_months?"
    assert found[1].remedy == "add `form`"


def test_terms_that_contradict_each_other_are_placed_at_the_value_named(problems):
    bands = "[{below: 0.99, credit_fraction: 0.1},\n {below: 0.995, credit_fraction: 0.2}]"
    (problem,) = problems(HEAD + f"service_levels: {{n: {{level: node, target: 0.99, credit: {{bands: {bands}}}}}}}\n")
    assert problem.path == "service_levels.n.credit.bands[1].below"
    assert (problem.line, problem.column) == (3, 10)


def test_a_shape_of_credit_that_does_not_exist_lists_those_that_do(problems):
    level = "{level: node, target: 0.99, credit: {shape: linar, slope: 2}}"
    (problem,) = problems(HEAD + f"service_levels: {{n: {level}}}\n")
    assert problem.path == "service_levels.n.credit.shape"
    assert problem.remedy == "did you mean linear?"


def test_a_field_that_a_shape_of_credit_lacks_is_named(problems):
    level = "{level: node, target: 0.99, credit: {shape: linear}}"
    (problem,) = problems(HEAD + f"service_levels: {{n: {level}}}\n")
    assert problem.path == "service_levels.n.credit.slope"


def test_names_that_lead_nowhere_are_all_listed_where_they_stand(problems):
    found = problems(
        HEAD
        + "clusters: {c: {site: hall, units: {gpu: 8}}}\n"
        + "delivery: {tranches: {t: {ready_for_service_date: 2026-01-01, cluster: d}}}\n"
        + "services: {s: {tranches: [t, u]}}\n"
        + "commercial: {currency: USD, charges: {z: {price: {per: lump_month, amount: 1}}}, term: {months: 12}}\n"
        + "finance: {close: 2026-01-01, currency: EUR}\n"
    )
    assert [(problem.line, problem.path) for problem in found] == [
        (2, "clusters.c.site"),
        (3, "delivery.tranches.t.cluster"),
        (4, "services.s.tranches[1]"),
        (5, "commercial.charges.z"),
        (6, "finance.currency"),
    ]


def test_blocks_that_lead_nowhere_are_all_listed(problems):
    found = problems((BLOCKS % "{any_of: [ups, a, b]}").replace("up_when: it", "up_when: c"))
    assert [problem.found for problem in found] == [
        "block 'a' in blocks.it",
        "block 'b' in blocks.it",
        "rows.up_when 'c'",
    ]


def test_shares_of_tranches_and_tranches_in_two_services_are_listed_together(problems):
    found = problems(
        HEAD
        + "delivery: {tranches: {t: {ready_for_service_date: 2026-01-01, share_of_service: 0.4}}}\n"
        + "services: {a: {tranches: [t]}, b: {tranches: [t]}}\n"
    )
    assert [problem.path for problem in found] == ["services.a", "services.b", "services.b.tranches[0]"]


def test_a_key_that_is_no_identifier_is_placed_at_the_key(problems):
    (problem,) = problems(HEAD + "parties:\n  Big Co: {name: B, role: lender}\n")
    assert (problem.line, problem.column) == (3, 3)
    assert "lower-case letters" in problem.expected


def test_a_long_text_is_shown_short(problems):
    (problem,) = problems(HEAD + f"credits: {{base: {'x' * 100_000}}}\n")
    assert len(str(problem)) < 400


def test_a_long_key_is_shown_short(problems):
    (problem,) = problems(HEAD + f"? {'x' * 100_000}\n: 1\n")
    assert len(str(problem)) < 1_000


def test_past_a_thousand_problems_only_their_number_is_told(problems):
    found = problems(HEAD + "".join(f"key{i}: 1\n" for i in range(1_500)))
    assert len(found) == 1_001
    assert found[-1].found == "500 more problems"
    assert "did you mean" not in found[999].remedy
