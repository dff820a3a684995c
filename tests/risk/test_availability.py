"""Sites against closed forms, published answers and brute force over every state of every component."""

from decimal import Decimal
from functools import cache
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from risk.availability import analyse, site_report
from risk.availability.blocks import block_law
from risk.availability.exact import site_values
from risk.availability.structure import row_diagram
from schemas.deal import Deal
from schemas.errors import MissingTermError, NotComputedError
from schemas.topology import AllOf, AnyOf, AtLeast, ComponentBlock, Site, Topology


def sourced(value, unit):
    return {"value": value, "unit": unit, "as_of": "2026-11-30", "kind": "judgement", "rationale": "reference case"}


def block(mtbf_hours, repair_hours, count=1, needed=None, per="site", system="power"):
    return {
        "component": "ats",
        "count": count,
        "needed": needed,
        "per": per,
        "system": system,
        "failures_per_year": sourced(Decimal(8760) / Decimal(repr(mtbf_hours)), "1/year"),
        "repair_hours": sourced(Decimal(repr(repair_hours)), "h"),
    }


def with_probability(q, repair_hours=10, **more):
    """A block that is down with probability q."""
    return block(float(repair_hours) * (1 - q) / q, repair_hours, **more)


def site(blocks, up_when, rows=1, spare_rows=0, **more):
    topology = {"blocks": blocks, "rows": {"count": rows, "up_when": up_when}}
    return Site.model_validate(
        {"name": "Site", "place": "Somewhere", "spare_rows": spare_rows, "topology": topology, **more}
    )


def strings(names, pdu):
    parts = {"ats": (87600, 6), "tx": (350000, 40), "msb": (280000, 24), "ups": (50000, 8)}
    if pdu:
        parts["pdu"] = (120000, 6)
    found = {}
    for name in names:
        for part, (mtbf, repair) in parts.items():
            found[f"{part}-{name}"] = block(mtbf, repair)
    return found, list(parts)


def supply():
    return {
        "utilities": block(4471, 2.0, 2, 1),
        "generators": block(1700, 20, 3, 2),
        "supply": {"any_of": ["utilities", "generators"]},
    }


def site_of_twenty():
    blocks, parts = strings("ab", pdu=True)
    blocks |= supply()
    for name in "ab":
        blocks[f"string-{name}"] = {"all_of": [f"{part}-{name}" for part in parts]}
    blocks |= {
        "strings": {"any_of": ["string-a", "string-b"]},
        "chillers": block(9000, 24, 3, 2, system="cooling"),
        "pumps": block(20000, 12, 2, 1, system="cooling"),
        "served": {"all_of": ["supply", "strings", "chillers", "pumps"]},
    }
    return site(blocks, "served")


def site_of_rows(rows, **more):
    blocks, parts = strings("ab", pdu=False)
    blocks |= supply()
    for name in "ab":
        blocks[f"string-{name}"] = {"all_of": ["supply", *(f"{part}-{name}" for part in parts)]}
        blocks[f"rpp-{name}"] = block(120000, 6, per="row")
        blocks[f"feed-{name}"] = {"all_of": [f"string-{name}", f"rpp-{name}"]}
    blocks |= {
        "busway": block(200000, 4, per="row"),
        "feeds": {"any_of": ["feed-a", "feed-b"]},
        "row": {"all_of": ["busway", "feeds"]},
    }
    return site(blocks, "row", rows=rows, **more)


# --- blocks: k of n with a repairer each -----------------------------------------------------------------------


def test_one_unit_is_the_textbook_formula():
    # Billinton and Allan: U = r / (m + r), frequency = 1 / (m + r)
    result = analyse(site({"unit": block(50000, 8)}, "unit"))
    assert result.unavailability == pytest.approx(0.00015997440409534476, rel=1e-12)
    assert result.outages_per_year / 8760 == pytest.approx(1.9996800511918095e-05, rel=1e-12)


def test_two_in_parallel_is_the_textbook_formula():
    result = analyse(site({"units": block(50000, 8, 2, 1)}, "units"))
    assert result.unavailability == pytest.approx(2.559180996566066e-08, rel=1e-9)
    assert result.outages_per_year / 8760 == pytest.approx(6.397952491415165e-09, rel=1e-9)
    assert result.mean_outage_hours == pytest.approx(4.0, rel=1e-9)


@pytest.mark.parametrize(("needed", "count"), [(1, 1), (2, 3), (3, 4), (5, 6), (8, 10), (1, 7), (7, 7), (40, 64)])
def test_k_of_n_is_the_stationary_law_of_its_birth_death_chain(needed, count):
    rate, repair = 0.0005, 20.0
    weights = [1.0]
    for down in range(count):
        weights.append(weights[-1] * (count - down) * rate / ((down + 1) / repair))
    law = np.array(weights) / sum(weights)
    found = block_law("units", ComponentBlock.model_validate(block(1 / rate, repair, count, needed)))
    assert found.order == count - needed + 1
    assert found.down == pytest.approx(law[found.order :].sum(), rel=1e-9)
    assert found.per_hour == pytest.approx(law[found.order - 1] * needed * rate, rel=1e-9)


def test_data_files_give_rates_that_the_deal_leaves_out():
    result = analyse(site({"feed": {"component": "utility_feed_distribution"}}, "feed"))
    assert result.outages_per_year == pytest.approx(1.333 / (1 + 1.333 * 4.28 / 8760), rel=1e-12)
    assert result.mean_outage_hours == pytest.approx(4.28, rel=1e-12)


# --- sites with known answers ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def twenty():
    return analyse(site_of_twenty())


def test_a_site_of_twenty_components_has_the_known_availability_and_frequency(twenty):
    # two exact programs and a simulation agreed on these figures
    assert twenty.unavailability == pytest.approx(2.1770841967860832e-05, rel=1e-9)
    assert twenty.outages_per_year == pytest.approx(0.016361939836954116, rel=1e-9)
    assert twenty.mean_outage_hours == pytest.approx(11.655865841037501, rel=1e-9)


def test_its_outage_lengths_follow_the_known_law(twenty):
    known = {
        0.1: 0.9910997425973304,
        0.5: 0.9563619682032557,
        1.0: 0.9148049259271397,
        2.0: 0.8374618596130201,
        4.0: 0.7030489047659169,
        8.0: 0.4979492977011011,
        12.0: 0.35420418865049114,
        24.0: 0.12909957281068923,
        48.0: 0.017479292171687158,
    }
    found = twenty.lengths.survival(np.array(list(known)) * 60)
    assert found == pytest.approx(list(known.values()), rel=3e-3)  # the law is an approximation, best where it matters


def test_its_months_follow_the_simulated_law(twenty):
    # 576 million simulated months of 730 hours, tolerance one in a hundred
    known = {0.0: 0.0013778, 0.5: 0.0013167, 1.0: 0.0012586, 4.0: 0.0009642, 8.0: 0.0006803, 24.0: 0.0001733}
    found = dict(twenty.monthly_downtime.exceeded)
    for hours, probability in known.items():
        assert found[hours] == pytest.approx(probability, rel=0.01)
    assert twenty.monthly_downtime.mean == pytest.approx(730 * 2.1770841967860832e-05, rel=1e-6)
    assert dict(twenty.monthly_downtime.quantiles)[0.99] == 0.0


def test_its_cut_sets_add_up_to_its_outages(twenty):
    sets = twenty.cut_sets.sets
    assert (sets[0].site_blocks, sets[0].order, sets[0].alike) == (("chillers",), 2, 1)
    assert sets[0].probability == pytest.approx(3 * (24 / 9024) ** 2 * (9000 / 9024) + (24 / 9024) ** 3)
    assert sum(twenty.cut_sets.shares()) == pytest.approx(1)
    assert 1 <= twenty.cut_set_coverage < 1.0001
    pair = next(s for s in sets if set(s.site_blocks) == {"ups-a", "ups-b"})
    assert pair.mean_hours == pytest.approx(4.0)
    assert {frozenset(s.site_blocks) for s in sets} == {
        frozenset({"chillers"}),
        frozenset({"pumps"}),
        frozenset({"utilities", "generators"}),
        *(frozenset({f"{a}-a", f"{b}-b"}) for a, b in product(("ats", "tx", "msb", "ups", "pdu"), repeat=2)),
    }


@pytest.mark.parametrize(
    ("rows", "any_down", "all_down"),
    [
        (4, 8.036080349282937e-05, 1.8358648279388776e-07),
        (64, 0.0012822438441093542, 1.8358648279370726e-07),
        (640, 0.0127466882474212, 1.8358648279370726e-07),
    ],
)
def test_rows_behind_two_strings_have_the_known_capacity(rows, any_down, all_down):
    result = analyse(site_of_rows(rows))
    assert result.unavailability == pytest.approx(any_down, rel=1e-8)
    assert result.capacity_states[0].fraction == 0.0
    assert result.capacity_states[0].probability == pytest.approx(all_down, rel=1e-8)
    assert result.capacity_states[-1].probability == pytest.approx(1 - any_down, rel=1e-12)
    assert sum(state.probability for state in result.capacity_states) == pytest.approx(1, rel=1e-12)
    mean = sum(state.fraction * state.probability for state in result.capacity_states)
    assert result.expected_rows_served == pytest.approx(mean, rel=1e-12)


def test_spare_rows_move_the_border_of_being_down():
    states = {s.fraction: s.probability for s in analyse(site_of_rows(64)).capacity_states}
    result = analyse(site_of_rows(64, spare_rows=2))
    assert result.rows_needed == 62
    assert result.unavailability == pytest.approx(
        sum(p for fraction, p in states.items() if fraction < 62 / 64), rel=1e-8
    )


def test_like_rows_are_counted_once_in_the_cut_sets():
    result = analyse(site_of_rows(64))
    busway = next(s for s in result.cut_sets.sets if s.row_blocks == (("busway",),))
    assert (busway.order, busway.alike) == (1, 64)
    one_spare = analyse(site_of_rows(64, spare_rows=1))
    pair = next(s for s in one_spare.cut_sets.sets if s.row_blocks == (("busway",), ("busway",)))
    assert (pair.order, pair.alike, pair.site_blocks) == (2, 64 * 63 // 2, ())
    assert pair.mean_hours == pytest.approx(2.0)


def test_a_bridge_of_five_edges_has_the_known_reliability_and_cut_sets():
    # R = 2p2 + 2p3 - 5p4 + 2p5 = 0.97848 at p = 0.9; four minimal cuts
    edges = {name: with_probability(0.1) for name in "abcde"}
    paths = {"p1": "ad", "p2": "be", "p3": "ace", "p4": "bcd"}
    edges |= {name: {"all_of": list(path)} for name, path in paths.items()}
    result = analyse(site(edges | {"bridge": {"any_of": list(paths)}}, "bridge"))
    assert result.availability == pytest.approx(0.97848, rel=1e-12)
    found = {"".join(sorted(s.site_blocks)) for s in result.cut_sets.sets}
    assert found == {"ab", "de", "ace", "bcd"}


def test_importance_is_as_defined_in_the_textbook():
    # the site is down when a is, or b and c together: q = 0.01, 0.02, 0.05
    blocks = {"a": with_probability(0.01), "b": with_probability(0.02), "c": with_probability(0.05)}
    blocks |= {"bc": {"any_of": ["b", "c"]}, "both": {"all_of": ["a", "bc"]}}
    result = analyse(site(blocks, "both"))
    assert result.unavailability == pytest.approx(0.01099, rel=1e-12)
    found = {item.block: item for item in result.importance}
    birnbaum = {"a": 0.999, "b": 0.0495, "c": 0.0198}
    worth = {"a": 90.9918107370332, "b": 5.414012738853476, "c": 2.711555959963594}
    gone = {"a": 0.9090081892629618, "b": 0.09008189262966287, "c": 0.0900818926296629}
    for name, item in found.items():
        assert item.birnbaum == pytest.approx(birnbaum[name], rel=1e-12)
        assert item.risk_achievement_worth == pytest.approx(worth[name], rel=1e-12)
        assert item.fussell_vesely == pytest.approx(gone[name], rel=1e-12)
    assert sum(item.outage_share for item in found.values()) == pytest.approx(1)


def test_restart_is_added_to_service_and_not_to_supply():
    result = analyse(site({"unit": block(1000, 8)}, "unit", restart_hours=sourced(4, "h")))
    assert result.mean_outage_hours == pytest.approx(8)
    assert result.restart_hours == 4
    assert result.availability == pytest.approx(1000 / 1008)
    assert result.service_availability == pytest.approx(1000 / 1012)
    assert result.monthly_downtime.mean == pytest.approx(730 * 12 / 1012)


def test_a_site_that_cannot_fail_says_so_and_divides_by_nothing():
    never = {**block(1, 1), "failures_per_year": sourced(0, "1/year")}
    result = analyse(site({"unit": never}, "unit"))
    assert (result.availability, result.outages_per_year, result.mean_outage_hours) == (1.0, 0.0, None)
    [item] = result.importance
    assert (item.fussell_vesely, item.risk_achievement_worth, item.outage_share) == (None, None, None)
    assert item.reason == "the site is never down in this model"
    assert result.monthly_downtime.mean == 0


# --- brute force -----------------------------------------------------------------------------------------------


def works(topology, name, state):
    match topology.blocks[name]:
        case AllOf(all_of=parts):
            return all(works(topology, part, state) for part in parts)
        case AnyOf(any_of=parts):
            return any(works(topology, part, state) for part in parts)
        case AtLeast(at_least=least, of=parts):
            return sum(works(topology, part, state) for part in parts) >= least
    return state[name]


@st.composite
def small_sites(draw):
    leaves = [f"c{i}" for i in range(draw(st.integers(2, 5)))]
    blocks = {}
    for name in leaves:
        count = draw(st.integers(1, 3))
        blocks[name] = block(
            draw(st.floats(2000, 50_000)),
            draw(st.floats(10, 5000)),
            count=count,
            needed=draw(st.integers(1, count)),
            per=draw(st.sampled_from(["site", "row"])),
        )
    names = list(leaves)
    for i in range(draw(st.integers(1, 4))):
        parts = draw(st.lists(st.sampled_from(names), min_size=2, max_size=4, unique=True))
        kind = draw(st.sampled_from(["all_of", "any_of", "at_least"]))
        if kind == "at_least":
            blocks[f"g{i}"] = {"at_least": draw(st.integers(1, len(parts))), "of": parts}
        else:
            blocks[f"g{i}"] = {kind: parts}
        names.append(f"g{i}")
    rows = draw(st.integers(1, 3))
    return site(blocks, names[-1], rows=rows, spare_rows=draw(st.integers(0, rows - 1)))


def by_brute_force(terms):
    """Return rows down, unavailability, frequency and cut sets by going through every state of every block."""
    topology = terms.topology
    rows, least = topology.rows.count, terms.spare_rows + 1
    laws = {name: block_law(name, part) for name, part in topology.blocks.items() if isinstance(part, ComponentBlock)}
    copies = [(name, row) for name, law in laws.items() for row in (range(rows) if law.block.per == "row" else (None,))]

    @cache
    def rows_down(up):
        state = dict(zip(copies, up, strict=True))
        return sum(
            not works(
                topology,
                topology.rows.up_when,
                {name: state.get((name, None), state.get((name, row))) for name in laws},
            )
            for row in range(rows)
        )

    law, frequency, cuts = np.zeros(rows + 1), 0.0, []
    for up in product((True, False), repeat=len(copies)):
        down = rows_down(up)
        chances = [1 - laws[name].down if ok else laws[name].down for (name, _), ok in zip(copies, up, strict=True)]
        law[down] += np.prod(chances)
        if down < least:
            for i, ok in enumerate(up):
                after = (*up[:i], False, *up[i + 1 :])
                if ok and rows_down(after) >= least:
                    others = np.prod(chances[:i] + chances[i + 1 :])
                    frequency += others * laws[copies[i][0]].per_hour
        else:
            failed = [i for i, ok in enumerate(up) if not ok]
            if all(rows_down((*up[:i], True, *up[i + 1 :])) < least for i in failed):
                cuts.append(sum(laws[copies[i][0]].order for i in failed))
    return law, law[least:].sum(), frequency, cuts


@settings(deadline=None, max_examples=40)
@given(terms=small_sites())
def test_any_small_site_agrees_with_brute_force(terms):
    rows = terms.topology.rows.count
    used = row_diagram(terms.topology, "site")
    copies = sum(rows if terms.topology.blocks[name].per == "row" else 1 for name in used.names)
    assume(copies <= 9)
    result = analyse(terms)
    law, unavailability, frequency, cuts = by_brute_force(_without_unused(terms, used.names))
    assert [s.probability for s in result.capacity_states][::-1] == pytest.approx(law, rel=1e-9, abs=1e-15)
    assert result.unavailability == pytest.approx(unavailability, rel=1e-9)
    assert result.outages_per_year / 8760 == pytest.approx(frequency, rel=1e-9)
    small = [order for order in cuts if order <= result.cut_sets.highest_order]
    assert sorted(order for s in result.cut_sets.sets for order in [s.order] * s.alike) == sorted(small)


def _without_unused(terms, names):
    """Return the site without component blocks that its rows do not depend on, to keep brute force small."""
    blocks = {
        name: part
        for name, part in terms.topology.blocks.items()
        if not isinstance(part, ComponentBlock) or name in names
    }
    reached, stack = set(), [terms.topology.rows.up_when]
    while stack:
        name = stack.pop()
        if name not in reached:
            reached.add(name)
            part = blocks[name]
            stack += getattr(part, "all_of", ()) or getattr(part, "any_of", ()) or getattr(part, "of", ())
    blocks = {name: part for name, part in blocks.items() if name in reached}
    return terms.revise({"topology": Topology(blocks=blocks, rows=terms.topology.rows)})


@settings(deadline=None, max_examples=30)
@given(terms=small_sites(), data=st.data())
def test_birnbaum_importance_is_the_slope_of_unavailability(terms, data):
    diagram = row_diagram(terms.topology, "site")
    rows, least = terms.topology.rows.count, terms.spare_rows + 1
    down = [data.draw(st.floats(0.01, 0.9)) for _ in diagram.names]
    slopes = site_values(diagram, down, rows, least).birnbaum(down)
    i = data.draw(st.integers(0, len(down) - 1))
    step = 1e-6
    low, high = ([*down[:i], down[i] + s, *down[i + 1 :]] for s in (-step, step))
    change = (
        site_values(diagram, high, rows, least).unavailability - site_values(diagram, low, rows, least).unavailability
    ) / (2 * step)
    copies = rows if i >= diagram.shared else 1
    assert slopes[i] * copies == pytest.approx(change, rel=1e-5, abs=1e-8)


def test_a_larger_random_structure_agrees_with_another_diagram_library():
    from dd.autoref import BDD

    rng = np.random.default_rng(7)
    leaves = [f"c{i}" for i in range(24)]
    blocks = {name: with_probability(float(rng.uniform(0.01, 0.3))) for name in leaves}
    names, other = list(leaves), BDD()
    other.declare(*leaves)
    functions = {name: other.var(name) for name in leaves}
    for i in range(30):
        parts = [names[j] for j in rng.choice(len(names), size=3, replace=False)]
        a, b, c = (functions[part] for part in parts)
        kind = ("all_of", "any_of", "two")[int(rng.integers(3))]
        if kind == "two":
            blocks[f"g{i}"], functions[f"g{i}"] = {"at_least": 2, "of": parts}, (a & b) | (b & c) | (a & c)
        else:
            blocks[f"g{i}"] = {kind: parts}
            functions[f"g{i}"] = a & b & c if kind == "all_of" else a | b | c
        names.append(f"g{i}")
    blocks["top"] = {"at_least": 3, "of": ["g25", "g26", "g27", "g28", "g29"]}
    found = [functions[f"g{i}"] for i in range(25, 30)]
    at_least = [other.true] + [other.false] * 3
    for function in found:
        at_least[1:] = [(function & at_least[k - 1]) | at_least[k] for k in (1, 2, 3)]
    terms = site(blocks, "top")
    up = {name: 1 - block_law(name, terms.topology.blocks[name]).down for name in leaves}
    memory = {}

    def probability(node):
        if node in (other.true, other.false):
            return float(node == other.true)
        if int(node) not in memory:
            p = up[node.var]
            low, high = probability(node.low), probability(node.high)
            value = p * high + (1 - p) * low
            memory[int(node)] = 1 - value if node.negated else value
        return memory[int(node)]

    assert analyse(terms).availability == pytest.approx(probability(at_least[3]), rel=1e-12)


# --- refusals and the report -----------------------------------------------------------------------------------


def test_a_site_without_topology_is_refused_by_name():
    with pytest.raises(MissingTermError, match=r"sites\.x\.topology: missing"):
        analyse(Site(name="Site", place="Somewhere"), "sites.x")


def test_more_spare_rows_than_rows_are_refused():
    with pytest.raises(ValidationError, match=r"spare_rows 4; expected fewer than the 4 rows"):
        site_of_rows(4, spare_rows=4)


def test_more_rows_than_the_law_lists_are_refused_by_name():
    with pytest.raises(NotComputedError, match=r"rows\.count: a site of more than 100,000 rows"):
        analyse(site_of_rows(100_001))


def test_a_structure_that_outgrows_the_diagram_is_refused_by_name():
    # pairs asked for in the worst order: 2 to the power of the number of pairs
    pairs = 20
    blocks = {f"c{i}": with_probability(0.1) for i in range(2 * pairs)}
    blocks |= {f"p{i}": {"all_of": [f"c{i}", f"c{i + pairs}"]} for i in range(pairs)}
    blocks["first"] = {"any_of": [f"c{i}" for i in range(pairs)]}
    blocks["pairs"] = {"any_of": [f"p{i}" for i in range(pairs)]}
    blocks["top"] = {"all_of": ["first", "pairs"]}
    with pytest.raises(NotComputedError, match=r"site\.topology: a structure of more than 200,000 decision nodes"):
        analyse(site(blocks, "top"))


@pytest.fixture(scope="module")
def report():
    deal = Deal(
        schema_version=1,
        sites={
            "campus": site_of_rows(64, restart_hours=sourced(3, "h")),
            "yard": Site(name="Yard", place="Elsewhere"),
        },
    )
    return site_report(deal)


def test_the_report_has_what_the_command_promises(report):
    campus, yard = report["sites"]
    promised = ("id", "availability", "outages_per_year", "mean_outage_hours", "capacity_states")
    promised += ("minimal_cut_sets", "importance", "monthly_downtime_hours", "ignores")
    assert all(name in campus for name in promised)
    assert campus["id"] == "campus"
    assert campus["capacity_states"][-1]["fraction"] == 1.0
    listed = sum(state["probability"] for state in campus["capacity_states"])
    assert listed + campus["capacity_states_unlisted_probability"] == pytest.approx(1, rel=1e-12)
    assert campus["minimal_cut_sets"][0]["row_blocks"] == [["busway"]]
    assert sum(campus["outages_per_year_by_system"].values()) == pytest.approx(campus["outages_per_year"])
    assert 0 < campus["probability_of_outage_in_a_year"] < 1
    assert campus["blocks"][0]["failures_per_year"]["rationale"] == "reference case"
    assert yard == {
        "id": "yard",
        "name": "Yard",
        "availability": None,
        "availability_reason": "the site has no topology",
    }


def test_the_report_says_what_it_ignores_with_its_numbers(report):
    words = " ".join(report["sites"][0]["ignores"])
    assert "common causes" in words
    assert "fewer than 64 of 64 rows" in words


def test_a_deal_without_any_topology_has_no_report():
    with pytest.raises(MissingTermError, match=r"sites\.\*\.topology: missing, and needed by slakit site"):
        site_report(Deal(schema_version=1, sites={"yard": Site(name="Yard", place="Elsewhere")}))
