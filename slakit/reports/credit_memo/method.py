"""Section 11: what no figure counts, the conventions, and what it takes to compute the memo again."""

from __future__ import annotations

from collections.abc import Iterator

from schemas.deal import Deal
from slakit.reports import figures
from slakit.reports.credit_memo.parts import Facts, Notes, Score, Section
from slakit.reports.notes import for_lenders
from slakit.reports.tables import Table

NUMBER, TITLE = 11, "What is not modelled, and how this was computed"
ADVICE = (
    "Not a credit rating. Not legal, investment or insurance advice. The figures are estimates of a model; ± is one "
    "standard error of the simulation and says nothing of doubt in the inputs."
)


def section(facts: Facts) -> Section:
    """Return the section."""
    notes = for_lenders(ignored(facts.deal, facts.score))
    return Section(
        NUMBER,
        TITLE,
        f"{len(notes)} things are left out of every figure here; those a lender asks about first stand first.",
        {
            "ignored": Notes("Not modelled", tuple(notes), small=True),
            "settings": Notes("Conventions", tuple(_settings(facts)), small=True),
            "manifest": _manifest(facts),
            "advice": Notes("What this is not", (ADVICE,)),
        },
    )


def ignored(deal: Deal, score: Score) -> Iterator[str]:
    """Yield what no figure counts, in words."""
    notes = score.get("ignored", ())
    yield from notes
    if deal.backstop is not None and "backstop" not in score and not any(note.startswith("Backstop") for note in notes):
        yield "Backstop: typed in the deal file and not simulated; no payment under it is counted."


def foot(score: Score) -> str:
    """Return what the figures were computed from, on one line."""
    manifest = score.get("manifest", {})
    sha256, seed = str(manifest.get("deal_sha256", ""))[:8], manifest.get("seed", score.get("seed"))
    draws = manifest.get("draws", score.get("draws"))
    outer = manifest.get("outer")
    sets = f", {figures.count(outer)} sets of inputs" if outer else ""
    return f"Deal {sha256}, seed {seed}, {figures.count(draws)} futures{sets}, slakit {slakit_version(score)}."


def slakit_version(score: Score) -> str:
    """Return the version that computed the score."""
    return str(score.get("manifest", {}).get("versions", {}).get("slakit", ""))


def _settings(facts: Facts) -> Iterator[str]:
    score = facts.score
    yield (
        f"One joint simulation of {figures.count(score['draws'])} futures over {figures.months(score['months'])} from "
        "close: delivery, outages, credits, the market, exits, defaults, cover and cash in the same future."
    )
    yield from score.get("settings", ())
    prescribed = score.get("prescribed", ())
    if prescribed:
        yield f"Prescribed by the deal file instead of modelled: {', '.join(map(figures.in_words, prescribed))}."


def _manifest(facts: Facts) -> Table:
    """Return what the memo was computed from, whole, and the command that computes it again."""
    manifest = facts.score.get("manifest", {})
    versions = dict(manifest.get("versions", {}))
    rows = [
        ("Deal, SHA-256", str(manifest.get("deal_sha256") or "not computed: no manifest")),
        ("Deal file, SHA-256", str(manifest.get("file_sha256") or "not computed: no manifest")),
        ("Data of slakit, SHA-256", str(manifest.get("data_sha256") or "not computed: no manifest")),
        ("Newest source", _day(manifest.get("data_as_of"))),
        ("Seed", str(manifest.get("seed", facts.score.get("seed")))),
        ("Futures", figures.count(facts.score["draws"])),
        *_asked(facts),
        (
            "Versions",
            ", ".join(f"{name} {version}" for name, version in versions.items()) or "not computed: no manifest",
        ),
        ("Again", "slakit verify, on this PDF: it holds the deal file, and the figures are computed anew and compared"),
    ]
    return Table("What it takes to compute this again", "", ("Entry", "Value"), tuple(rows), text_columns=2)


def _asked(facts: Facts) -> Iterator[tuple[str, str]]:
    asked, found = facts.score.get("manifest", {}), facts.score.get("parameters")
    if found:
        yield (
            "Sets of inputs",
            f"{figures.count(found['outer_draws'])}, of {figures.count(found['inner_draws'])} futures each",
        )
    else:
        yield "Sets of inputs", "not asked"
    for key, words in (("stress_draws", "Futures of each stress"), ("lever_draws", "Futures of each lever")):
        yield words, figures.count(asked[key]) if asked.get(key) else "not asked"


def _day(text: str | None) -> str:
    from datetime import date

    return figures.date_short(date.fromisoformat(text)) if text else "the deal names no source"
