"""Documents made again from what they carry: the same where nothing was changed, each difference named where it was."""

import json
import math
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pikepdf
import pytest
from openpyxl import Workbook, load_workbook
from typer.testing import CliRunner

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.cli.main import app
from slakit.documents.draft import draft
from slakit.documents.pdf import print_pdf
from slakit.json_text import json_text
from slakit.load import LoadedDeal, load_deal
from slakit.manifest import manifest_sha256
from slakit.paths import templates_dir
from slakit.reports.credit_memo import print_memo
from slakit.reports.lender_document import score_document, with_inputs
from slakit.reports.workbook import workbook
from slakit.reports.workbook_manifest import manifest_of_workbook
from slakit.scoring import full_score, score_deal
from slakit.verify import agreement
from slakit.verify.found import Verified
from slakit.verify.kinds import KINDS, of_score
from slakit.verify.verification import verify

SMALL = templates_dir() / "starters" / "small-cluster.yaml"
DRAWS, SEED = 64, 7


def leaflet(deal: Deal, score: Mapping[str, Any], manifest: Mapping[str, Any] | None = None) -> bytes:
    """Return a document of two pages that shows two figures of a score; it is laid out in no time."""
    default = f"Default over the term: {score['default']['pd_term']:.4f}"
    drawn = '<svg width="40" height="40" role="img" aria-label="A line"><path d="M1 1L30 17" stroke="black"/></svg>'
    page = (
        '<!DOCTYPE html><html lang="en"><head><title>Leaflet</title><style>'
        '@font-face{font-family:"Plex";src:url("slakit:fonts/IBMPlexSans-Regular.ttf")}body{font-family:"Plex"}'
        "h1{break-before:page}</style></head>"
        f"<body><p>{deal.title}</p><p>{default}</p>{drawn}<h1>Loss</h1>"
        f"<p>Expected: {score['default']['expected_loss_bp']:.1f} bp</p></body></html>"
    )
    return with_inputs("leaflet", print_pdf(page), deal, score, manifest).content


def made_once(make: Callable[..., bytes]) -> Callable[..., bytes]:
    """Return a maker of documents that remembers the first, where a test checks two copies of it."""
    made: list[bytes] = []

    def remembering(*arguments: Any) -> bytes:
        made[:] = made or [make(*arguments)]
        return made[0]

    return remembering


@pytest.fixture(scope="module")
def loaded() -> LoadedDeal:
    return load_deal(SMALL)


@pytest.fixture(scope="module")
def score(loaded: LoadedDeal) -> dict[str, Any]:
    return score_deal(loaded, draws=DRAWS, seed=SEED)


@pytest.fixture(scope="module", autouse=True)
def known_leaflet() -> Iterator[None]:
    """Make the leaflet a kind of document while these tests run."""
    KINDS["leaflet"] = of_score("leaflet", leaflet)
    yield
    del KINDS["leaflet"]


@pytest.fixture(scope="module")
def printed(loaded: LoadedDeal, score: dict[str, Any]) -> bytes:
    return leaflet(loaded.deal, score)


@pytest.fixture
def pdf(printed: bytes, tmp_path: Path) -> Path:
    path = tmp_path / "leaflet.pdf"
    path.write_bytes(printed)
    return path


@pytest.fixture(scope="module")
def kept(loaded: LoadedDeal, score: dict[str, Any]) -> str:
    return score_document(loaded.deal, score).decode()


@pytest.fixture(scope="module")
def texts(loaded: LoadedDeal, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The contract as HTML and as Markdown."""
    files = draft(loaded, tmp_path_factory.mktemp("texts"), ("html", "md"))
    return {file.kind: file.path.read_text() for file in files}


def changed(path: Path, change: Callable[[pikepdf.Pdf], None], **options: Any) -> Path:
    """Return a copy of a PDF that another program changed and saved."""
    with pikepdf.open(path) as pdf:
        change(pdf)
        pdf.save(path.with_name("changed.pdf"), **options)
    return path.with_name("changed.pdf")


def attached(pdf: pikepdf.Pdf, name: str) -> Any:
    names = pdf.Root.Names.EmbeddedFiles.Names
    return next(names[i + 1].EF.F for i in range(0, len(names), 2) if str(names[i]) == name)


def rewritten(path: Path, name: str, old: str, new: str) -> Path:
    """Return a copy of a PDF in which one attached file says something else."""

    def change(pdf: pikepdf.Pdf) -> None:
        text = attached(pdf, name).read_bytes().decode()
        assert old in text
        attached(pdf, name).write(text.replace(old, new, 1).encode())

    return changed(path, change)


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def replaced(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new, 1)


def another_digit(page: pikepdf.Page, pdf: pikepdf.Pdf) -> None:
    """Print another digit on a page: the first that its fonts draw becomes another that they have."""
    out, letters, done = [], {}, False
    for operands, operator in pikepdf.parse_content_stream(page):
        if str(operator) == "Tf":
            words = page.resources.Font[str(operands[0])].ToUnicode.read_bytes().decode("latin-1")
            pairs = re.findall(r"<([0-9a-fA-F]{4})>\s+<([0-9a-fA-F]{4})>", words)
            letters = {bytes.fromhex(glyph): chr(int(letter, 16)) for glyph, letter in pairs}
        if str(operator) == "TJ" and not done:
            digits = {letter: glyph for glyph, letter in letters.items() if letter.isdigit()}
            for i, piece in enumerate(operands[0]):
                raw = bytes(piece) if isinstance(piece, pikepdf.String) else b""
                for at in range(0, len(raw), 2):
                    letter = letters.get(raw[at : at + 2], "")
                    others = [glyph for other, glyph in digits.items() if other != letter]
                    if letter.isdigit() and others and not done:
                        operands[0][i] = pikepdf.String(raw[:at] + others[0] + raw[at + 2 :])
                        done = True
        out.append((operands, operator))
    assert done
    page.Contents = pdf.make_stream(pikepdf.unparse_content_stream(out))


def places(found: Verified) -> list[str]:
    return [difference.where for difference in found.differences]


def resealed(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest whose digest fits it, as someone who knows our code could write it."""
    return {**manifest, "sha256": manifest_sha256(manifest)}


# --- the same -------------------------------------------------------------------------------------------------------


def test_a_printed_report_is_the_same_to_the_byte(pdf: Path, score: dict[str, Any]):
    found = verify(pdf)
    assert (found.same, found.to_the_byte, found.notes) == (True, True, ())
    assert found.compared["pages"] == 2
    assert found.compared["figures"] > 500
    assert (found.manifest["seed"], found.manifest["draws"]) == (SEED, DRAWS)


def test_it_carries_all_that_it_is_made_from(pdf: Path, loaded: LoadedDeal, score: dict[str, Any]):
    with pikepdf.open(pdf) as file:
        assert sorted(file.attachments) == ["deal.json", "manifest.json", "score.json"]
        kinds = {str(one.UF): str(one.AFRelationship) for one in file.Root.AF}
        assert kinds == {"deal.json": "/Source", "score.json": "/Data", "manifest.json": "/Supplement"}
        deal = Deal.model_validate_json(attached(file, "deal.json").read_bytes())
        figures = json.loads(attached(file, "score.json").read_bytes())
    assert deal == loaded.deal
    assert json_text(figures) == json_text(score)


def test_the_credit_memo_is_the_same_and_a_changed_digit_of_it_is_named(
    loaded: LoadedDeal, score: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    again = made_once(lambda deal, shown, manifest: print_memo(deal, shown, manifest).content)
    monkeypatch.setitem(KINDS, "credit_memo", of_score("credit memo", again))
    memo = tmp_path / "memo.pdf"
    memo.write_bytes(print_memo(loaded.deal, score).content)
    assert verify(memo).to_the_byte
    found = verify(changed(memo, lambda file: another_digit(file.pages[0], file)))
    (difference,) = found.differences
    assert re.fullmatch(r"page 1, line \d+", difference.where)
    assert difference.stored != difference.recomputed


def test_the_contract_is_the_same_and_a_changed_digit_of_it_is_named(
    loaded: LoadedDeal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(agreement, "made_again", made_once(agreement.made_again))
    (file,) = draft(loaded, tmp_path)
    found = verify(file.path)
    assert (found.kind, found.same, found.to_the_byte) == ("contract", True, True)
    assert found.compared == {"pages": file.pages}
    assert not {"deal_sha256", "file_sha256", "seed", "draws"} & set(found.manifest)
    found = verify(changed(file.path, lambda pdf: another_digit(pdf.pages[4], pdf)))
    assert [re.sub(r"\d+$", "N", place) for place in places(found)] == ["page 5, line N"]


def test_the_workbook_is_the_same_and_a_changed_cell_is_named(
    loaded: LoadedDeal, score: dict[str, Any], tmp_path: Path
):
    path = tmp_path / "model.xlsx"
    path.write_bytes(workbook(loaded.deal, score))
    found = verify(path)
    assert (found.same, found.to_the_byte) == (True, True)
    assert found.compared["cells"] > 1_000
    assert manifest_of_workbook(path) == found.manifest
    book = load_workbook(path)
    cell = next(c for row in book["Inputs"].iter_rows() for c in row if isinstance(c.value, int) and c.value > 100)
    before, cell.value = cell.value, cell.value + 1
    formula = next(c for row in book["Base case"].iter_rows() for c in row if c.data_type == "f")
    words, formula.value = formula.value, f"{formula.value}+1"
    book.save(path)
    differences = {difference.where: difference for difference in verify(path).differences}
    assert set(differences) == {
        f"sheet Inputs, cell {cell.coordinate}",
        f"sheet Base case, cell {formula.coordinate}",
    }
    number = differences[f"sheet Inputs, cell {cell.coordinate}"]
    assert (number.stored, number.recomputed) == (before + 1, before)
    assert differences[f"sheet Base case, cell {formula.coordinate}"].recomputed == words


def test_a_workbook_saved_by_another_program_is_the_same_and_that_is_said(
    loaded: LoadedDeal, score: dict[str, Any], tmp_path: Path
):
    path = tmp_path / "model.xlsx"
    path.write_bytes(workbook(loaded.deal, score))
    load_workbook(path).save(path)
    found = verify(path)
    assert (found.same, found.to_the_byte) == (True, False)
    assert found.notes == (
        "Another program saved the workbook: its sheets, cells, formulas, number formats, links and names are "
        "compared, nothing else of it.",
    )


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_contract_as_text_is_the_same(form: str, texts: dict[str, str], tmp_path: Path):
    path = written(tmp_path, f"sla.{form}", texts[form])
    assert verify(path).to_the_byte
    path.write_bytes(texts[form].replace("\n", "\r\n").encode())
    found = verify(path)
    assert (found.same, found.to_the_byte) == (True, False)
    assert found.notes == ("Another program saved the file: its bytes are others, and it says the same.",)


def test_the_json_of_a_score_is_the_same(kept: str, tmp_path: Path):
    path = written(tmp_path, "score.json", kept)
    assert verify(path).to_the_byte
    path.write_text(json.dumps(json.loads(kept)))
    assert (verify(path).same, verify(path).to_the_byte) == (True, False)


def test_what_was_asked_beside_the_score_is_computed_again(loaded: LoadedDeal, tmp_path: Path):
    whole = full_score(loaded, DRAWS, SEED, outer=2, stress_draws=DRAWS, lever_draws=0)
    text = score_document(loaded.deal, whole).decode()
    assert verify(written(tmp_path, "score.json", text)).to_the_byte
    data = json.loads(text)
    data["parameters"]["pd_term"]["mean"] += 0.001
    assert "parameters.pd_term.mean" in places(verify(written(tmp_path, "score.json", json_text(data))))


def test_saving_by_another_program_changes_nothing(pdf: Path):
    found = verify(changed(pdf, lambda file: None, object_stream_mode=pikepdf.ObjectStreamMode.disable))
    assert (found.same, found.to_the_byte) == (True, False)


# --- one thing changed ----------------------------------------------------------------------------------------------


def test_a_changed_digit_on_a_page_is_named_with_its_line(pdf: Path, score: dict[str, Any]):
    found = verify(changed(pdf, lambda file: another_digit(file.pages[1], file)))
    (difference,) = found.differences
    assert difference.where == "page 2, line 2"
    assert difference.recomputed == f"Expected: {score['default']['expected_loss_bp']:.1f} bp"
    assert difference.stored != difference.recomputed


def test_a_changed_drawing_is_named_where_the_words_are_the_same(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        page = file.pages[0]
        content = page.Contents.read_bytes()
        page.Contents.write(re.sub(rb"30 17 l", b"30 12 l", content))

    (difference,) = verify(changed(pdf, change)).differences
    assert difference.where.startswith("page 1, drawing (its words are the same)")
    assert (difference.stored, difference.recomputed) == ("30 12 l", "30 17 l")


def test_a_changed_figure_in_the_attached_score_is_named(pdf: Path, score: dict[str, Any]):
    def change(file: pikepdf.Pdf) -> None:
        figures = json.loads(attached(file, "score.json").read_bytes())
        figures["default"]["pd_term"] = 0.5
        attached(file, "score.json").write(json_text(figures).encode())

    found = verify(changed(pdf, change))
    difference = next(one for one in found.differences if one.where == "score.json: default.pd_term")
    assert (difference.stored, difference.recomputed) == (0.5, score["default"]["pd_term"])
    assert len(found.differences) == 2
    assert places(found)[0] == "manifest.json: attached.score.json (digest of the file)"


def test_the_last_digit_of_a_figure_is_found(kept: str, tmp_path: Path):
    data = json.loads(kept)
    data["default"]["pd_term_standard_error"] = math.nextafter(data["default"]["pd_term_standard_error"], 1.0)
    found = verify(written(tmp_path, "score.json", json_text(data)))
    assert "default.pd_term_standard_error" in places(found)


def test_a_changed_deal_is_found_by_its_digest_and_by_its_figures(pdf: Path):
    found = verify(rewritten(pdf, "deal.json", '"close":"2027-01-01"', '"close":"2027-01-02"'))
    assert {"manifest.json: attached.deal.json (digest of the file)", "manifest.json: deal_sha256"} <= set(
        places(found)
    )
    assert "score.json: close" in places(found)


def test_another_seed_in_the_manifest_is_found(pdf: Path):
    found = verify(rewritten(pdf, "manifest.json", f'"seed": {SEED}', '"seed": 8'))
    assert "manifest.json: sha256 (its own digest)" in places(found)
    assert "seed: manifest.json against score.json" in places(found)
    assert any(place.startswith("score.json: default.") for place in places(found))
    assert any(place.startswith("page 1, line") for place in places(found))


def test_another_seed_is_found_however_well_it_was_forged(kept: str, tmp_path: Path):
    data = json.loads(kept)
    data["seed"] = data["manifest"]["seed"] = 8
    figures = {name: value for name, value in data.items() if name not in ("manifest", "deal")}
    data["manifest"]["attached"]["score.json"] = sha256(json_text(figures).encode()).hexdigest()
    data["manifest"] = resealed(data["manifest"])
    found = verify(written(tmp_path, "score.json", json_text(data)))
    assert all(place.startswith(tuple(figures)) for place in places(found))
    assert len(found.differences) > 50


def test_an_entry_added_to_the_manifest_is_found(kept: str, tmp_path: Path):
    data = json.loads(kept)
    data["manifest"] = resealed({**data["manifest"], "approved_by": "a bank"})
    found = verify(written(tmp_path, "score.json", json_text(data)))
    assert [(one.where, one.stored) for one in found.differences] == [("manifest.approved_by", "a bank")]


@pytest.mark.parametrize("form", ["html", "md"])
def test_a_changed_number_in_a_contract_as_text_is_named(form: str, texts: dict[str, str], tmp_path: Path):
    text = replaced(texts[form], "30%", "31%")
    (difference,) = verify(written(tmp_path, f"sla.{form}", text)).differences
    assert difference.where.startswith("Key terms (piece" if form == "html" else "line ")
    assert "31%" in difference.stored
    assert "30%" in difference.recomputed


def test_changed_terms_of_a_contract_are_found_in_its_text(texts: dict[str, str], tmp_path: Path):
    found = verify(written(tmp_path, "sla.md", replaced(texts["md"], '"month":"0.3"', '"month":"0.1"')))
    assert "manifest.json: terms_sha256" in places(found)
    assert any("30%" in str(one.stored) and "10%" in str(one.recomputed) for one in found.differences)


def test_markup_slipped_into_a_contract_is_found(texts: dict[str, str], tmp_path: Path):
    text = replaced(texts["html"], "</body>", "<script>alert(1)</script></body>")
    (difference,) = verify(written(tmp_path, "sla.html", text)).differences
    assert "script" in difference.stored


def titled(file: pikepdf.Pdf) -> None:
    file.docinfo["/Title"] = "Another title"


def scripted(file: pikepdf.Pdf) -> None:
    file.Root.OpenAction = pikepdf.Dictionary(S=pikepdf.Name.JavaScript, JS="app.alert(1)")


def with_a_file_more(file: pikepdf.Pdf) -> None:
    file.attachments["more.txt"] = b"more"


def without_a_page(file: pikepdf.Pdf) -> None:
    del file.pages[1]


def with_another_font(file: pikepdf.Pdf) -> None:
    for part in file.objects:
        if isinstance(part, pikepdf.Dictionary) and "/FontFile2" in part:
            part.FontFile2.write(part.FontFile2.read_bytes() + b"0")


def cropped(file: pikepdf.Pdf) -> None:
    file.pages[0].CropBox = [0, 0, 100, 100]


def linked(file: pikepdf.Pdf) -> None:
    action = pikepdf.Dictionary(S=pikepdf.Name.URI, URI="https://bank.example")
    annotated(file, Subtype=pikepdf.Name.Link, A=action)


def annotated(file: pikepdf.Pdf, **entries: Any) -> None:
    """Lay an annotation over the first page."""
    note = pikepdf.Dictionary(Type=pikepdf.Name.Annot, Rect=[0, 0, 20, 20], **entries)
    file.pages[0].Annots = file.make_indirect(pikepdf.Array([file.make_indirect(note)]))


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (titled, "metadata Title"),
        (scripted, "what is done when the file is opened (/OpenAction)"),
        (with_a_file_more, "attachment more.txt"),
        (without_a_page, "page 2"),
        (with_another_font, "page 1, the shapes of its letters, or what they stand for"),
        (cropped, "page 1, the part of the paper that is shown"),
        (linked, "page 1, laid over it"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_whatever_else_was_changed_in_a_pdf_is_named(change: Callable[[pikepdf.Pdf], None], where: str, pdf: Path):
    found = verify(changed(pdf, change))
    assert any(place.startswith(where) for place in places(found)), places(found)


def test_a_note_of_counsel_is_said_and_is_no_difference(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        annotated(file, Subtype=pikepdf.Name.Text, Contents="see 1.1")
        file.docinfo["/Producer"] = "A reader"

    found = verify(changed(pdf, change))
    assert found.same
    assert found.notes == (
        "Page 1 carries 1 note of a reader, no part of the document: “see 1.1”.",
        "Another program saved the file (A reader).",
    )


def test_a_note_that_may_hide_what_is_printed_is_said_to(pdf: Path):
    (note,) = verify(changed(pdf, lambda file: annotated(file, Subtype=pikepdf.Name.FreeText, Contents="0.01"))).notes
    assert note.endswith("Such a note may hide what is printed below it: look at the page without notes.")


def test_a_signature_is_said_and_not_checked(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        annotated(file, Subtype=pikepdf.Name.Widget, FT=pikepdf.Name.Sig, T="Lender")
        file.Root.AcroForm = pikepdf.Dictionary(Fields=pikepdf.Array([file.pages[0].Annots[0]]), SigFlags=3)

    found = verify(changed(pdf, change))
    assert (found.same, found.notes) == (True, ("The file carries 1 signature, which this check does not verify.",))


def test_attachments_in_branches_are_all_seen(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        files = file.Root.Names.EmbeddedFiles
        more = file.make_indirect(pikepdf.Dictionary(Names=pikepdf.Array(["more.json", files.Names[1]])))
        whole = file.make_indirect(pikepdf.Dictionary(Names=files.Names))
        file.Root.Names.EmbeddedFiles = pikepdf.Dictionary(Kids=pikepdf.Array([whole, more]))

    assert places(verify(changed(pdf, change))) == ["attachment more.json"]


# --- reasons and rounding -------------------------------------------------------------------------------------------


def test_other_versions_are_named_first_and_the_comparison_goes_on(kept: str, tmp_path: Path):
    data = json.loads(kept)
    data["manifest"]["versions"]["numpy"] = "1.0"
    data["manifest"]["data_sha256"] = "0" * 64
    data["manifest"] = resealed(data["manifest"])
    path = written(tmp_path, "score.json", json_text(data))
    found = verify(path)
    assert found.same
    assert found.notes[0].startswith("Made with other versions, so figures and pages may differ: numpy 1.0 (here ")
    data["manifest"] = resealed({**data["manifest"], "draws": 32})
    found = verify(written(tmp_path, "score.json", json_text(data)))
    assert not found.same
    assert [note.split(",")[0] for note in found.notes[:2]] == [
        "Made with other versions",
        "The project's own data have changed since",
    ]


@pytest.mark.parametrize(("moved", "same"), [(1e-12, True), (1e-6, False)])
def test_figures_of_another_processor_may_differ_by_rounding_and_no_more(
    moved: float, same: bool, kept: str, tmp_path: Path
):
    data = json.loads(kept)
    data["default"]["expected_loss_bp"] *= 1 + moved
    figures = {name: value for name, value in data.items() if name not in ("manifest", "deal")}
    data["manifest"]["attached"]["score.json"] = sha256(json_text(figures).encode()).hexdigest()
    data["manifest"] = resealed(data["manifest"])
    found = verify(written(tmp_path, "score.json", json_text(data)))
    assert found.same is same
    if same:
        assert "which is rounding of another processor or library" in found.notes[0]
        assert found.to_the_byte
    else:
        assert places(found) == ["default.expected_loss_bp"]


# --- files that are not ours ----------------------------------------------------------------------------------------


def refusal(path: Path) -> str:
    with pytest.raises(DealError, match="expected a document that slakit made") as caught:
        verify(path)
    return str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "text without a manifest"),
        ("hello", "text without a manifest"),
        ("{}", "JSON without a manifest and its deal"),
        ('{"manifest": {}, "deal": {}}', "a manifest that slakit did not write"),
        ('{"a": 1, "a": 2}', "the key 'a' a second time"),
        ('{"a": NaN}', "the number NaN"),
        ('{"a": ' + "[" * 100_000, "not JSON as slakit writes it"),
        ('{"a": ' + "[" * 400 + "1" + "]" * 400 + "}", "JSON without a manifest"),
        ("text\n<!-- slakit {} -->\n", "text without a manifest"),
        ("%PDF-1.7\n" + "garbage" * 100, "a broken PDF"),
        ("PK\x03\x04" + "garbage" * 100, "a broken or encrypted workbook"),
    ],
)
def test_what_is_not_ours_is_refused_in_words(content: str, says: str, tmp_path: Path):
    assert says in refusal(written(tmp_path, "file", content))


def test_what_is_no_file_is_refused(tmp_path: Path):
    assert "No such file" in refusal(tmp_path / "nowhere.pdf")
    assert "a folder or a device" in refusal(tmp_path)
    assert "a folder or a device" in refusal(Path("/dev/zero"))
    binary = tmp_path / "binary"
    binary.write_bytes(bytes(range(256)))
    assert "neither a PDF, a workbook nor text" in refusal(binary)


def test_a_pdf_without_a_manifest_is_refused(tmp_path: Path):
    with pikepdf.new() as file:
        file.add_blank_page()
        file.save(tmp_path / "other.pdf")
    assert "no attachment named manifest.json" in refusal(tmp_path / "other.pdf")


def test_an_encrypted_pdf_is_refused(pdf: Path):
    locked = changed(pdf, lambda file: None, encryption=pikepdf.Encryption(owner="owner", user=""))
    assert "an encrypted PDF" in refusal(locked)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"kind": "horoscope"}, "a document of kind 'horoscope'"),
        ({"format_version": 2}, "a manifest of format version 2"),
        ({"draws": 10**12}, "draws of 1000000000000 in the manifest"),
        ({"draws": True}, "draws of True"),
        ({"seed": "7"}, "seed of '7'"),
        ({"versions": None}, "without versions or digests"),
        ({"kind": "contract"}, "no terms.json in it"),
    ],
)
def test_a_manifest_that_cannot_be_followed_is_refused(changes: dict[str, Any], says: str, kept: str, tmp_path: Path):
    data = json.loads(kept)
    data["manifest"] = resealed({**data["manifest"], **changes})
    assert says in refusal(written(tmp_path, "score.json", json_text(data)))


def test_terms_that_are_no_terms_are_refused(texts: dict[str, str], tmp_path: Path):
    for old, new in (
        ('"month":"0.3"', '"month":"much"'),
        ('"month":"0.3"', '"monthly":"0.3"'),
        ('"month":"0.3"', '"month":[["0.3"]]'),
        ('"position":"balanced"', '"position":"../../x"'),
    ):
        text = texts["md"].replace(old, new)
        assert text != texts["md"]
        assert "no terms of a contract" in refusal(written(tmp_path, "sla.md", text))


def zeros_packed(megabytes: int) -> bytes:
    """Return a zlib stream of so many times 2**20 zeros, without packing all of them."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    check = ((megabytes << 20) % 65521) << 16 | 1
    return b"\x78\xda" + block * megabytes + b"\x03\x00" + check.to_bytes(4, "big")


AS_THEY_ARE = {"stream_decode_level": pikepdf.StreamDecodeLevel.none, "compress_streams": False}


def test_an_attachment_bomb_is_refused(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        attached(file, "deal.json").write(zeros_packed(4096), filter=pikepdf.Name.FlateDecode)

    assert "an attachment of more than 8,388,608 bytes" in refusal(changed(pdf, change, **AS_THEY_ARE))


def test_a_page_bomb_is_stopped_by_the_bounds(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        file.pages[0].Contents.write(zeros_packed(4096), filter=pikepdf.Name.FlateDecode)

    assert "memory" in refusal(changed(pdf, change, **AS_THEY_ARE))


def packed(path: Path, parts: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def test_packed_files_that_are_no_workbook_of_ours_are_refused(tmp_path: Path):
    path = tmp_path / "model.xlsx"
    assert "no workbook" in refusal(packed(path, {"word/document.xml": b"<x/>"}))
    assert "a workbook with a broken structure" in refusal(packed(path, {"xl/workbook.xml": b"<x/>"}))
    entity = b'<!DOCTYPE x [<!ENTITY a "aa">]><x>&a;</x>'
    assert "define words of their own" in refusal(packed(path, {"xl/workbook.xml": entity}))
    Workbook().save(path)
    assert "a workbook without a manifest" in refusal(path)


def test_a_packed_bomb_is_refused_before_it_is_unpacked(tmp_path: Path):
    path = tmp_path / "model.xlsx"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive,
        archive.open("xl/workbook.xml", "w") as part,
    ):
        for _ in range(300):
            part.write(bytes(1 << 20))
    assert "a workbook that unpacks to 314,572,800 bytes" in refusal(path)


def test_a_workbook_that_runs_something_is_told(loaded: LoadedDeal, score: dict[str, Any], tmp_path: Path):
    path = tmp_path / "model.xlsx"
    path.write_bytes(workbook(loaded.deal, score))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/vbaProject.bin", b"macro")
    assert places(verify(path)) == ["part xl/vbaProject.bin"]


def test_code_beside_the_file_is_not_run_and_nothing_is_written(pdf: Path, monkeypatch: pytest.MonkeyPatch):
    for name in ("json", "base64", "pikepdf", "pypdf", "slakit"):
        (pdf.parent / f"{name}.py").write_text("raise SystemExit('run')")
    target = changed(pdf, titled)
    before = sorted(pdf.parent.iterdir())
    monkeypatch.chdir(pdf.parent)
    assert places(verify(target)) == ["metadata Title"]
    assert sorted(pdf.parent.iterdir()) == before


# --- the command ----------------------------------------------------------------------------------------------------


def run(*arguments: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "200"})
    return ended.exit_code, ended.output


def test_the_command_answers_in_words(pdf: Path):
    code, page = run("verify", pdf)
    figures = verify(pdf).compared["figures"]
    assert code == 0
    assert f"Same: all {figures:,} figures recomputed; 2 pages remade byte for byte." in page
    assert f"seed {SEED}, draws {DRAWS}" in page
    code, page = run("verify", changed(pdf, titled))
    assert code == 1
    assert "Different in 1 place: the leaflet is not what comes of what it carries." in page
    assert re.search(r"metadata Title\s+as it stands:\s+Another title\s+as made again:\s+Leaflet", page)


def test_the_command_answers_as_json(pdf: Path, tmp_path: Path):
    code, text = run("verify", changed(pdf, titled), "--json")
    found = json.loads(text)
    assert code == 1
    assert {"same", "kind", "differences", "notes", "manifest"} <= set(found)
    assert (found["same"], found["kind"]) == (False, "leaflet")
    assert found["differences"] == [{"where": "metadata Title", "stored": "Another title", "recomputed": "Leaflet"}]
    code, text = run("verify", tmp_path / "nowhere.pdf", "--json")
    (error,) = json.loads(text)["errors"]
    assert code == 1
    assert {"path", "found", "expected", "remedy"} <= set(error)


def test_what_a_file_says_moves_no_cursor(pdf: Path):
    def change(file: pikepdf.Pdf) -> None:
        file.docinfo["/Title"] = "\x1b[2JSame: all figures recomputed."

    assert "\x1b" not in run("verify", changed(pdf, change))[1]


def test_figures_do_not_depend_on_the_number_of_workers(kept: str, tmp_path: Path):
    assert verify(written(tmp_path, "score.json", kept), workers=2).to_the_byte
