"""Which files are read at all: their size, their encoding, their characters, and that nothing else ever escapes."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schemas.errors import DealError, Problem
from slakit.load import load_deal
from slakit.loading.source import LARGEST_FILE_BYTES

HEAD = b"schema_version: 1\n"


def refused(path: Path | str) -> Problem:
    """Return the one problem of a file."""
    with pytest.raises(DealError, match="found") as caught:
        load_deal(path)
    (problem,) = caught.value.problems
    return problem


def written(folder: Path, content: bytes, name: str = "deal.yaml") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_byte_order_mark_is_accepted(tmp_path: Path):
    assert load_deal(written(tmp_path, b"\xef\xbb\xbf" + HEAD)).deal.schema_version == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_other_encodings_of_unicode_are_named(tmp_path: Path, encoding: str):
    problem = refused(written(tmp_path, (HEAD + b"title: a plain title\n").decode().encode(encoding)))
    assert problem.found.startswith("UTF-")
    assert "UTF-8" in problem.remedy


def test_latin_1_is_refused_at_its_first_byte(tmp_path: Path):
    problem = refused(written(tmp_path, HEAD + "title: Zürich\n".encode("latin-1")))
    assert (problem.line, problem.column) == (2, 9)
    assert "0xFC" in problem.found


def test_a_byte_order_mark_does_not_shift_the_place_of_a_wrong_byte(tmp_path: Path):
    problem = refused(written(tmp_path, b"\xef\xbb\xbf" + HEAD + b"title: Z\xfcrich\n"))
    assert (problem.line, problem.column) == (2, 9)


@pytest.mark.parametrize("content", [b"title: a\0b\n", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"])
def test_bytes_that_are_no_text_are_refused(tmp_path: Path, content: bytes):
    assert refused(written(tmp_path, content)).found == "a NUL byte"


def test_control_characters_are_all_placed(tmp_path: Path):
    with pytest.raises(DealError, match=r"U\+0007") as caught:
        load_deal(written(tmp_path, HEAD + b"title: a\x07b\nabout: \x1b[31m\n"))
    assert [(p.line, p.column) for p in caught.value.problems] == [(2, 9), (3, 8)]


def test_encoded_surrogates_are_refused(tmp_path: Path):
    assert "not UTF-8" in refused(written(tmp_path, HEAD + b"title: \xed\xa0\x80\n")).found


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_no_deal(tmp_path: Path, content: bytes):
    problem = refused(written(tmp_path, content))
    assert problem.found == "an empty file"
    assert "slakit new" in problem.remedy


def test_a_file_of_fifty_megabytes_is_refused_without_being_read(tmp_path: Path, monkeypatch):
    path = tmp_path / "log.yaml"
    with path.open("wb") as file:
        file.truncate(50_000_000)
    monkeypatch.setattr(Path, "open", lambda *_, **__: pytest.fail("the file was opened"))
    assert refused(path).found == "50,000,000 bytes"


def test_a_stream_without_an_end_is_read_no_further_than_the_limit():
    assert f"{LARGEST_FILE_BYTES:,}" in refused("/dev/zero").expected


def test_a_folder_a_missing_file_and_impossible_names_are_told_apart(tmp_path: Path):
    assert refused(tmp_path).found == "a folder"
    assert refused(tmp_path / "none.yaml").found == "no file"
    assert refused(tmp_path / ("x" * 300)).found.startswith("a file that the system cannot read")
    assert refused("a\0b").found == "a name with a NUL byte"


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch):
    def denied(*_, **__):
        raise PermissionError(13, "Permission denied")

    path = written(tmp_path, HEAD)
    monkeypatch.setattr(Path, "open", denied)
    assert refused(path).found == "a file that may not be read"


def test_each_problem_names_its_file_line_column_and_path(tmp_path: Path):
    path = written(tmp_path, HEAD + b"finance: {close: soon, currency: USD}\n")
    assert str(refused(path)) == (
        f"{path}:2:18 finance.close: found the text 'soon'; expected a date written yyyy-mm-dd; "
        "write one such as 2026-11-30"
    )


def only_deal_errors(path: Path) -> None:
    """Load whatever lies at `path`; anything but a DealError that says all four parts is a failure."""
    problems: tuple[Problem, ...] = ()
    try:
        load_deal(path)
    except DealError as error:
        problems = error.problems or (Problem("", "", "", ""),)
    assert all(p.path and p.found and p.expected and p.remedy for p in problems)


@settings(max_examples=300, deadline=None)
@given(content=st.binary(max_size=300), suffix=st.sampled_from([".yaml", ".json"]))
def test_no_bytes_raise_anything_but_problems(tmp_path_factory: pytest.TempPathFactory, content: bytes, suffix: str):
    only_deal_errors(written(tmp_path_factory.mktemp("any"), content, f"deal{suffix}"))


SCRAPS = st.lists(
    st.sampled_from(
        [
            *(
                "schema_version: 1\n",
                "finance:",
                "  close: 2026-01-01\n",
                "sites",
                "topology",
                "blocks",
                "ups",
                ": ",
                "\n",
            ),
            *(
                "{",
                "}",
                "[",
                "]",
                ",",
                "- ",
                "&a ",
                "*a",
                "!!int ",
                "'",
                '"',
                "#",
                "|\n",
                "? ",
                "<<",
                "%YAML 1.1\n",
                "---",
            ),
            *(
                "1e400",
                "0123",
                ".nan",
                "no",
                "null",
                "12:30",
                "\t",
                "amendments",
                "provenance",
                "set",
                "a.b[9]",
                "é",
                "\u2028",
            ),
        ]
    ),
    max_size=40,
)


@settings(max_examples=300, deadline=None)
@given(scraps=SCRAPS, suffix=st.sampled_from([".yaml", ".json"]))
def test_no_scraps_of_a_deal_raise_anything_but_problems(
    tmp_path_factory: pytest.TempPathFactory, scraps: list[str], suffix: str
):
    only_deal_errors(written(tmp_path_factory.mktemp("scraps"), "".join(scraps).encode(), f"deal{suffix}"))
