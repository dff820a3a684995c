"""The one page of the app: an example deal's score and its contract."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import streamlit as st

from schemas.errors import DealError, MissingTermError, NotComputedError
from slakit.load import LoadedDeal
from slakit.reports import exhibits, figures, tables
from slakit.reports.answer import answer, headlines, not_computed
from slakit.reports.contract_lines import contract_lines
from slakit.reports.credit_memo.method import foot, ignored
from slakit.reports.exhibits import Exhibit
from slakit.reports.judgements import judgements
from slakit.reports.notes import for_lenders
from slakit.reports.theme import screen_palette
from slakit.scoring import DEFAULT_DRAWS
from slakit.ui import html, results

DRAWS = (1_000, DEFAULT_DRAWS, 50_000)
VIEWS = ("Score", "Contract")
PAPER_HEIGHT = 900
"""Height of the contract's frame, which scrolls inside. [px]"""


NARROW = 320
"""Width of the charts in the right column before they are scaled to it. [px]"""


def show() -> None:
    """Draw the page."""
    st.set_page_config(page_title="slakit", layout="wide", initial_sidebar_state="auto")
    st.html(results.style_sheet())
    name, draws = _sidebar()
    try:
        loaded = results.load(name)
    except DealError as error:
        st.html(html.problems(error.problems))
        return
    actions = _head(loaded)
    view = st.segmented_control(
        "View", VIEWS, default=VIEWS[0], required=True, key="view", bind="query-params", label_visibility="collapsed"
    )
    try:
        found = _scored(loaded, draws)
        _downloads(actions, loaded, found)
        if view == "Contract":
            _contract(loaded)
        else:
            _score(loaded, found)
    except DealError as error:
        st.html(html.problems(error.problems))
    except (MissingTermError, NotComputedError) as error:
        st.html(html.note(str(error)))


def _sidebar() -> tuple[str, int]:
    """Return the deal and the number of futures that are asked for."""
    names = results.example_names()
    with st.sidebar:
        name = st.selectbox("Deal", names, key="deal", bind="query-params", help="Example deals on the public record")
        draws = st.selectbox(
            "Futures",
            DRAWS,
            index=DRAWS.index(DEFAULT_DRAWS),
            format_func=figures.count,
            key="draws",
            help="More futures, smaller standard errors, longer wait",
        )
    return str(name), int(draws or DEFAULT_DRAWS)


def _head(loaded: LoadedDeal) -> st.delta_generator.DeltaGenerator:
    """Draw the line above the title and the title; return where the actions go."""
    kicker = f"Example deal, parties under neutral names · {Path(loaded.path).name}"
    st.html(html.heading(kicker, loaded.deal.title))
    return st.container(horizontal=True)


def _scored(loaded: LoadedDeal, draws: int) -> results.Score:
    """Return the score, with a bar that counts while it is made."""
    place = st.empty()

    def progress(done: int, asked: int) -> None:
        words = f"Scoring: {figures.count(done)} of {figures.count(asked)} futures."
        place.progress(done / asked, words)

    progress(0, draws)
    found = results.score(loaded, draws, progress)
    place.empty()
    return found


def _downloads(actions: st.delta_generator.DeltaGenerator, loaded: LoadedDeal, found: results.Score) -> None:
    """Draw the buttons; a document is made when its button is pressed."""
    deal, sha256 = loaded.deal, loaded.sha256
    stem = Path(loaded.path).stem
    with actions:
        st.download_button(
            "Download credit memo",
            lambda: results.memo_pdf(deal, found, sha256),
            f"{stem}-credit-memo.pdf",
            "application/pdf",
            key="memo",
            type="primary",
            on_click="ignore",
        )
        st.download_button(
            "Download agreement",
            lambda: results.agreement_pdf(deal, sha256),
            f"{stem}-agreement.pdf",
            "application/pdf",
            key="agreement",
            on_click="ignore",
        )


def _score(loaded: LoadedDeal, found: results.Score) -> None:
    """Draw the answer, its figures, the charts and the tables."""
    deal, palette = loaded.deal, screen_palette()
    st.html(html.answer(answer(found)) + html.headlines(headlines(found)))
    missing = not_computed(found)
    if missing:
        st.html(html.note(missing))
    left, right = st.columns([1.25, 1], gap="large")
    with left:
        _chart(exhibits.cover(found, palette))
        _chart(exhibits.value_and_debt(found, palette))
    with right:
        _chart(exhibits.losses(found, palette, width=NARROW))
        _chart(exhibits.endings(found, palette, width=NARROW))
        _chart(exhibits.by_month(found, palette, width=NARROW))
    parts = [html.lines("The contract in short", contract_lines(deal, found))]
    if found["delivery"]["tranches"]:
        parts.append(html.table(tables.delivery(deal, found), "Late"))
    parts.append(html.table(tables.credits(deal, found), "Expected"))
    if found.get("base_case"):
        parts.append(html.table(tables.base_case(found), "Lowest cover"))
    st.html("".join(parts))
    notes = for_lenders(ignored(deal, found))
    with st.expander(f"What is not modelled: {len(notes)} notes"):
        st.html(html.sentences(notes))
    with st.expander("Settings of the simulation"):
        st.html(html.sentences(found.get("settings", ())))
    st.html(html.foot(_foot(loaded, found)))


def _contract(loaded: LoadedDeal) -> None:
    """Draw the drafted agreement in a frame of its own, which can reach nothing of the page."""
    page = results.agreement_html(loaded.deal, loaded.sha256)
    st.html(html.note("A draft for review by counsel. Not legal advice."))
    with st.container(key="paper"):
        st.iframe(f"data:text/html;charset=utf-8,{quote(page)}", height=PAPER_HEIGHT, alt="The drafted agreement")


def _chart(found: Exhibit | None) -> None:
    """Draw a chart under its title; none where there is nothing to show."""
    if found is not None:
        st.html(html.titled(found.title, found.note))
        st.markdown(found.svg, unsafe_allow_html=True)


def _foot(loaded: LoadedDeal, found: results.Score) -> Iterator[str]:
    yield judgements(loaded.deal).sentence
    yield f"{foot(found)} ± is one standard error of the simulation."
    yield "Not a credit rating. Not investment, legal or insurance advice."
