"""Files of the contract set: written whole or not at all, in every format from one tree."""

import hashlib
import re
from pathlib import Path

import pytest

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.documents import draft as drafting
from slakit.documents.draft import draft
from slakit.documents.html import css_string, to_html
from slakit.documents.markdown import to_markdown
from slakit.documents.tree import assemble

TEXT = {"one": '[a] At most {{ term("credits.caps.month") | percent }} & no more.\n  [.x] item\n'}
OPTIONS = {"terms": {"one": ["credits.caps"]}}


class Loaded:
    """What a loader of deal files gives back."""

    def __init__(self, deal: Deal) -> None:
        self.deal = deal


def test_each_format_is_written_with_its_digest(templates, deal, tmp_path):
    files = draft(Loaded(deal), tmp_path / "new" / "out", ("pdf", "html", "md"), root=templates(TEXT, **OPTIONS))
    assert [(file.path.name, file.kind) for file in files] == [
        ("sla.pdf", "pdf"),
        ("sla.html", "html"),
        ("sla.md", "md"),
    ]
    for file in files:
        assert hashlib.sha256(file.path.read_bytes()).hexdigest() == file.sha256
        assert (file.pages is not None) == (file.kind == "pdf")
    assert files[0].path.read_bytes().startswith(b"%PDF-1.7")


def test_nothing_is_written_when_one_format_cannot_be_made(templates, data, tmp_path):
    data["parties"]["seller"]["name"] = "株式会社"
    root = templates(TEXT, **OPTIONS)
    with pytest.raises(DealError, match="signs that IBM Plex can print"):
        draft(Deal.model_validate(data), tmp_path / "out", ("md", "pdf"), root=root)
    assert not (tmp_path / "out").exists()
    (file,) = draft(Deal.model_validate(data), tmp_path / "out", ("md",), root=root)
    assert "株式会社" in file.path.read_text()


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(templates, deal, tmp_path, monkeypatch):
    root = templates(TEXT, **OPTIONS)
    (tmp_path / "sla.md").write_text("old")

    def full(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(drafting.Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        draft(deal, tmp_path, ("md",), root=root)
    assert (tmp_path / "sla.md").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"sla.md", "templates"}


def test_a_text_with_a_fault_is_not_written(templates, deal, tmp_path):
    root = templates({"one": '[a] As {{ ref("nowhere") }} says, a Wrong Term.\n'})
    with pytest.raises(DealError, match=r"one\.a: found refers to 'nowhere'") as caught:
        draft(deal, tmp_path / "out", ("md",), root=root)
    assert len(caught.value.problems) == 2
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_refused(deal, tmp_path):
    with pytest.raises(DealError, match="formats: found odt; expected any of pdf, html, md"):
        draft(deal, tmp_path, ("pdf", "odt"))


def test_markdown_carries_the_numbers_of_the_pdf(templates, deal):
    text = to_markdown(assemble(deal, root=templates(TEXT, **OPTIONS)))
    assert "\n### 1 One\n\n1.1 At most 30% & no more.\n\n- (a) item\n" in text


def test_html_escapes_text_and_carries_its_fonts(templates, deal):
    root = templates(TEXT, **OPTIONS)
    html = to_html(assemble(deal, root=root), root=root)
    assert "At most 30% &amp; no more." in html
    assert "data:font/ttf;base64," in html
    assert "slakit:fonts" not in html
    assert not re.search(r"(?:href|src)=\"(?!#)", html)


def test_running_matter_cannot_end_its_string():
    assert css_string('a"b\\c\n') == '"a\\22 b\\5c c\\a "'
