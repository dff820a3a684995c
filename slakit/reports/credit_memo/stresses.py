"""Section 9: what each built-in stress does, on the base path and on the same futures, and every lever."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from slakit.reports import figures
from slakit.reports.causes import cause
from slakit.reports.credit_memo.levers import how_counted, lever_words, moves
from slakit.reports.credit_memo.parts import Facts, Notes, Section, sentence
from slakit.reports.tables import Table, without_blank_columns

NUMBER, TITLE = 9, "Stresses and levers"
Stress = Mapping[str, Any]
NO_DEFAULT = "no default"
"""Reason of a base path that has no month of default."""
KINDS = {
    **dict.fromkeys(
        ("customer_default", "provider_default", "cover_not_started", "cover_halved", "retrofit"), "customer"
    ),
    **dict.fromkeys(("delivery_slip", "long_stop"), "delivery"),
    **dict.fromkeys(("site_out", "clustered_outages"), "outage"),
    **dict.fromkeys(("fall_of_rent", "generation_jump"), "market"),
}
"""Stresses that are one kind."""


def section(facts: Facts) -> Section:
    """Return the section."""
    rows = facts.score.get("scenarios")
    if not rows:
        add = "make the memo with slakit score DEAL -o FILE.pdf"
        return Section(NUMBER, TITLE, f"Stresses are {figures.not_computed(add)}.", {"levers": _no_levers(facts)})
    computed = [row for row in rows[1:] if row["computed"]]
    left_out = "; ".join(f"{_inside(row['name'])} ({row['reason']})" for row in rows if not row["computed"])
    return Section(
        NUMBER,
        TITLE,
        _finding(facts, rows[0], computed),
        {
            "stresses": _table(facts, [rows[0], *computed]),
            "says": _says(computed),
            "left_out": _left_out(left_out),
            "better": _levers(facts, "better"),
            "worse": _levers(facts, "worse"),
            "pair": _pair(facts),
            "levers": _no_levers(facts),
        },
    )


def worst(score: Mapping[str, Any], most: int) -> list[tuple[str, str]]:
    """Return the stresses that add most to the expected loss, the worst of each kind, each with what it adds."""
    computed = [row for row in (score.get("scenarios") or ())[1:] if row["computed"]]
    drawn = [row for row in computed if row["draws"] and (row["draws"].get("d_el_bp") or 0.0) > 0]
    if drawn:
        drawn.sort(key=lambda row: -row["draws"]["d_el_bp"])
        return [(says(row), _moved(row["draws"])) for row in _one_of_each_kind(drawn)[:most]]
    base = [row for row in computed if row["base_case"].get("loss_bp")]
    base.sort(key=lambda row: -row["base_case"]["loss_bp"])
    return [(says(row), figures.basis_points(row["base_case"]["loss_bp"])) for row in _one_of_each_kind(base)[:most]]


def says(row: Stress) -> str:
    """Return what happens in a stress, or its name where that is not said."""
    return str(row.get("says") or row["name"])


def _one_of_each_kind(rows: Sequence[Stress]) -> list[Stress]:
    """Return the first stress of each kind; those that all begin with the same default are one kind."""
    kinds: dict[str, Stress] = {}
    for row in rows:
        name = str(row["id"])
        kinds.setdefault(KINDS.get(name, name), row)
    return list(kinds.values())


def _finding(facts: Facts, as_is: Stress, computed: Sequence[Stress]) -> str:
    if as_is["base_case"].get("default_month_reason") not in (None, NO_DEFAULT):
        return f"{len(computed)} stresses were run; without a loan none can cause a default."
    if as_is["base_case"]["default_month"] is not None:
        return f"The loan defaults in month {as_is['base_case']['default_month']} without any stress."
    fall = [row for row in computed if row["base_case"]["default_month"] is not None]
    head = f"With nothing else going wrong the loan survives {len(computed) - len(fall)} of {len(computed)} stresses."
    hardest = worst(facts.score, 1)
    return sentence(
        head,
        f"The worst adds {hardest[0][1].lstrip('+')} to the expected loss: {_inside(hardest[0][0])}."
        if hardest
        else None,
    )


def _table(facts: Facts, rows: Sequence[Stress]) -> Table:
    body = tuple((row["name"], *_of_base(row["base_case"]), *_of_draws(row["draws"])) for row in rows)
    draws = facts.score.get("manifest", {}).get("stress_draws")
    note = "Left, the base path, where nothing else goes wrong; right, the change on the same futures"
    note += f" ({figures.count(draws)}), ± paired" if draws else ", not asked"
    head = ("Stress", "Contract ends", "Lowest cover", "Default", "Loss", "Default, change", "Loss, change")
    table = Table("The deal under stress", f"{note}; loss in bp of the loan", head, body, text_columns=2)
    return without_blank_columns(table)


def _left_out(words: str) -> Notes | None:
    return Notes("Stresses that this deal has nothing for", (f"{words[:1].upper()}{words[1:]}.",)) if words else None


def _says(computed: Sequence[Stress]) -> Notes | None:
    """Return what happens in each stress."""
    said = tuple(f"{row['name']}: {_inside(row['says'])}." for row in computed if row.get("says"))
    return Notes("What happens in each", said, small=True) if said else None


def _of_base(base: Mapping[str, Any]) -> tuple[str, ...]:
    ends, loss = base["contract_ends"], base.get("loss_bp")
    return (
        f"{cause(ends['cause']).name}, month {ends['month']}" if ends else "at its term",
        figures.ratio(base["minimum_dscr"], 1) if base["minimum_dscr"] is not None else figures.UNDEFINED,
        _default(base),
        figures.basis_points(loss) if loss is not None else figures.UNDEFINED,
    )


def _default(base: Mapping[str, Any]) -> str:
    if base["default_month"] is not None:
        return f"month {base['default_month']}"
    return "none" if base.get("default_month_reason") == NO_DEFAULT else figures.UNDEFINED


def _of_draws(drawn: Mapping[str, Any] | None) -> tuple[str, str]:
    if not drawn or drawn.get("d_pd") is None:
        return figures.UNDEFINED, figures.UNDEFINED
    return figures.percentage_points_moved(drawn["d_pd"], drawn.get("d_pd_standard_error")), _moved(drawn)


def _moved(drawn: Mapping[str, Any]) -> str:
    return figures.basis_points_moved(drawn.get("d_el_bp"), drawn.get("d_el_bp_standard_error"))


def _levers(facts: Facts, direction: str) -> Table | None:
    found = (facts.score.get("moves") or {}).get(direction)
    listed = list(moves(facts.deal, facts.score, direction))
    if not found or not listed:
        return None
    rows = tuple((one.words, one.loss, one.default, one.step, str(one.section)) for one in listed)
    step, loss = found["step"], figures.basis_points(found["el_bp"])
    now = facts.score["moves"]["step"]
    title = f"What would make step {now} {direction}: {step}"
    side = "below" if direction == "better" else "from"
    note = f"Smallest move of one lever that brings the loss {side} {loss}; ± paired; step of the loss, before caps"
    note += how_counted(facts.score)
    head = ("Change", "Expected loss", "Default, term", "Step", "Section")
    return Table(title, note, head, rows)


def _pair(facts: Facts) -> Notes | None:
    found = (facts.score.get("moves") or {}).get("pair")
    if not found:
        return None
    first, second = (lever_words(facts.deal, one) for one in found["levers"])
    both = f"{first}, and {_inside(second)}"
    reach = "reach" if found["reaches"] else "do not reach"
    moved = figures.basis_points_moved(found["d_el_bp"], found.get("d_el_bp_standard_error"))
    return Notes("Two together", (f"{both}: {moved}; together they {reach} the better step.",))


def _no_levers(facts: Facts) -> Notes | None:
    found = facts.score.get("moves")
    if found is None:
        return Notes(
            "What would move the step",
            (f"It is {figures.not_computed('make the memo with slakit score, without --no-levers')}.",),
        )
    if found.get("step") is None:
        return Notes("What would move the step", (f"It is {figures.not_defined(found.get('step_reason', ''))}.",))
    return None


def _inside(name: str) -> str:
    """Return a name as it stands inside a sentence."""
    return name[:1].lower() + name[1:]
