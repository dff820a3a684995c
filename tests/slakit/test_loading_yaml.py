"""YAML 1.2 as a deal file may be written, and every trap of it refused with its place."""

from decimal import Decimal

import pytest

from schemas.errors import Problem
from slakit.loading.yaml_document import DEEPEST, MOST_ALIASES, MOST_VALUES

HEAD = "schema_version: 1\n"


def place(problem: Problem) -> tuple[str, int | None, int | None]:
    return problem.path, problem.line, problem.column


def test_words_and_times_of_yaml_1_1_stay_text(load):
    loaded = load(HEAD + "title: no\nabout: 12:30\nparties: {on: {name: yes, role: provider, entity: off}}\n")
    assert (loaded.deal.title, loaded.deal.about) == ("no", "12:30")
    assert (loaded.deal.parties["on"].name, loaded.deal.parties["on"].entity) == ("yes", "off")


def test_numbers_are_those_of_yaml_1_2_and_exact(load):
    text = HEAD + (
        "finance: {close: 2026-01-01, currency: USD, capital_expenditure: 1e5, other_uses: 0.1, horizon_months: 0o17}\n"
        "clusters: {c: {units: {gpu: 0123}}}\n"
    )
    loaded = load(text)
    finance = loaded.deal.finance
    assert finance is not None
    assert finance.capital_expenditure == Decimal(100_000)
    assert finance.other_uses == Decimal("0.1")
    assert isinstance(loaded.data["finance"]["other_uses"], Decimal)
    assert finance.horizon_months == 15
    assert loaded.deal.clusters["c"].units.gpu == 123


def test_a_leading_zero_is_read_as_decimal_and_remarked(load):
    (warning,) = load(HEAD + "clusters: {c: {units: {gpu: 0123}}}\n").warnings
    assert place(warning) == ("clusters.c.units.gpu", 2, 29)
    assert "read as 123" in warning.remedy


def test_a_quoted_number_is_a_number_where_one_is_expected(load):
    text = HEAD + "finance: {close: '2026-01-01', currency: USD, other_uses: '0.10', horizon_months: '12'}\n"
    finance = load(text).deal.finance
    assert finance is not None
    assert finance.other_uses == Decimal("0.10")
    assert finance.horizon_months == 12


@pytest.mark.parametrize("word", ["no", "off", "'false'", "0", "n"])
def test_only_true_and_false_are_booleans(problems, word: str):
    (problem,) = problems(HEAD + f"exclusions: {{open_ended: {word}}}\n")
    assert place(problem) == ("exclusions.open_ended", 2, 26)
    assert problem.expected == "true or false"


@pytest.mark.parametrize("day", ["1767225600", "2026-01-01T00:00:00", "2026-1-1", "1 January 2026", "20260101"])
def test_a_date_is_written_in_one_way_only(problems, day: str):
    (problem,) = problems(HEAD + f"finance: {{close: {day}, currency: USD}}\n")
    assert problem.path == "finance.close"
    assert problem.expected == "a date written yyyy-mm-dd"


def test_a_day_that_no_calendar_has_is_refused(problems):
    (problem,) = problems(HEAD + "finance: {close: 2026-02-30, currency: USD}\n")
    assert problem.expected == "a day of the calendar"


def test_duplicate_keys_are_refused_where_the_second_stands(problems):
    (problem,) = problems(HEAD + "title: a\ntitle: b\n")
    assert place(problem)[1:] == (3, 1)
    assert "'title' a second time (first on line 2)" in problem.found


def test_keys_that_are_not_text_are_refused_all_at_once(problems):
    found = problems(HEAD + "1: x\nnull: y\ntrue: z\n? [a]\n: b\n")
    assert [problem.found for problem in found] == [
        "the key 1",
        "the key null",
        "the key true",
        "a mapping or list",
    ]
    assert [problem.line for problem in found] == [2, 3, 4, 5]


def test_a_value_may_be_named_once_and_used_again(load):
    text = HEAD + "parties:\n  a: &p {name: A, role: lender}\n  b: *p\n"
    loaded = load(text)
    assert loaded.deal.parties["a"] == loaded.deal.parties["b"]


def test_aliases_that_multiply_each_other_are_refused(problems):
    levels = [f"{chr(97 + i)}: &{chr(97 + i)} [{', '.join([f'*{chr(96 + i)}'] * 8)}]" for i in range(1, 7)]
    (problem,) = problems("a: &a [x, x, x, x, x, x, x, x]\n" + "\n".join(levels))
    assert f"{MOST_VALUES:,} values" in problem.found


def test_many_aliases_are_refused(problems):
    (problem,) = problems("a: &a 1\nb: [" + ", ".join(["*a"] * (MOST_ALIASES + 1)) + "]\n")
    assert f"more than {MOST_ALIASES} aliases" in problem.found
    assert problem.path == f"b[{MOST_ALIASES}]"


def test_aliases_to_nothing_and_to_themselves_are_refused(problems):
    assert "the alias *b" in [problem.found for problem in problems("a: *b\n")]
    assert "inside itself" in problems("a: &a\n  b: *a\n")[0].found


def test_merge_keys_are_refused_by_name(problems):
    found = problems(HEAD + "parties:\n  a: &p {name: A, role: lender}\n  b: {<<: *p, role: customer}\n")
    (merge,) = (problem for problem in found if problem.found == "the merge key <<")
    assert place(merge) == ("parties.b", 4, 7)
    assert "no merge" in merge.remedy


def test_tags_are_refused_and_never_run(problems):
    found = problems(HEAD + "title: !!python/object/apply:os.getcwd []\nabout: !secret x\n")
    assert [problem.path for problem in found][:2] == ["title", "about"]
    assert "!!python/object/apply:os.getcwd" in found[0].found


def test_the_tag_for_text_makes_text_of_a_number(load):
    assert load(HEAD + "title: !!str 12\n").deal.title == "12"


def test_a_second_document_is_refused(problems):
    (problem,) = problems(HEAD + "---\ntitle: x\n")
    assert (problem.found, problem.line) == ("a second document", 2)


def test_a_file_that_asks_for_yaml_1_1_is_refused(problems):
    (problem,) = problems("%YAML 1.1\n---\nschema_version: 1\n")
    assert "YAML 1.2" in problem.expected


@pytest.mark.parametrize("nested", ["[" * 100_000, "{a: " * 100_000, "- " * 5_000, "? " * 5_000])
def test_deep_nesting_is_refused_without_exhausting_the_stack(problems, nested: str):
    (problem,) = problems(nested)
    assert f"more than {DEEPEST} levels" in problem.found


def test_aliases_cannot_nest_past_the_limit(problems):
    half = "[" * (DEEPEST - 5)
    (problem,) = problems(f"a: &a {half}{']' * (DEEPEST - 5)}\nb: {'[' * 10}*a{']' * 10}\n")
    assert f"more than {DEEPEST} levels" in problem.found


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", ".NaN"])
def test_numbers_that_are_not_finite_are_refused(problems, number: str):
    (problem,) = problems(HEAD + f"finance: {{close: 2026-01-01, currency: USD, other_uses: {number}}}\n")
    assert (problem.path, problem.found, problem.expected) == ("finance.other_uses", number, "a finite number")


@pytest.mark.parametrize(
    "number", ["9" * 5000, "0x" + "f" * 5000, "1e999999999", "-1e-999999999", "1." + "3" * 100, "1e16", "-1"]
)
def test_absurd_magnitudes_are_refused_and_crash_nothing(problems, number: str):
    for written in (number, f"'{number}'"):
        text = HEAD + f"finance: {{close: 2026-01-01, currency: USD, other_uses: {written}}}\n"
        (problem,) = problems(text)
        assert problem.path == "finance.other_uses"
        assert len(str(problem)) < 400


def test_whole_numbers_of_any_length_crash_nothing(problems):
    for written in ("9" * 5000, f"'{'9' * 5000}'", "1e999999999", "'1e400'", "1.5", "12:30", "1e5000"):
        (problem,) = problems(HEAD + f"finance: {{close: 2026-01-01, currency: USD, horizon_months: {written}}}\n")
        assert problem.path == "finance.horizon_months"


def test_a_tab_as_indentation_is_named(problems):
    (problem,) = problems("schema_version: 1\nparties:\n\ta: 1\n")
    assert (problem.found, problem.line) == ("a tab", 3)
    assert "spaces" in problem.remedy


@pytest.mark.parametrize(
    ("text", "found", "line", "column"),
    [
        ("a: b: c\n", "a second `: `", 1, 5),
        ('a: "x\nb: 1\n', "an open quote", 1, 4),
        ("a: {b: 1\nc: 2\n", "an open {", 2, 2),
        ("a: @x\n", "a character that cannot start a value", 1, 4),
        ("*: 1\n", "a bare * or &", 1, 2),
        ("- 1\na: 2\n", "text where an item should be", 2, 1),
        ("a: 'x' y\n", "text where a key should be", 1, 8),
    ],
)
def test_faults_of_syntax_are_placed_and_explained(problems, text: str, found: str, line: int, column: int):
    (problem,) = problems(text)
    assert problem.found.startswith(found)
    assert (problem.line, problem.column) == (line, column)


@pytest.mark.parametrize("text", ["- 1\n", "x\n", "12\n", "''\n"])
def test_a_deal_is_a_mapping(problems, text: str):
    (problem,) = problems(text)
    assert problem.expected.startswith("a mapping with `schema_version`")


def test_comments_alone_are_no_deal(problems):
    assert "only comments" in problems("# nothing yet\n")[0].found


def test_faults_of_form_and_of_terms_are_listed_together_in_the_order_of_the_file(problems):
    found = problems(HEAD + "titel: x\ntitle: a\ntitle: b\nexclusions: {open_ended: .nan, burden: nobody}\n")
    assert [(problem.line, problem.path) for problem in found] == [
        (2, "titel"),
        (4, "(whole file)"),
        (5, "exclusions.open_ended"),
        (5, "exclusions.burden"),
    ]
