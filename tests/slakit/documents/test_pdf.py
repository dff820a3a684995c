"""The PDF: what it declares, what it embeds, and that it is the same every time."""

import hashlib
import io
import json
import re

import pikepdf
import pypdf
import pytest

from schemas.deal import Deal
from schemas.errors import DealError
from slakit.documents.draft import draft, to_pdf
from slakit.documents.embed import attached_terms
from slakit.documents.pdf import print_pdf
from slakit.documents.tree import assemble

TEXT = {
    "one": '[a] A **Node** is down. A Node counts {{ term("credits.caps.unit") | percent }}; see {{ ref("two") }}.\n',
    "two": "[a] Shares:\n| Level | Share |\n|---|---:|\n| x | 5% |\n| y | 12.5% |\n\n"
    '[b] {{ term("commercial.expert_body") }}\n',
}
OPTIONS = {
    "terms": {"one": ["credits.caps"], "two": ["commercial.expert_body"]},
    "defines": {"one": ["Node"]},
    "annexes": [],
}


@pytest.fixture
def printed(templates, deal):
    root = templates(TEXT, **OPTIONS)
    document = assemble(deal, root=root)
    return document, to_pdf(document, root=root)


def opened(content):
    return pikepdf.open(io.BytesIO(content))


def test_the_pages_are_counted_and_the_file_is_whole(printed):
    _, pdf = printed
    with opened(pdf.content) as file:
        assert len(file.pages) == pdf.pages >= 3
        assert file.check_pdf_syntax() == []


def test_only_our_own_fonts_are_embedded_and_all_are(printed):
    with opened(printed[1].content) as file:
        names = set()
        for item in file.objects:
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor":
                names.add(str(item.FontName))
                assert any(key in item for key in ("/FontFile2", "/FontFile3"))
    assert names
    assert all(re.fullmatch(r"/[A-Z]{6}\+IBM-Plex-(Serif|Sans)(-[A-Za-z-]+)?", name) for name in names), names


def test_it_declares_archive_and_accessibility_with_their_schemas(printed):
    with opened(printed[1].content) as file:
        xmp = file.Root.Metadata.read_bytes().decode()
        assert 'pdfaid:part="3" pdfaid:conformance="A"' in xmp
        assert 'pdfuaid:part="1"' in xmp
        assert "<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>" in xmp
        with file.open_metadata() as parsed:
            assert parsed["pdfuaid:part"] == "1"
            assert parsed["dc:title"] == "Service Level Agreement between Northfield Compute LLC and Halden Models Inc."
        assert file.Root.Lang == "en"
        assert file.Root.MarkInfo.Marked
        assert file.Root.ViewerPreferences.DisplayDocTitle
        assert str(file.Root.OutputIntents[0].S) == "/GTS_PDFA1"


def test_heads_and_feet_are_outside_the_reading_order_and_all_other_text_inside(printed):
    with opened(printed[1].content) as file:
        numbers = list(file.Root.StructTreeRoot.ParentTree.Nums)
        by_page = {int(numbers[i]): numbers[i + 1] for i in range(0, len(numbers), 2)}
        assert b"/Pagination" in file.pages[1].Contents.read_bytes()
        for page in file.pages:
            marked = {int(m) for m in re.findall(rb"/MCID (\d+)", page.Contents.read_bytes())}
            placed = by_page[int(page.obj.StructParents)]
            assert marked == {i for i, element in enumerate(placed) if element is not None}
            assert marked


def test_the_terms_are_attached_once_as_the_source_and_the_manifest_beside_them(printed):
    document, pdf = printed
    with opened(pdf.content) as file:
        assert list(file.attachments) == ["manifest.json", "terms.json"]
        assert file.attachments["terms.json"].get_file().read_bytes() == attached_terms(document)
        assert [str(one.AFRelationship) for one in file.Root.AF] == ["/Source", "/Supplement"]
        assert document.terms_sha256 in str(file.Root.AF[0].Desc)


def test_the_attached_file_holds_terms_numbers_and_digests(printed):
    document, _ = printed
    data = json.loads(attached_terms(document))
    assert data["terms"]["credits"] == {"caps": {"unit": "1"}}
    assert data["numbering"]["two.b"] == "2.2"
    assert data["schema_version"] == 1
    assert data["templates_sha256"] == document.templates_sha256
    assert data["terms_sha256"] == document.terms_sha256


def test_the_same_deal_gives_the_same_bytes(templates, deal, printed):
    root = templates(TEXT, **OPTIONS)
    again = to_pdf(assemble(deal, root=root), root=root)
    assert hashlib.sha256(again.content).digest() == hashlib.sha256(printed[1].content).digest()


def test_the_date_inside_is_fixed_or_comes_from_the_build(templates, deal, monkeypatch):
    root = templates(TEXT, **OPTIONS)
    document = assemble(deal, root=root)
    for epoch, date in ((None, "D:20000101000000Z"), ("1796083200", "D:20261201000000Z")):
        if epoch:
            monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
        else:
            monkeypatch.delenv("SOURCE_DATE_EPOCH", raising=False)
        with opened(to_pdf(document, root=root).content) as file:
            params = file.Root.AF[0].EF.F.Params
            assert str(params.ModDate) == str(params.CreationDate) == date
            assert "/CreationDate" not in file.docinfo


def everything_in(content):
    """Return every decoded stream, every string and the metadata of a PDF, as one piece of bytes."""
    pieces = [content]
    with opened(content) as file:
        for item in file.objects:
            if isinstance(item, pikepdf.Stream):
                pieces.append(item.read_bytes())
            pieces.append(repr(item).encode())
        pieces.append(repr(dict(file.docinfo)).encode())
    pieces += [page.extract_text().encode() for page in pypdf.PdfReader(io.BytesIO(content)).pages]
    return b"\n".join(pieces)


def test_nothing_else_of_the_deal_is_anywhere_in_the_file(deal, tmp_path):
    (file,) = draft(deal, tmp_path)
    everything = everything_in(file.path.read_bytes())
    assert b"Northfield Compute LLC" in everything
    assert b"Halden Models Inc., a Delaware corporation" in everything
    amounts = (
        b"9876543210",
        b"0876543219",
        b"8123456789",
        b"71828182",
    )  # the last is in power, operations and insurance
    for secret in (b"CANARY", *amounts, b"provenance", b"amortisation", b"density_choice", b"bank"):
        assert secret not in everything, secret


def test_a_page_may_fetch_nothing_but_our_fonts(tmp_path):
    (tmp_path / "secret.txt").write_text("secret")
    for address in (f"file://{tmp_path}/secret.txt", "http://127.0.0.1:9/x.png", "slakit:fonts/../secret.ttf"):
        with pytest.raises(DealError, match="expected a page that prints without warnings"):
            print_pdf(f'<html lang="en"><title>t</title><img alt="x" src="{address}"><p>x')


def test_a_sign_that_the_fonts_lack_is_refused_by_name(templates, data):
    data["parties"]["seller"]["name"] = "株式会社 ◆"
    root = templates(TEXT, **OPTIONS)
    with pytest.raises(DealError, match=r"parties.seller.name: found '◆' \(U\+25C6\), '会' \(U\+4F1A\)"):
        to_pdf(assemble(Deal.model_validate(data), root=root), root=root)


def test_a_blank_is_drawn_and_needs_no_other_font(templates):
    root = templates({"one": '[a] For {{ term("commercial.term.months") | months }}.\n'}, terms={"one": ["commercial"]})
    with opened(to_pdf(assemble(Deal(schema_version=1), root=root), root=root).content) as file:
        fonts = {
            str(item.FontName).partition("+")[2]
            for item in file.objects
            if isinstance(item, pikepdf.Dictionary) and item.get("/Type") == "/FontDescriptor"
        }
    assert all(name.startswith("IBM-Plex") for name in fonts)
