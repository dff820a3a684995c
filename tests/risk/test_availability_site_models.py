"""Two whole sites, component by component, against exact answers of a separate program and its simulation."""

import pytest

from risk.availability import analyse
from schemas.topology import Site


def sourced(value, unit):
    return {"value": value, "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "reference case"}


class Plan:
    """A site drawn as components with their sources, turned into blocks."""

    def __init__(self):
        self.blocks = {}

    def component(self, name, failures_per_year, repair_hours, *sources):
        """A component that delivers while it works and, for each group of sources, at least one delivers."""
        self.blocks[f"{name}-itself"] = {
            "component": "ats",
            "failures_per_year": sourced(failures_per_year, "1/year"),
            "repair_hours": sourced(repair_hours, "h"),
        }
        needs = [f"{name}-itself"]
        for i, group in enumerate(sources):
            if len(group) == 1:
                needs.append(group[0])
            else:
                self.blocks[f"{name}-in{i}"] = {"any_of": list(group)}
                needs.append(f"{name}-in{i}")
        self.blocks[name] = {"all_of": needs}

    def group(self, name, at_least, parts):
        self.blocks[name] = {"at_least": at_least, "of": list(parts)}

    def site(self, rows, at_least):
        self.group("enough", at_least, rows)
        topology = {"blocks": self.blocks, "rows": {"count": 1, "up_when": "enough"}}
        return Site.model_validate({"name": "Site", "place": "Somewhere", "topology": topology})


def concurrently_maintainable(at_least):
    """One utility, four generators, three UPS blocks shared by twelve air-cooled rows."""
    plan = Plan()
    plan.component("util", 1.333, 4.28)
    plan.component("se", 0.01, 8, ["util"])
    for i in range(1, 5):
        plan.component(f"g{i}", 1.25, 100)
    plan.group("gens", 3, [f"g{i}" for i in range(1, 5)])
    plan.component("genbus", 0.00515, 24, ["gens"])
    for s in "ab":
        plan.component(f"mv-{s}", 0.00515, 24, ["se"])
        plan.component(f"tx-{s}", 0.0062, 341.7, [f"mv-{s}"])
        plan.component(f"ats-{s}", 0.005, 5, [f"tx-{s}", "genbus"])
        plan.component(f"lvb-{s}", 0.00515, 7.3, [f"ats-{s}"])
        plan.component(f"mb-{s}", 0.00515, 7.3, [f"lvb-{s}"])
    for s, feeds in {"a": ["lvb-a"], "b": ["lvb-b"], "c": ["lvb-a", "lvb-b"]}.items():
        plan.component(f"ups-{s}", 0.05, 8, feeds)
        plan.component(f"out-{s}", 0.00515, 7.3, [f"ups-{s}"])
    both = ["mb-a", "mb-b"]
    for i in range(1, 5):
        plan.component(f"ch{i}", 0.339, 24, both)
        plan.component(f"p{i}", 0.0498, 8, both)
    for i in range(1, 8):
        plan.component(f"crah{i}", 0.0229, 4, both)
    for i in (1, 2):
        plan.component(f"pipe{i}", 0.005, 24)
        plan.component(f"plc{i}", 0.03, 4, ["out-a", "out-b"])
        plan.component(f"car{i}", 1.0, 4)
    for i in (1, 2):
        plan.component(f"rt{i}", 0.15, 2, ["car1", "car2"], ["out-a", "out-b"])
    for i in range(1, 5):
        plan.component(f"sp{i}", 0.081, 2, ["rt1", "rt2"], ["out-a", "out-c"])
    plan.group("chillers", 3, [f"ch{i}" for i in range(1, 5)])
    plan.group("pumps", 3, [f"p{i}" for i in range(1, 5)])
    plan.group("pipes", 1, ["pipe1", "pipe2"])
    plan.group("plcs", 1, ["plc1", "plc2"])
    plan.group("crahs", 6, [f"crah{i}" for i in range(1, 8)])
    plan.group("spines", 3, [f"sp{i}" for i in range(1, 5)])
    rows = []
    for row in range(1, 13):
        feeds = ("ab", "bc", "ca")[(row - 1) // 4]
        for i, s in enumerate(feeds, start=1):
            plan.component(f"rpp{row}-{i}", 0.004, 4, [f"out-{s}"])
            plan.component(f"leaf{row}-{i}", 0.081, 0.5, [f"rpp{row}-{i}"], ["spines"])
        plan.group(f"power{row}", 1, [f"rpp{row}-1", f"rpp{row}-2"])
        plan.group(f"network{row}", 1, [f"leaf{row}-1", f"leaf{row}-2"])
        cooling = ["chillers", "pumps", "pipes", "plcs", "crahs"]
        plan.blocks[f"row{row}"] = {"all_of": [f"power{row}", f"network{row}", *cooling]}
        rows.append(f"row{row}")
    return plan.site(rows, at_least)


def converted_mine(at_least):
    """One feed, no generators, four substations of five rows, evaporative cooling."""
    plan = Plan()
    plan.component("util", 1.333, 4.28)
    plan.component("hvtx", 0.0169, 720, ["util"])
    plan.component("mvb", 0.00515, 24, ["hvtx"])
    plan.component("nups", 0.05, 8)
    plan.component("car1", 1.0, 4)
    plan.component("rt1", 0.15, 4, ["car1"], ["nups"])
    for i in (1, 2):
        plan.component(f"sp{i}", 0.081, 4, ["rt1"], ["nups"])
    plan.group("spines", 1, ["sp1", "sp2"])
    plan.component("water", 0.1, 8)
    plan.component("plc", 0.03, 4, ["nups"])
    for i in range(1, 5):
        plan.component(f"tx{i}", 0.0062, 341.7, ["mvb"])
        plan.component(f"lvb{i}", 0.00515, 7.3, [f"tx{i}"])
        plan.component(f"evap{i}", 0.1, 8, [f"lvb{i}"], ["water"], ["plc"])
    rows = []
    for row in range(1, 21):
        station = (row - 1) // 5 + 1
        plan.component(f"cb{row}", 0.0052, 5.8, [f"lvb{station}"])
        fans = [f"f{row}-{i}" for i in range(1, 9)]
        for fan in fans:
            plan.component(fan, 0.0283, 4, [f"cb{row}"], [f"evap{station}"])
        plan.group(f"fans{row}", 7, fans)
        plan.component(f"leaf{row}", 0.081, 4, [f"cb{row}"], ["spines"])
        plan.blocks[f"row{row}"] = {"all_of": [f"cb{row}", f"fans{row}", f"leaf{row}"]}
        rows.append(f"row{row}")
    return plan.site(rows, at_least)


@pytest.mark.parametrize(
    ("build", "at_least", "unavailability", "outages_per_year", "mean_outage_hours"),
    [
        (concurrently_maintainable, 12, 6.182908789472784e-06, 0.0066182834765997275, 8.18373543340705),
        (concurrently_maintainable, 11, 6.173910388986252e-06, 0.006483535121736096, 8.34166145351853),
        (converted_mine, 20, 0.004875386830598855, 4.831196189077794, 8.840127157866133),
        (converted_mine, 18, 0.004070339811089443, 3.117714451431486, 11.436639660432062),
    ],
)
def test_a_whole_site_agrees_with_a_separate_exact_program(
    build, at_least, unavailability, outages_per_year, mean_outage_hours
):
    result = analyse(build(at_least))
    assert result.unavailability == pytest.approx(unavailability, rel=1e-9)
    assert result.outages_per_year == pytest.approx(outages_per_year, rel=1e-9)
    assert result.mean_outage_hours == pytest.approx(mean_outage_hours, rel=1e-9)


def test_the_weakest_parts_are_those_the_separate_program_names():
    shares = {
        item.block: item.outage_share * 0.0066182834765997275
        for item in analyse(concurrently_maintainable(12)).importance
    }
    known = {"util-itself": 0.00157122, "ch1-itself": 0.00094105, "car1-itself": 0.0004562, "g1-itself": 3.338e-05}
    for name, per_year in known.items():
        assert shares[name] == pytest.approx(per_year, rel=1e-4)
