"""Pieces of a page as HTML: our own words and class names; everything typed is escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from schemas.errors import Problem
from slakit.reports import figures
from slakit.reports.answer import Answer, Headline
from slakit.reports.tables import Table


def heading(kicker: str, title: str) -> str:
    """Return the line above the title, and the title."""
    return f'<div class="sk-head"><p class="sk-kicker">{escape(kicker)}</p><h1>{escape(title)}</h1></div>'


def answer(found: Answer) -> str:
    """Return the answer and what follows from it."""
    detail = f"<p>{escape(found.detail)}</p>" if found.detail else ""
    return f'<section class="sk-answer"><p class="sk-headline">{escape(found.headline)}</p>{detail}</section>'


def headlines(found: Iterable[Headline]) -> str:
    """Return the figures under the answer."""
    items = "".join(
        f'<div><dt>{escape(one.label)}</dt><dd><span class="sk-value">{escape(one.value)}</span>'
        f'<span class="sk-note">{escape(one.note)}</span></dd></div>'
        for one in found
    )
    return f'<dl class="sk-figs">{items}</dl>'


def titled(title: str, note: str = "") -> str:
    """Return the title of a chart or a table with its second line."""
    second = f"<p>{escape(note)}</p>" if note else ""
    return f'<div class="sk-title"><h2>{escape(title)}</h2>{second}</div>'


def table(found: Table, deciding: str) -> str:
    """Return a table; a narrow screen keeps each row's name and the `deciding` column, the rest below the name."""
    kept = found.head.index(deciding)
    rest = [i for i in range(1, len(found.head)) if i != kept]

    def classes(column: int) -> str:
        names = ["sk-words"] if column < found.text_columns else []
        names += ["sk-more"] if column in rest else []
        return f' class="{" ".join(names)}"' if names else ""

    def row(cells: Sequence[str], *, folds: bool) -> str:
        below = " · ".join(
            f"{_inside(found.head[i])} {cells[i]}" for i in rest if cells[i] not in ("", figures.UNDEFINED)
        )
        fold = f'<span class="sk-rest">{escape(below)}</span>' if folds and below else ""
        first = f'<th scope="row" class="sk-words">{escape(cells[0])}{fold}</th>'
        others = "".join(f"<td{classes(i)}>{escape(words)}</td>" for i, words in enumerate(cells) if i)
        return f"<tr>{first}{others}</tr>"

    head = "".join(f'<th scope="col"{classes(i)}>{escape(words)}</th>' for i, words in enumerate(found.head))
    body = "".join(row(cells, folds=True) for cells in found.rows)
    foot = f"<tfoot>{row(found.total, folds=False)}</tfoot>" if found.total else ""
    more = f'<p class="sk-kicker">{escape(found.rest)}</p>' if found.rest else ""
    return (
        f'{titled(found.title)}<div class="sk-wide" role="region" tabindex="0" aria-label="{escape(found.title)}">'
        f'<table class="sk-table sk-folds"><caption>{escape(found.note)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>{foot}</table></div>{more}"
    )


def lines(title: str, found: Iterable[tuple[str, str]]) -> str:
    """Return labelled lines of words."""
    rows = "".join(
        f'<tr><th scope="row" class="sk-words sk-label">{escape(label)}</th>'
        f'<td class="sk-words">{escape(words)}</td></tr>'
        for label, words in found
    )
    return f'{titled(title)}<table class="sk-table"><tbody>{rows}</tbody></table>'


def sentences(found: Iterable[str]) -> str:
    """Return sentences, a paragraph each."""
    return f'<div class="sk-notes">{"".join(f"<p>{escape(words)}</p>" for words in found)}</div>'


def note(words: str) -> str:
    """Return a bar that says what is missing."""
    return f'<div class="sk-bar sk-bar-note" role="note"><p>{escape(words)}</p></div>'


def problems(found: Iterable[Problem]) -> str:
    """Return everything wrong at once: where, what was found, what was expected, what to do."""
    items = "".join(f"<p>{escape(str(problem))}</p>" for problem in found)
    return f'<div class="sk-bar" role="alert">{items}</div>'


def _inside(name: str) -> str:
    """Return the name of a column as it stands inside a line; abbreviations stay as they are."""
    return name if name[1:2].isupper() or name[1:2].isdigit() else name[:1].lower() + name[1:]


def foot(sentences: Iterable[str]) -> str:
    """Return what the page was computed from."""
    return f'<footer class="sk-foot">{"".join(f"<p>{escape(words)}</p>" for words in sentences)}</footer>'
