"""JSON as a deal file: exact numbers, places of values, and its own traps."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from slakit.load import LoadedDeal, load_deal

FINANCE = '{"schema_version": 1, "finance": {"close": "2026-01-01", "currency": "USD", %s}}'


@pytest.fixture
def load(tmp_path: Path):
    """Return a function that loads JSON text as a file."""

    def of(text: str) -> LoadedDeal:
        path = tmp_path / "deal.json"
        path.write_text(text, encoding="utf-8")
        return load_deal(path)

    return of


def test_decimals_are_exact_and_places_known(load):
    loaded = load(FINANCE % '\n "other_uses": 0.1')
    assert loaded.data["finance"]["other_uses"] == Decimal("0.1")
    assert loaded.positions.of("finance.other_uses") == (2, 16)


def test_json_and_yaml_of_one_deal_have_one_hash(load, tmp_path: Path):
    path = tmp_path / "deal.yaml"
    path.write_text("# comment\nschema_version: 1\nfinance: {close: 2026-01-01, currency: USD, other_uses: 0.10}\n")
    in_yaml, in_json = load_deal(path), load(FINANCE % '"other_uses": 0.1')
    assert in_yaml.sha256 == in_json.sha256
    assert in_yaml.file_sha256 != in_json.file_sha256


def test_escapes_and_pairs_are_read_as_characters(load):
    assert load('{"schema_version": 1, "title": "\\ud83d\\ude00 \\/ \\u00e9"}').deal.title == "😀 / é"


def test_python_reads_the_same_values(load):
    text = (
        '{"schema_version": 1, "title": "a \\"b\\"", "clusters": {"c": {"units": {"gpu": 8}}},\r\n\t"amendments": []}'
    )
    assert load(text).data == json.loads(text)


def test_duplicate_keys_not_a_number_and_half_characters_are_listed_together(problems):
    found = problems('{"schema_version": 1, "title": "x",\n "title": "y",\n "about": "\\ud800",\n "finance": NaN}')
    assert [(p.line, p.path, p.found) for p in found] == [
        (2, "(whole file)", "the key 'title' a second time (first on line 1)"),
        (3, "about", "half of a surrogate pair"),
        (4, "finance", "NaN"),
    ]


@pytest.mark.parametrize(
    ("text", "found", "column"),
    [
        ('{"a": 1,}', "a comma before the end", 8),
        ('{"a": 1} x', "more text after the end", 10),
        ('{"a" 1}', "'1'", 6),
        ('{"a": 01}', "'01'", 7),
        ('{"a": +1}', "'+1'", 7),
        ('{"a": .5}', "'.5'", 7),
        ("{'a': 1}", '"\'"', 2),
        ('{"a": True}', "'True'", 7),
        ('{"a": "x\ny"}', "a text with an invalid control character", 9),
        ('{"a": "x', "a text with an unterminated string", 7),
        ("{", "the end of the file", 2),
        ('{"a": [1,', "the end of the file", 10),
        ('{"a": 1 // why\n}', "'/'", 9),
    ],
)
def test_faults_of_syntax_are_placed(problems, text: str, found: str, column: int):
    (problem,) = problems(text)
    assert (problem.found, problem.line, problem.column) == (found, 1, column)


def test_deep_nesting_and_long_numbers_are_refused(problems):
    assert "more than 40 levels" in problems("[" * 100_000)[0].found
    assert "more than 40 levels" in problems('{"a":' * 100_000)[0].found
    assert "5000 characters" in problems(FINANCE % f'"other_uses": {"9" * 5000}')[0].found
    assert problems(FINANCE % '"other_uses": 1e999999999')[0].path == "finance.other_uses"


def test_a_deal_is_a_mapping(problems):
    assert problems("[1]")[0].found == "a list"
