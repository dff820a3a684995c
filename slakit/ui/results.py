"""What the page shows, computed by the functions that the commands call and kept by the deal's hash."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st

from schemas.deal import Deal
from slakit.load import LoadedDeal, load_deal
from slakit.paths import examples_dir
from slakit.scoring import score_deal

Progress = Callable[[int, int], None]
Score = dict[str, Any]
KEPT = 32
"""Results kept in memory; the oldest goes first."""


def example_names() -> list[str]:
    """Return the names of the example deals, as their files are called."""
    return sorted(path.stem for path in examples_dir().glob("*.yaml"))


def load(name: str) -> LoadedDeal:
    """Return one example deal."""
    return load_deal(examples_dir() / f"{name}.yaml")


class Kept:
    """Results by key, made once even when two people ask at the same time."""

    def __init__(self) -> None:
        self.results: dict[tuple[object, ...], Any] = {}
        self.makers: dict[tuple[object, ...], threading.Lock] = {}
        self.lock = threading.Lock()

    def get(self, key: tuple[object, ...], make: Callable[[], Any]) -> Any:
        """Return what is kept under `key`, or make it; who asks for another key does not wait."""
        with self.lock:
            maker = self.makers.setdefault(key, threading.Lock())
        with maker:
            if key in self.results:
                return self.results[key]
            made = make()
            with self.lock:
                self.results[key] = made
                for oldest in list(self.results)[:-KEPT]:
                    del self.results[oldest]
                    self.makers.pop(oldest, None)
            return made


@st.cache_resource(show_spinner=False)
def kept() -> Kept:
    """Return the results of this server, one store for all sessions."""
    return Kept()


def score(loaded: LoadedDeal, draws: int, progress: Progress) -> Score:
    """Return the score of a deal, the same that `slakit score` prints."""
    found: Score = kept().get(("score", loaded.sha256, draws), lambda: score_deal(loaded, draws, progress=progress))
    return found


def agreement_html(deal: Deal, sha256: str) -> str:
    """Return the drafted agreement as one page."""
    from slakit.documents.html import to_html
    from slakit.documents.tree import assemble

    found: str = kept().get(("html", sha256), lambda: to_html(assemble(deal)))
    return found


def agreement_pdf(deal: Deal, sha256: str) -> bytes:
    """Return the drafted agreement as `slakit draft` prints it."""
    from slakit.documents.draft import to_pdf
    from slakit.documents.tree import assemble

    found: bytes = kept().get(("agreement", sha256), lambda: to_pdf(assemble(deal)).content)
    return found


def memo_pdf(deal: Deal, found: Score, sha256: str) -> bytes:
    """Return the credit memo of a score; levers, stresses and the range from the inputs are left to `slakit score`."""
    from slakit.reports.credit_memo import print_memo

    key = ("memo", sha256, found.get("draws"), found.get("seed"))
    printed: bytes = kept().get(key, lambda: print_memo(deal, found).content)
    return printed


def style_sheet() -> str:
    """Return the styles of the app: fonts, tokens, and the rules of its own pieces."""
    from slakit.paths import templates_dir
    from slakit.reports import theme

    rules = Path(templates_dir() / "styles" / "app.css").read_text("utf-8")
    return f"<style>{theme.screen_fonts()}{theme.screen_properties()}{rules}</style>"
