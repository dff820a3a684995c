"""Charts: words fit their sheet, keep apart, and say the same as the picture."""

import xml.etree.ElementTree as ET
from itertools import pairwise
from typing import Any

import pytest
from fontTools.ttLib import TTFont
from hypothesis import given
from hypothesis import strategies as st

from slakit.paths import templates_dir
from slakit.reports import exhibits
from slakit.reports.charts.bars import Bar, bar_chart, waterfall
from slakit.reports.charts.canvas import apart, text_width, ticks, wrapped
from slakit.reports.charts.lines import Line, Threshold, line_chart
from slakit.reports.charts.ranges import Range, Zone, range_chart
from slakit.reports.judgements import input_name
from slakit.reports.theme import print_palette, screen_palette

SVG = "{http://www.w3.org/2000/svg}"
EXHIBITS = (exhibits.cover, exhibits.losses, exhibits.endings, exhibits.by_month, exhibits.value_and_debt)
OF_A_MEMO = (
    exhibits.endings_by_month,
    exhibits.defaults_by_month,
    exhibits.loss_range,
    lambda score, palette: exhibits.inputs_by_share(score, palette, input_name),
    lambda score, palette: exhibits.cover(score, palette, lock_up=1.3),
    lambda score, palette: exhibits.value_and_debt(score, palette, all_bases=True),
)
Box = tuple[float, float, float, float]


def boxes(svg: str) -> tuple[float, float, list[tuple[str, Box]]]:
    """Return the size of a sheet and each text with its left, top, right and bottom."""
    root = ET.fromstring(svg)
    _, _, width, height = map(float, root.attrib["viewBox"].split())
    found = []
    for text in root.iter(f"{SVG}text"):
        x, y, words = float(text.attrib["x"]), float(text.attrib["y"]), text.text or ""
        bold = text.attrib.get("font-weight") == "600" or "font-weight:600" in text.attrib.get("style", "")
        wide = text_width(words, bold=bold)
        left = x - {"start": 0, "middle": wide / 2, "end": wide}[text.attrib["text-anchor"]]
        found.append((words, (left, y - 9, left + wide, y + 2)))
    return width, height, found


def assert_words_fit(svg: str) -> None:
    width, height, found = boxes(svg)
    for words, (left, top, right, bottom) in found:
        assert left >= -0.5, words
        assert top >= -0.5, words
        assert right <= width + 0.5, words
        assert bottom <= height + 0.5, words
    for i, (words, (left, top, right, bottom)) in enumerate(found):
        for other, (left2, top2, right2, bottom2) in found[i + 1 :]:
            apart_x, apart_y = (
                left >= right2 - 0.5 or left2 >= right - 0.5,
                top >= bottom2 - 0.5 or top2 >= bottom - 0.5,
            )
            assert apart_x or apart_y, f"{words} over {other}"


@pytest.mark.parametrize("face", ["Regular", "SemiBold"])
def test_no_word_is_wider_than_it_is_taken_to_be(face: str):
    with TTFont(templates_dir() / "fonts" / f"IBMPlexSans-{face}.ttf") as font:
        glyphs, advances, size = font.getBestCmap(), font["hmtx"], font["head"].unitsPerEm
        for letter in map(chr, [*range(32, 127), *map(ord, "±−–—×≥≤→†…·\u00a0")]):
            real = advances[glyphs[ord(letter)]][0] / size
            assert text_width(letter, 1.0, bold=face == "SemiBold") >= real - 0.001, letter
        for words in ("Late delivery", "covenant 1.05x", "Łódź Zürich Čačak Œuvre", "WWWWWWMMMM", "P5 to P95"):
            real = sum(advances[glyphs[ord(letter)]][0] for letter in words) / size
            assert real <= text_width(words, 1.0, bold=face == "SemiBold")


@given(st.lists(st.floats(min_value=0, max_value=300), min_size=1, max_size=12))
def test_labels_keep_their_order_their_distance_and_the_sheet(wanted: list[float]):
    places = apart(wanted, 13.0, 0.0, 300.0)
    assert all(-1e-6 <= place <= 300 + 1e-6 for place in places)
    in_order = [places[i] for i in sorted(range(len(wanted)), key=lambda i: wanted[i])]
    assert all(later - earlier >= 13.0 - 1e-6 for earlier, later in pairwise(in_order))


@given(st.lists(st.floats(min_value=0, max_value=300), min_size=1, max_size=10, unique=True))
def test_labels_that_do_not_touch_stay_where_they_belong(wanted: list[float]):
    spread = sorted(wanted)
    if all(later - earlier >= 13.0 for earlier, later in pairwise(spread)):
        assert apart(wanted, 13.0, 0.0, 300.0) == pytest.approx(wanted)


def test_more_labels_than_room_are_set_closer_and_stay_inside():
    places = apart([50.0] * 10, 13.0, 0.0, 90.0)
    assert (min(places), max(places)) == pytest.approx((0.0, 90.0))


@given(st.floats(min_value=-1e6, max_value=1e6), st.floats(min_value=1e-3, max_value=1e6))
def test_ticks_are_few_round_and_inside(low: float, span: float):
    found = ticks(low, low + span, 5)
    assert len(found) <= 11
    assert all(low - 1e-6 * span <= tick <= low + span * (1 + 1e-6) for tick in found)


def test_a_long_name_is_broken_between_words_only():
    lines = wrapped("Re-pricing instead of an exit", 80)
    assert len(lines) > 1
    assert " ".join(lines) == "Re-pricing instead of an exit"


@pytest.mark.parametrize("draw", EXHIBITS)
@pytest.mark.parametrize("palette", [print_palette(), screen_palette()], ids=["paper", "screen"])
def test_words_of_every_chart_fit_and_do_not_touch(draw: Any, palette: Any, score: dict[str, Any]):
    exhibit = draw(score, palette)
    assert_words_fit(exhibit.svg)
    assert exhibit.title
    assert "None" not in exhibit.svg


@pytest.mark.parametrize("draw", OF_A_MEMO)
@pytest.mark.parametrize("palette", [print_palette(), screen_palette()], ids=["paper", "screen"])
def test_words_of_the_charts_of_a_memo_fit_and_do_not_touch(draw: Any, palette: Any, memo: dict[str, Any]):
    exhibit = draw(memo, palette)
    assert_words_fit(exhibit.svg)
    assert "None" not in exhibit.svg
    assert ("var(" in exhibit.svg) != palette.on_paper


def test_the_charts_of_a_memo_are_titled_by_what_they_find(memo: dict[str, Any]):
    titles = [draw(memo, print_palette()).title.replace("\u00a0", " ") for draw in OF_A_MEMO]
    assert titles[:4] == [
        "Long stop is half of early endings; half of all have come by month 22",
        "Half of the defaults come by month 30",
        "Doubt in the inputs puts the loss between 150 and 410 bp",
        "Delay: median† explains half of the spread",
    ]


def test_causes_beyond_three_lines_are_added_up_in_one(memo: dict[str, Any]):
    by_cause = memo["default"]["by_cause"]
    svg = exhibits.defaults_by_month(memo, print_palette()).svg  # type: ignore[union-attr]
    said = [words for words, _ in boxes(svg)[2]]
    assert "Late delivery 3.4%" in said
    assert "Long stop 1.6%" in said
    rest = by_cause["chronic_failure"]["pd"] + by_cause["credits_and_market"]["pd"]
    assert f"2 others {100 * rest:.1f}%" in said
    assert not any("Notice" in words for words in said)


def test_without_outer_sets_there_is_no_range_to_draw(memo: dict[str, Any]):
    memo["parameters"]["el_bp"]["quantiles"] = {"p5": None, "p50": 200.0, "p95": None}
    assert exhibits.loss_range(memo, print_palette()) is None
    del memo["parameters"]
    assert exhibits.loss_range(memo, print_palette()) is None
    assert exhibits.inputs_by_share(memo, print_palette(), input_name) is None


def test_the_lock_up_is_a_second_line_unless_it_is_the_covenant(score: dict[str, Any]):
    def named(level: float) -> list[str]:
        fan = exhibits.cover(score, print_palette(), lock_up=level)
        assert fan is not None
        return [words for words, _ in boxes(fan.svg)[2] if "lock-up" in words or "covenant" in words]

    assert named(1.3) == ["covenant 1.20x", "lock-up 1.30x"]
    assert named(1.2) == ["covenant, lock-up 1.20x"]


@given(
    st.lists(st.floats(min_value=0.01, max_value=1e4), min_size=3, max_size=3),
    st.lists(st.floats(min_value=0.1, max_value=1e4), min_size=1, max_size=19),
)
def test_ranges_and_zones_of_any_scale_stay_on_the_sheet(of_range: list[float], edges: list[float]):
    low, mark, high = sorted(of_range)
    bounds = [0.0, *sorted(set(edges)), float("inf")]
    zones = [Zone(f"S{i}", *pair) for i, pair in enumerate(pairwise(bounds), start=1)]
    svg = range_chart(
        [Range("Inputs as typed", mark, mark, mark, "mark"), Range("Inputs in doubt", low, mark, high, f"{mark:,.0f}")],
        palette=print_palette(),
        alt="a range",
        write_value=lambda value: f"{value:,.6g}",
        zones=zones,
    )
    assert_words_fit(svg)


@pytest.mark.parametrize("height", [120, 160, 230])
def test_labels_fit_when_all_lines_end_in_one_place(height: float):
    months = list(range(1, 61))
    lines = [Line(f"line {i}", [1.3 + i * 1e-4] * 60, "black") for i in range(5)]
    svg = line_chart(
        months,
        palette=print_palette(),
        alt="five lines",
        write_value=lambda value: f"{value:.2f}x",
        lines=lines,
        thresholds=[Threshold("covenant 1.30x", 1.3)],
        height=height,
    )
    assert_words_fit(svg)


@given(st.floats(min_value=1e-4, max_value=1e4), st.integers(min_value=2, max_value=130))
def test_ticks_and_months_of_any_scale_stay_on_the_sheet(highest: float, months: int):
    svg = line_chart(
        list(range(1, months + 1)),
        palette=print_palette(),
        alt="any scale",
        write_value=lambda value: f"{value:.6g}",
        lines=[Line("a line", [highest * m / months for m in range(months)], "black")],
        from_zero=True,
    )
    assert_words_fit(svg)


def test_a_month_without_a_value_breaks_the_line():
    def drawn(values: list[float | None]) -> int:
        svg = line_chart(
            [1, 2, 3, 4, 5],
            palette=print_palette(),
            alt="one line",
            write_value=str,
            lines=[Line("a", values, "#123456")],
        )
        return sum(path.attrib.get("stroke") == "#123456" for path in ET.fromstring(svg).iter(f"{SVG}path"))

    assert drawn([1.0, 2.0, 3.0, 2.0, 1.0]) == 1
    assert drawn([1.0, 2.0, None, 2.0, 1.0]) == 2


def test_bars_of_a_waterfall_end_where_the_total_does():
    svg = waterfall(
        [Bar("a", 100.0, "+100"), Bar("b", 50.0, "+50"), Bar("c", -25.0, "−25")],
        Bar("Total", 125.0, "125"),
        palette=print_palette(),
        alt="adds up",
    )
    assert_words_fit(svg)
    *parts, total = list(ET.fromstring(svg).iter(f"{SVG}rect"))
    ends = [float(bar.attrib["x"]) + float(bar.attrib["width"]) for bar in [*parts, total]]
    assert ends[0] == pytest.approx(float(parts[1].attrib["x"]), abs=0.02)
    assert float(parts[2].attrib["x"]) == pytest.approx(ends[3], abs=1.0)
    assert parts[2].attrib["fill"] == "none"  # decreases are outlined on paper
    assert parts[0].attrib["fill"] != "none"


def test_bars_start_at_zero_and_nothing_has_no_bar():
    svg = bar_chart([Bar("a", 0.4, "40%"), Bar("b", 0.1, "10%"), Bar("c", 0.0, "0%")], palette=print_palette(), alt="x")
    first, second = ET.fromstring(svg).iter(f"{SVG}rect")
    assert first.attrib["x"] == second.attrib["x"]
    assert float(first.attrib["width"]) == pytest.approx(4 * float(second.attrib["width"]), rel=0.01)


def test_words_from_a_deal_are_escaped():
    svg = bar_chart([Bar("<script>", 1.0, "1 & 2")], palette=print_palette(), alt='a "quoted" <b>')
    assert "<script>" not in svg
    assert ET.fromstring(svg).find(f"{SVG}title").text == 'a "quoted" <b>'  # type: ignore[union-attr]


def test_the_title_of_the_fan_is_its_finding(score: dict[str, Any]):
    fan = score["dscr"]["fan"]
    assert exhibits.cover(score, print_palette()).title == "Cover is thin in months 8 to 10: below 1.20x at\u00a0P5"  # type: ignore[union-attr]
    fan["p5"] = [value + 1 for value in fan["p5"]]
    assert exhibits.cover(score, print_palette()).title == "Cover holds above 1.20x, even at\u00a0P5"  # type: ignore[union-attr]
    fan["p50"] = [0.9] * len(fan["p50"])
    assert "in half of futures in every month" in exhibits.cover(score, print_palette()).title  # type: ignore[union-attr]


def test_the_fan_says_how_many_futures_it_is_drawn_over(score: dict[str, Any]):
    def note(first: int, last: int) -> str:
        score["dscr"]["fan"]["draws"] = [first, *score["dscr"]["fan"]["draws"][1:-1], last]
        fan = exhibits.cover(score, print_palette())
        assert fan is not None
        return fan.note

    assert note(10_000, 10_000) == "Debt service cover ratio; 10,000 futures"
    assert note(10_000, 9_685) == "Debt service cover ratio; 10,000 futures, 9,685 of them without default"
    assert note(971, 0).endswith("10,000 futures, 971 at first and 0 at the end without default")


def test_the_alternative_text_of_the_fan_holds_its_numbers(score: dict[str, Any]):
    svg = exhibits.cover(score, print_palette()).svg  # type: ignore[union-attr]
    alt = ET.fromstring(svg).find(f"{SVG}title").text  # type: ignore[union-attr]
    assert "10,000 futures" in alt  # type: ignore[operator]
    assert "Lowest P5 1.18x in month 9" in alt  # type: ignore[operator]
    assert "covenant 1.20x" in alt  # type: ignore[operator]


def test_a_chart_without_anything_to_show_is_none(score: dict[str, Any]):
    score["default"]["pd_term"] = score["cancellation"]["probability"] = 0.0
    score["cancellation"]["by_month"] = score["default"]["by_month"] = [0.0] * 60
    del score["dscr"], score["residual_value"]
    assert [draw(score, print_palette()) for draw in EXHIBITS] == [None] * 5


def test_where_little_is_lost_the_chart_shows_defaults(score: dict[str, Any]):
    assert exhibits.losses(score, print_palette()).title == "Late delivery is half of the loss"  # type: ignore[union-attr]
    score["default"]["lgd"] = 0.01
    assert exhibits.losses(score, print_palette()).title == "Late delivery is half of the defaults"  # type: ignore[union-attr]


def test_colours_of_a_screen_are_names_and_those_of_paper_are_not(score: dict[str, Any]):
    assert "#" not in exhibits.cover(score, screen_palette()).svg  # type: ignore[union-attr]
    assert "var(" not in exhibits.cover(score, print_palette()).svg  # type: ignore[union-attr]
