"""Where a site's power hangs on one thing: single feeds, and the cut set that most of the downtime comes from."""

from __future__ import annotations

from dataclasses import dataclass

from risk.availability import analyse
from risk.core.setting import Setting
from schemas.topology import Site

FEEDS = (
    "utility_feed_distribution",
    "utility_feed_transmission_single",
    "utility_feed_transmission_dual",
    "service_entrance",
    "substation",
    "transformer_liquid_hv",
    "mv_switchgear",
)
"""Types of component on the way of the power from the grid to the halls."""


@dataclass(frozen=True, slots=True)
class SitePower:
    """What takes one site down."""

    site: str
    single_feed: str | None
    """Block on the way from the grid that takes the site down alone; empty without one, None without a topology."""
    greatest_cut_set: str | None
    """Blocks of the cut set with the most downtime; None where no topology says or the site is never down."""
    greatest_share: float
    """Its share of the downtime of all cut sets. [1]"""


def site_power(setting: Setting) -> tuple[SitePower, ...]:
    """Return what takes down each site at which capacity of the deal stands, in the order of tranches."""
    names: dict[str, None] = {}
    for j in range(len(setting.tranches)):
        cluster = setting.cluster_of(j)
        if cluster is not None and cluster.site is not None:
            names[cluster.site] = None
    return tuple(_power(name, setting.deal.sites[name]) for name in names)


def _power(name: str, site: Site) -> SitePower:
    """Return one site's weak points from its minimal cut sets."""
    if site.topology is None:
        return SitePower(name, None, None, 0.0)
    found = analyse(site, f"sites.{name}")
    component = {law.name: law.block.component for law in found.blocks}
    sets = found.cut_sets.sets
    alone = [s for s in sets if s.order == 1 and s.site_blocks and component[s.site_blocks[0]] in FEEDS]
    feed = max(alone, key=lambda s: s.per_hour).site_blocks[0] if alone else ""
    down = [s.alike * s.probability for s in sets]
    if not sum(down):
        return SitePower(name, feed, None, 0.0)
    worst = max(range(len(sets)), key=down.__getitem__)
    blocks = [*sets[worst].site_blocks, *(block for row in sets[worst].row_blocks for block in row)]
    return SitePower(name, feed, " with ".join(blocks), down[worst] / sum(down))
