"""A document's tree as one HTML page, for the browser and for WeasyPrint."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from slakit.documents.nodes import (
    UNRESOLVED,
    Block,
    DefinitionList,
    Document,
    Formula,
    Node,
    Run,
    Runs,
    Section,
    Table,
    Text,
    plain,
)
from slakit.paths import templates_dir
from slakit.reports import theme

STYLES = ("print.css", "contract.css")
NARROW = 52
"""A table whose widest cells have fewer signs than this together is drawn narrower."""
TIGHT = 16
"""Cells of a column without a longer one are not broken."""
LONG = 24
"""A table with more rows than this may go over a page, with its head repeated."""
_FIGURE = re.compile(r"^([A-Z]{3}\u00a0)?[\d,]+(?:\.(\d+))?(\D*)$")
_FONT = re.compile(r'url\("slakit:fonts/([A-Za-z-]+\.ttf)"\)')


def to_html(document: Document, *, root: Path | None = None, standalone: bool = True) -> str:
    """Return the document as an HTML page.

    Parameters
    ----------
    document
        What to print.
    root
        Folder of the templates instead of the project's own.
    standalone
        Whether fonts are written into the page, so that it can be sent; else they are named for WeasyPrint.
    """
    css = (
        theme.print_properties()
        + stylesheet(STYLES, root)
        + page_rules(document.paper, document.title, document.status, document_name(document), short_digest(document))
    )
    if standalone:
        css = _FONT.sub(lambda match: f'url("{_font_data(match[1], root)}")', css) + SCREEN
    body = "".join(_body(document))
    return (
        f'<!DOCTYPE html><html lang="{escape(document.language)}"><head><meta charset="utf-8">'
        f"<title>{escape(heading(document))}</title>"
        '<meta name="viewport" content="width=device-width">'
        f'<meta name="generator" content="slakit"><style>{css}</style></head><body>{body}</body></html>'
    )


SCREEN = """
@media screen {
  body { max-width: 44rem; margin: 3rem auto; padding: 0 1.25rem; }
  .contents a::after { content: none; }
}
"""


def stylesheet(names: tuple[str, ...], root: Path | None = None) -> str:
    """Return the named style files, one after the other."""
    folder = (root or templates_dir()) / "styles"
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in names)


def page_rules(paper: str, head_left: str, head_right: str, foot_left: str, foot_middle: str) -> str:
    """Return the `@page` rules with the running matter as literal strings."""
    margin = "25mm 30mm 24mm 30mm" if paper == "a4" else "25mm 32mm 24mm 32mm"
    box = 'font: 400 8pt/1.3 "IBM Plex Sans"; color: var(--muted); font-variant-numeric: tabular-nums; width: 33.3%;'
    return f"""
@page {{ size: {paper}; margin: {margin};
  @top-left {{ {box} width: 50%; content: {css_string(head_left)}; }}
  @top-center {{ content: none; }}
  @top-right {{ {box} width: 50%; content: {css_string(head_right)}; }}
  @bottom-left {{ {box} content: {css_string(foot_left)}; }}
  @bottom-center {{ {box} content: {css_string(foot_middle)}; }}
  @bottom-right {{ {box} content: "Page " counter(page) " of " counter(pages); }}
}}
@page :first {{ @top-left {{ content: none; }} @top-right {{ content: none; }} }}
"""


def css_string(text: str) -> str:
    """Return a CSS string in which every sign but letters, digits and spaces is escaped.

    >>> css_string('a"; }')
    '"a\\\\22 \\\\3b  \\\\7d "'
    """
    safe = "".join(sign if sign.isalnum() or sign == " " else f"\\{ord(sign):x} " for sign in text)
    return f'"{safe}"'


def heading(document: Document) -> str:
    """Return the title of the document with its parties, as file titles print it."""
    names = " and ".join(signatory.name.text for signatory in document.signatories)
    return f"{document.title} between {names}"


def document_name(document: Document) -> str:
    """Return the id that the foot prints."""
    return f"{document.id}.{document.position}.{document.language}"


def short_digest(document: Document) -> str:
    """Return the first eight hex digits of the terms' digest, as the foot prints them."""
    return f"terms {document.terms_sha256[:8]}"


def colophon(document: Document) -> tuple[str, str]:
    """Return what the last page says about the attached terms, and their full digest."""
    return (
        "The terms that this document prints are attached to its PDF file as terms.json, for machines to read. Where "
        "that file and the printed text differ, the printed text prevails. The foot of each page shows the first "
        "eight digits of the digest of those terms; in full, it is (sha256):",
        document.terms_sha256,
    )


def places(document: Document) -> list[tuple[str, str]]:
    """Return each blank's place as printed and its path in the deal."""
    titles = {section.id: section for section in document.sections}
    found: dict[str, list[str]] = {}
    for blank in document.blanks:
        section = titles.get(blank.section)
        where = f"clause\u00a0{section.label}" if section and section.kind == "clause" else ""
        name = where or (section.title if section else document.title)
        if name not in found.setdefault(blank.path or "a value", []):
            found[blank.path or "a value"].append(name)
    return [(", ".join(names), path) for path, names in found.items()]


def _body(document: Document) -> Iterator[str]:
    yield from _cover(document)
    yield from _contents(document)
    started = False
    previous: Section | None = None
    for section in document.sections:
        if section.part:
            first = "" if started else " first-part"
            yield f'<h2 class="part{first}" id="{_part_id(section)}">{escape(section.part)}</h2>'
            started = True
        yield from _section(section, previous, document)
        previous = section
    text, digest = colophon(document)
    yield f'<div class="colophon"><p>{escape(text)}</p><p class="hash">{digest}</p></div>'


def _cover(document: Document) -> Iterator[str]:
    yield f'<section class="cover"><p class="status">{escape(document.status)}</p><h1>{escape(document.title)}</h1>'
    yield '<p class="between">between</p>'
    for index, signatory in enumerate(document.signatories):
        yield ('<p class="and">and</p>' if index else "") + f'<p class="name">{_runs((signatory.name,))}</p>'
        yield f'<p class="entity">{_runs((signatory.entity,))}</p>' if signatory.entity else ""
    yield '<p class="dated">Dated <span class="line"></span></p>'
    blanks = places(document)
    if blanks:
        noun = "value is" if len(blanks) == 1 else "values are"
        yield f'<div class="blanks"><p>{len(blanks)} {noun} still to be agreed:</p>'
        for where, path in blanks[:24]:
            yield f"<p>{_runs((Run('blank', '', path),))} {escape(path)}: {escape(where)}</p>"
        if len(blanks) > 24:
            yield f"<p>and {len(blanks) - 24} more</p>"
        yield "</div>"
    yield "</section>"


def _contents(document: Document) -> Iterator[str]:
    yield '<nav class="contents"><h2>Contents</h2><ol>'
    for section in document.sections:
        if section.part:
            yield f'<li class="top"><a href="#{_part_id(section)}">{escape(section.part)}</a></li>'
        if section.kind == "clause":
            number = f'<span class="no">{section.label}</span>'
            yield f'<li class="sub"><a href="#{section.id}">{number}{escape(section.title)}</a></li>'
        else:
            yield f'<li class="top"><a href="#{section.id}">{escape(_title(section))}</a></li>'
    yield "</ol></nav>"


def _section(section: Section, previous: Section | None, document: Document) -> Iterator[str]:
    run_on = section.kind == "front" and previous is not None and previous.id != "key-terms"
    yield f'<section class="{section.kind}{" run" if run_on else ""} {section.id}-page">'
    if section.kind == "clause":
        yield f'<h3 id="{section.id}"><span class="no">{section.label}</span>{escape(section.title)}</h3>'
    else:
        yield f'<h2 id="{section.id}">{escape(_title(section))}</h2>'
    for node in section.nodes:
        yield from _node(node)
    if section.kind == "execution":
        yield from _signatures(document)
    yield "</section>"


def _node(node: Node) -> Iterator[str]:
    style = f"l{node.level}" if node.label or node.level > 1 else "l1 plain"
    yield f'<div class="{style}{" whole" if _is_short(node) else ""}" id="{node.id}">'
    label = f'<span class="no">{escape(node.label)}</span>' if node.label else ""
    pieces = [*node.blocks]
    for index, block in enumerate(pieces):
        follows = index + 1 < len(pieces) or bool(node.children)
        yield _block(block, label, keep=follows)
        label = ""
    for child in node.children:
        yield from _node(child)
    for block in node.tail:
        yield _block(block, "", keep=False)
    yield "</div>"


def _is_short(node: Node) -> bool:
    """Say whether a paragraph is better moved than split: a few lines, without anything under it."""
    return not node.children and all(isinstance(block, Text) and len(plain(block.runs)) < 240 for block in node.blocks)


def _block(block: Block, label: str, *, keep: bool) -> str:
    match block:
        case Text():
            return f"<p{' class=keep' if keep else ''}>{label}{_runs(block.runs)}</p>"
        case Formula():
            return f'<p class="formula">{_runs(block.runs)}</p>'
        case Table():
            return _table(block)
        case DefinitionList():
            rows = "".join(
                f'<tr id="{entry.id}"><th scope="row">{escape(entry.term)}</th><td>{_runs(entry.runs)}</td></tr>'
                for entry in block.entries
            )
            return f'<table class="defs">{rows}</table>'


def _table(table: Table) -> str:
    columns = range(len(table.head))
    pads = [_paddings([row[i] for row in table.rows]) if table.align[i] == "right" else None for i in columns]
    head = "".join(f'<th scope="col"{_right(table.align[i])}>{_runs(cell)}</th>' for i, cell in enumerate(table.head))
    tight = {i for i in columns if max((len(plain(row[i])) for row in table.rows), default=0) <= TIGHT}
    rows, groups = [], _group_starts([plain(row[0]) for row in table.rows])
    for at, row in enumerate(table.rows):
        cells = []
        for i, cell in enumerate(row):
            tag, scope = ("th", ' scope="row"') if i == 0 and plain(cell) else ("td", "")
            padding = pads[i]
            shift = f' style="padding-right:{padding[at]}"' if padding and padding[at] else ""
            cells.append(f"<{tag}{scope}{_right(table.align[i], tight=i in tight)}{shift}>{_runs(cell)}</{tag}>")
        rows.append(f"<tr{' class=group' if at in groups else ''}>{''.join(cells)}</tr>")
    return f'<table class="data{_shape(table)}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'


def _shape(table: Table) -> str:
    """Return the classes of a table with few words, drawn narrower, or with many rows, which may go over a page."""
    widths = [max(len(plain(cell)) for cell in column) for column in zip(table.head, *table.rows, strict=True)]
    return (" narrow" if sum(widths) < NARROW else "") + (" long" if len(table.rows) > LONG else "")


def _group_starts(names: list[str]) -> set[int]:
    """Return the rows that start a group: rows whose name differs from that of the row before, if any name repeats."""
    starts = {at for at in range(1, len(names)) if names[at] and names[at] != names[at - 1]}
    return starts if len(starts) < len(names) - 1 else set()


def _paddings(cells: list[Runs]) -> list[str] | None:
    """Return what each figure of a column stands in from the right, so that decimal points lie below each other."""
    if any(run.kind == "reference" for cell in cells for run in cell):
        return None
    matches = [_FIGURE.match(plain(cell)) for cell in cells]
    endings = {match[3] for match in matches if match}
    if len(endings) != 1 or not all(match or not plain(cell) for match, cell in zip(matches, cells, strict=True)):
        return None
    digits = [len(match[2] or "") if match else 0 for match in matches]
    most = max(digits)
    return [
        "" if not match or have == most else f"{(most - have) * 0.6 + (0.28 if not have else 0):.2f}em"
        for match, have in zip(matches, digits, strict=True)
    ]


def _right(align: str, *, tight: bool = False) -> str:
    classes = [name for name, given in (("right", align == "right"), ("tight", tight)) if given]
    return f' class="{" ".join(classes)}"' if classes else ""


def _signatures(document: Document) -> Iterator[str]:
    yield '<div class="signatures">'
    for signatory in document.signatories:
        yield f'<div class="signature"><p class="role">{escape(signatory.role.capitalize())}</p>'
        yield f'<p class="name">{_runs((signatory.name,))}</p>'
        yield f'<p class="entity">{_runs((signatory.entity,)) if signatory.entity else ""}</p>'
        for label in ("By", "Name", "Title", "Date"):
            yield f'<p class="field"><span>{label}</span><i></i></p>'
        yield "</div>"
    yield "</div>"


def _runs(runs: Runs) -> str:
    return "".join(_run(run) for run in runs)


def _run(run: Run) -> str:
    match run.kind:
        case "defined":
            return f"<b>{escape(run.text)}</b>"
        case "blank":
            return '<span class="blank">[<i></i>]</span>'
        case "reference":
            words = escape(run.text)
            return words if run.text == UNRESOLVED else f'<a href="#{escape(run.target or "")}">{words}</a>'
        case _:
            return escape(run.text)


def _title(section: Section) -> str:
    return f"{section.label}. {section.title}" if section.label else section.title


def _part_id(section: Section) -> str:
    return f"part-{section.id}"


def _font_data(name: str, root: Path | None) -> str:
    content = ((root or templates_dir()) / "fonts" / name).read_bytes()
    return f"data:font/ttf;base64,{base64.b64encode(content).decode()}"
