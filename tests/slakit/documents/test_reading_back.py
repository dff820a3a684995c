"""Terms out of a PDF: byte for byte from ours, a clear refusal from any other file."""

import io
import json
import zlib

import pikepdf
import pytest

from schemas.errors import DealError
from slakit.documents.draft import to_pdf
from slakit.documents.embed import attached_terms, read, read_bytes
from slakit.documents.tree import assemble


@pytest.fixture
def document(templates, deal):
    root = templates({"one": '[a] At most {{ term("credits.caps.month") | percent }}.\n'}, terms={"one": ["credits"]})
    tree = assemble(deal, root=root)
    return tree, to_pdf(tree, root=root).content


@pytest.fixture
def ours(document, tmp_path):
    path = tmp_path / "sla.pdf"
    path.write_bytes(document[1])
    return path


def changed(path, change, **options):
    with pikepdf.open(path) as pdf:
        change(pdf)
        pdf.save(path.with_name("changed.pdf"), **options)
    return path.with_name("changed.pdf")


def attachment(pdf):
    return place_and_file(pdf)[1].EF.F


def place_and_file(pdf):
    names = pdf.Root.Names.EmbeddedFiles.Names
    at = [str(part) for part in names].index("terms.json")
    return names[at], names[at + 1]


def test_the_terms_come_back_byte_for_byte(document, ours):
    assert read_bytes(ours) == attached_terms(document[0])


def test_the_terms_come_back_with_their_digest_and_numbers(document, ours):
    tree = document[0]
    found = read(ours)
    assert found["terms"] == tree.terms
    assert found["sha256"] == tree.terms_sha256
    assert found["intact"] is True
    assert found["numbering"]["one.a"] == "1.1"
    assert found["document"]["title"] == "Service Level Agreement"
    assert found["schema_version"] == 1


def test_saving_by_another_program_leaves_the_copy_intact(ours):
    assert read(changed(ours, lambda pdf: None))["intact"] is True


def test_a_changed_page_is_noticed(ours):
    def change(pdf):
        page = pdf.pages[-1]
        page.contents_add(pdf.make_stream(b"BT ET"))

    assert read(changed(ours, change))["intact"] is False


def test_a_page_left_out_is_noticed(ours):
    assert read(changed(ours, lambda pdf: pdf.pages.__delitem__(-1)))["intact"] is False


def test_changed_terms_are_noticed(ours):
    def change(pdf):
        stream = attachment(pdf)
        stream.write(stream.read_bytes().replace(b'"month": "0.3"', b'"month": "0.1"'))

    found = read(changed(ours, change))
    assert found["terms"]["credits"]["caps"]["month"] == "0.1"
    assert found["intact"] is False


def other_digit(pdf):
    for part in pdf.objects:
        if isinstance(part, pikepdf.Stream) and b"beginbfchar" in part.read_bytes():
            part.write(part.read_bytes() + b" ")


def other_shapes(pdf):
    for part in pdf.objects:
        if isinstance(part, pikepdf.Dictionary) and "/FontFile2" in part:
            part.FontFile2.write(part.FontFile2.read_bytes() + b"0")


def cropped(pdf):
    pdf.pages[0].CropBox = [0, 0, 10, 10]


def turned(pdf):
    pdf.pages[0].Rotate = 180


@pytest.mark.parametrize("change", [other_digit, other_shapes, cropped, turned])
def test_letters_and_frames_that_were_changed_are_noticed(ours, change):
    assert read(changed(ours, change))["intact"] is False


def test_a_note_of_counsel_does_not_make_the_copy_another(ours):
    def change(pdf):
        note = pikepdf.Dictionary(
            Type=pikepdf.Name.Annot, Subtype=pikepdf.Name.Text, Rect=[0, 0, 20, 20], Contents="see 1.1"
        )
        pdf.pages[-1].Annots = pdf.make_indirect(pikepdf.Array([pdf.make_indirect(note)]))

    assert read(changed(ours, change))["intact"] is True


def empty_pdf(path, *, attached=None, **options):
    with pikepdf.new() as pdf:
        pdf.add_blank_page()
        if attached is not None:
            pdf.attachments["terms.json"] = attached
        pdf.save(path, **options)
    return path


def test_a_foreign_pdf_is_refused(tmp_path):
    with pytest.raises(DealError, match=r"other.pdf document: found no attachment named terms.json"):
        read(empty_pdf(tmp_path / "other.pdf"))


@pytest.mark.parametrize("content", [b"{}", b"[]", b"not json", b'{"format": "other", "terms": {}}', b"[" * 100_000])
def test_an_attachment_that_we_did_not_write_is_refused(tmp_path, content):
    with pytest.raises(DealError, match=r"a terms\.json that slakit did not write"):
        read(empty_pdf(tmp_path / "other.pdf", attached=content))


def test_terms_of_a_later_format_are_refused_by_version(document, ours):
    def change(pdf):
        data = json.loads(attached_terms(document[0]))
        attachment(pdf).write(json.dumps({**data, "format_version": 2}).encode())

    with pytest.raises(DealError, match="terms of format version 2"):
        read(changed(ours, change))


def test_an_encrypted_pdf_is_refused(ours, tmp_path):
    for user in ("secret", ""):
        path = tmp_path / "locked.pdf"
        with pikepdf.open(ours) as pdf:
            pdf.save(path, encryption=pikepdf.Encryption(owner="owner", user=user))
        with pytest.raises(DealError, match="found an encrypted PDF"):
            read(path)


def test_what_is_no_pdf_is_refused(tmp_path):
    path = tmp_path / "x.pdf"
    with pytest.raises(DealError, match="No such file"):
        read(path)
    path.write_text("schema_version: 1")
    with pytest.raises(DealError, match="found no PDF"):
        read(path)
    path.write_bytes(b"%PDF-1.7\n" + b"\0garbage" * 100)
    with pytest.raises(DealError, match="found a broken PDF"):
        read(path)


def test_a_huge_file_is_refused_without_reading_it(ours):
    with ours.open("r+b") as file:
        file.truncate(65 * 1024 * 1024)
    with pytest.raises(DealError, match="found a file of 68,157,440 bytes"):
        read(ours)


def zeros_packed(megabytes):
    """Return a zlib stream of so many times 2**20 zeros, without packing all of them."""
    packer = zlib.compressobj(9, wbits=-15)
    block = packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_FULL_FLUSH)
    check = ((megabytes << 20) % 65521) << 16 | 1
    return b"\x78\xda" + block * megabytes + b"\x03\x00" + check.to_bytes(4, "big")


AS_THEY_ARE = {"stream_decode_level": pikepdf.StreamDecodeLevel.none, "compress_streams": False}


def test_an_attachment_bomb_is_refused(ours):
    def change(pdf):
        attachment(pdf).write(zeros_packed(4096), filter=pikepdf.Name.FlateDecode)

    with pytest.raises(DealError, match="an attachment of more than 8,388,608 bytes"):
        read(changed(ours, change, **AS_THEY_ARE))


def test_a_page_bomb_is_stopped_by_the_bounds(ours):
    def change(pdf):
        pdf.pages[0].Contents.write(zeros_packed(4096), filter=pikepdf.Name.FlateDecode)

    with pytest.raises(DealError, match="memory"):
        read(changed(ours, change, **AS_THEY_ARE))


def test_a_twice_packed_attachment_is_refused(ours):
    def change(pdf):
        packed = zlib.compress(zlib.compress(b"{}"))
        attachment(pdf).write(packed, filter=pikepdf.Array([pikepdf.Name.FlateDecode, pikepdf.Name.FlateDecode]))

    with pytest.raises(DealError, match="packed in a way slakit never uses"):
        read(changed(ours, change, **AS_THEY_ARE))


def test_a_file_cut_short_is_refused_or_read_whole(document, ours):
    content = ours.read_bytes()
    for share in (0.2, 0.5, 0.8, 0.95):
        ours.write_bytes(content[: int(len(content) * share)])
        try:
            found = read_bytes(ours)
        except DealError as error:
            assert "document" in str(error)  # noqa: PT017
        else:
            assert found == attached_terms(document[0])


def test_code_beside_the_file_is_not_run(ours, monkeypatch):
    for name in ("json", "base64", "pikepdf", "slakit"):
        (ours.parent / f"{name}.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(ours.parent)
    assert read(ours)["intact"] is True


def test_packed_zeros_of_these_tests_are_what_they_say():
    assert zlib.decompress(zeros_packed(3)) == bytes(3 << 20)


def test_two_attachments_of_the_same_name_are_refused(ours):
    def change(pdf):
        for part in place_and_file(pdf):
            pdf.Root.Names.EmbeddedFiles.Names.append(part)

    with pytest.raises(DealError, match=r"2 attachments named terms\.json"):
        read(changed(ours, change))


def test_the_pdf_library_reads_our_file_without_repair(document):
    with pikepdf.open(io.BytesIO(document[1]), attempt_recovery=False) as pdf:
        assert pdf.get_warnings() == []
