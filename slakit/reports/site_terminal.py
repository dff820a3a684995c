"""The redundancy of sites in the terminal: how available, how often down, for how long, and what is weakest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from slakit.reports import figures
from slakit.reports.rounding import NBSP
from slakit.reports.tables import Table
from slakit.reports.terminal import print_line, print_list, print_table

if TYPE_CHECKING:
    from rich.console import Console

Site = Mapping[str, Any]
Report = Mapping[str, Any]
LISTED = 6
"""Cut sets and quantiles shown; the JSON holds all."""


def show(console: Console, report: Report) -> None:
    """Print the report of `slakit site`."""
    groups = alike(report["sites"])
    console.print()
    for sites in groups:
        print_line(console, answer(sites), style="bold")
    known = [sites for sites in groups if sites[0]["availability"] is not None]
    if known:
        print_table(console, _overview(known))
    for sites in known:
        for table in _tables(sites):
            print_table(console, table)
    print_list(console, "Not modelled", _notes(known))


def alike(sites: Sequence[Site]) -> list[list[Site]]:
    """Return the sites in groups that differ in nothing but their name."""
    groups: list[list[Site]] = []
    for site in sites:
        for group in groups:
            if _unnamed(group[0]) == _unnamed(site):
                group.append(site)
                break
        else:
            groups.append([site])
    return groups


def answer(sites: Sequence[Site]) -> str:
    """Return the sentence that answers for one site, or for sites that are alike."""
    first, names = sites[0], _names(sites)
    if first["availability"] is None:
        verb = "are" if len(sites) > 1 else "is"
        return f"{names} {verb} not computed: {first['availability_reason']}."
    each = "are each" if len(sites) > 1 else "is"
    if first["mean_outage_hours"] is None:
        return f"{names} {each} never down in this model."
    rest = first.get("restart_hours") or 0.0
    restart = f" and {figures.hours(rest)} more to restart" if rest else ""
    rate = figures.per_year(first["outages_per_year"])
    often = rate.replace("one in", "once in") if "one in" in rate else rate.replace(" a", " times a")
    weakest = first["minimal_cut_sets"][0] if first["minimal_cut_sets"] else None
    cause = ""
    if weakest:
        titles = {item["block"]: item["component"] for item in first["importance"]}
        cause = (
            f" The weak point is {_members(weakest, titles)}: {figures.percent_in_words(weakest['share'])} of outages."
        )
    return (
        f"{names} {each} available {figures.availability(first['service_availability'])} of the time: down {often}, "
        f"{figures.hours(first['mean_outage_hours'])} on average{restart}.{cause}"
    )


def _overview(groups: Sequence[Sequence[Site]]) -> Table:
    rows = []
    for sites in groups:
        first = sites[0]
        rows.append(
            (
                _names(sites),
                f"{first['rows_needed']} of {first['rows']}",
                figures.availability(first["availability"]),
                figures.availability(first["service_availability"]),
                figures.per_year(first["outages_per_year"]),
                figures.hours(first["mean_outage_hours"]),
                figures.percent(first["probability_of_outage_in_a_year"]),
            )
        )
    return Table(
        "Sites",
        "Exact for the graph of the deal file; a site counts as up while the rows it needs are served",
        ("Site", "Rows needed", "Available", "With restart", "Outages", "Mean outage", "Outage in a year"),
        tuple(rows),
        may_drop=("Outage in a year", "Rows needed"),
    )


def _tables(sites: Sequence[Site]) -> Iterator[Table]:
    """Yield what brings a site down and how long a month's downtime is."""
    first, name = sites[0], _names(sites)
    cuts, highest = first["minimal_cut_sets"], first["minimal_cut_sets_highest_order"]
    if cuts:
        rows = tuple(
            (
                _members(cut),
                str(cut["order"]),
                figures.percent(cut["share"]),
                figures.per_year(cut["outages_per_year"]),
                figures.hours(cut["mean_hours"]),
            )
            for cut in cuts[:LISTED]
        )
        others = len(cuts) - len(rows) + first["minimal_cut_sets_left_out"]["forms"]
        share = sum(cut["share"] for cut in cuts[LISTED:]) + first["minimal_cut_sets_left_out"]["share"]
        yield Table(
            f"What brings {name} down",
            f"Smallest sets of components whose failure together is an outage, up to {highest} in a set",
            ("Together down", "Components", "Share of outages", "Outages", "Mean length"),
            rows,
            rest=f"{figures.count(others)} others, together {figures.percent(share)} of outages" if others else None,
            may_drop=("Components",),
        )
    month = first.get("monthly_downtime_hours")
    if month:
        shown = [entry for entry in month["exceeded"] if entry["probability"] > 0][:LISTED]
        yield Table(
            f"Downtime of {name} in one month",
            f"Share of months with more; mean {figures.hours(month['mean'])}",
            ("More than", "Months"),
            tuple((figures.hours(entry["hours"]), figures.percent(entry["probability"])) for entry in shown),
        )


def _members(cut: Mapping[str, Any], titles: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return the blocks of a cut set, with what they are where their titles are given."""
    parts = [f"{name} ({_inside(titles[name])})" if name in titles else name for name in cut["blocks"]]
    parts += [f"{' and '.join(row)} of one row" for row in cut["row_blocks"]]
    words = " with ".join(parts)
    return f"{words}, any of {figures.count(cut['alike'])} alike" if cut["alike"] > 1 else words


def _inside(title: str) -> str:
    """Return a title as it stands inside a sentence; an abbreviation such as UPS keeps its capitals."""
    return title if title[1:2].isupper() else title[:1].lower() + title[1:]


def _names(sites: Sequence[Site]) -> str:
    """Return the names of sites; many that are alike by their ids."""
    if len(sites) == 1:
        return str(sites[0].get("name") or sites[0]["id"])
    ids = [str(site["id"]) for site in sites]
    return f"{', '.join(ids[:-1])} and{NBSP}{ids[-1]}"


def _unnamed(site: Site) -> dict[str, Any]:
    return {key: value for key, value in site.items() if key not in ("id", "name")}


def _notes(groups: Sequence[Sequence[Site]]) -> list[str]:
    """Return what the models leave out, each sentence once; one that is not said of all sites says of which."""
    said: dict[str, list[str]] = {}
    for sites in groups:
        for sentence in dict.fromkeys(sites[0]["ignores"]):
            said.setdefault(sentence, []).append(_names(sites))
    return [
        sentence if len(names) == len(groups) else f"{' and '.join(names)}: {sentence}"
        for sentence, names in said.items()
    ]
