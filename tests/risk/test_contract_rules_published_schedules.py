"""Published schedules of service credits on real and made-up outages, to the cent.

The schedules are facts as published (thresholds, shares, minimum outage); each case says where its times are from.
Where a case gives only minutes, one outage of that length stands in a month of that length.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from risk.contract_rules.statement import Records, Statement, statement
from schemas.deal import Deal
from schemas.incidents import Incident, UnitService, Window
from schemas.money import Money
from schemas.periods import Month

SCHEDULES = {
    "coreweave-tos-single": ((".99", ".10"), (".95", ".25"), (".90", ".50")),
    "aws-ec2-region": ((".9999", ".10"), (".99", ".30"), (".95", "1")),
    "aws-ec2-instance": ((".995", ".10"), (".99", ".30"), (".95", "1")),
    "google-gce-single": ((".999", ".10"), (".95", ".25"), (".90", "1")),
    "azure-vm-single-premium": ((".999", ".10"), (".99", ".25"), (".95", "1")),
    "cloudpe-gpu": ((".999", ".05"), (".99", ".10"), (".95", ".20")),
    "ibm-cloud-ha": ((".9999", ".10"), (".999", ".25"), (".95", "1")),
    "oci-generic": ((".999", ".10"), (".99", ".25"), (".95", "1")),
}

TIMED = [
    # AWS us-east-1, 20 October 2025: the whole event, and its first phase alone
    ("W01", "aws-ec2-region", "2025-10-20T06:48", "2025-10-20T21:20", "1000000", 872, "27355/27900", "300000.00"),
    ("W02a", "aws-ec2-region", "2025-10-20T06:48", "2025-10-20T09:40", "1000000", 172, "55585/55800", "100000.00"),
    # AWS us-east-1, 7 December 2021: by the provider's clock and by an outside monitor's
    ("W03a", "aws-ec2-region", "2021-12-07T15:30", "2021-12-07T22:22", "1000000", 412, "55285/55800", "100000.00"),
    ("W03b", "aws-ec2-region", "2021-12-07T15:35", "2021-12-08T00:44", "1000000", 549, "24495/24800", "300000.00"),
    # Google europe-west9-a, April 2023; Azure Australia East, August 2023: the part in the month
    ("W04a", "google-gce-single", "2023-04-26T02:00", "2023-05-01T00:00", "100000", 7080, "1505/1800", "100000.00"),
    (
        "W05a",
        "azure-vm-single-premium",
        "2023-08-30T08:41",
        "2023-09-01T00:00",
        "50000",
        2359,
        "211405/223200",
        "50000.00",
    ),
    # cooling failure at CyrusOne CHI1, 28 November 2025, 650 minutes, under four schedules
    (
        "W06a",
        "coreweave-tos-single",
        "2025-11-28T02:40",
        "2025-11-28T13:30",
        "1000000",
        650,
        "21275/21600",
        "100000.00",
    ),
    ("W06b", "aws-ec2-instance", "2025-11-28T02:40", "2025-11-28T13:30", "1000000", 650, "21275/21600", "300000.00"),
    ("W06d", "google-gce-single", "2025-11-28T02:40", "2025-11-28T13:30", "1000000", 650, "21275/21600", "100000.00"),
    ("W06e", "cloudpe-gpu", "2025-11-28T02:40", "2025-11-28T13:30", "1000000", 650, "21275/21600", "100000.00"),
]

COUNTED = [
    # exactly 99%: the target of one, an edge of the other's table; the better row applies
    ("W07", "coreweave-tos-single", "2025-11", 432, "100000", "99.000000", "0.00"),
    ("W08a", "aws-ec2-instance", "2025-11", 432, "100000", "99.000000", "10000.00"),
    # 446 minutes in a month of 31 days
    ("W09a", "aws-ec2-instance", "2025-12", 446, "100000", "99.000896", "10000.00"),
    ("W10a", "aws-ec2-instance", "2026-02", 403, "100000", "99.000496", "10000.00"),
    # inputs printed by IBM and by Oracle
    ("W11a", "ibm-cloud-ha", "2025-12", 360, "10000", "99.193548", "2500.00"),
    ("W12a", "oci-generic", "2025-11", 10, "10000", "99.976852", "0.00"),
    ("W12b", "oci-generic", "2025-11", 60, "10000", "99.861111", "1000.00"),
    ("W13a", "aws-ec2-instance", "2025-11", 2161, "100000", "94.997685", "100000.00"),
    ("W30", "coreweave-tos-single", "2025-11", 4752, "100000", "89.000000", "50000.00"),
]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


def bands(schedule: str) -> dict[str, Any]:
    rows = SCHEDULES[schedule]
    return {"bands": [{"below": below, "credit_fraction": share} for below, share in rows]}


def deal(schedule: str, measurement: dict[str, Any] | None = None, **level: Any) -> Deal:
    terms = {"level": "node", "target": SCHEDULES[schedule][0][0], "credit": bands(schedule), **level}
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": {"merge_gap_minutes": 0, **(measurement or {})},
            "service_levels": {"unit": terms},
            "commercial": {"currency": "USD", "charges": {}, "term": {"months": 12}},
        }
    )


def down(start: datetime, end: datetime, unit: str = "u") -> Incident:
    return Incident(id=f"{unit} {start}", level="node", unit_id=unit, started_at=start, ended_at=end)


def node(fee: str, name: str = "u", parent: str | None = None) -> UnitService:
    return UnitService(unit_id=name, level="node", service="compute", monthly_fee=Decimal(fee), parent_id=parent)


def for_minutes(terms: Deal, month: str, minutes: int, fee: str) -> Statement:
    start = Month.parse(month).start(terms.measurement.zone)
    records = Records(incidents=[down(start, start + timedelta(minutes=minutes))], units=[node(fee)])
    return statement(terms, records, [Month.parse(month)])


def percent(availability: Fraction | None) -> str:
    assert availability is not None
    return f"{float(availability * 100):.6f}"


@pytest.mark.parametrize(
    ("schedule", "start", "end", "fee", "minutes", "availability", "credit"),
    [case[1:] for case in TIMED],
    ids=[case[0] for case in TIMED],
)
def test_a_published_schedule_on_a_real_outage(schedule, start, end, fee, minutes, availability, credit):
    records = Records(incidents=[down(at(start), at(end))], units=[node(fee)])
    (line,) = statement(deal(schedule), records, [Month.of(at(start), "UTC")]).lines
    assert (line.down_minutes, line.counted_minutes) == (minutes, minutes)
    assert line.availability == Fraction(availability)
    assert line.payable == usd(credit)


@pytest.mark.parametrize(
    ("schedule", "month", "minutes", "fee", "availability", "credit"),
    [case[1:] for case in COUNTED],
    ids=[case[0] for case in COUNTED],
)
def test_a_published_schedule_on_a_number_of_minutes(schedule, month, minutes, fee, availability, credit):
    (line,) = for_minutes(deal(schedule), month, minutes, fee).lines
    assert line.counted_minutes == minutes
    assert percent(line.availability) == availability
    assert line.payable == usd(credit)


def test_a_month_fixed_at_30_days_turns_the_same_minutes_into_another_band():  # W09b
    terms = deal("aws-ec2-instance", {"month_length": "fixed_30"})
    (line,) = for_minutes(terms, "2025-12", 446, "100000").lines
    assert line.window_minutes == 43_200
    assert percent(line.availability) == "98.967593"
    assert line.payable == usd("30000.00")


def test_the_hour_that_comes_back_in_november_lengthens_the_month():
    # 2,161 minutes are 94.9977% of a UTC November (W13a) and 95.0046% of New York's 43,260 minutes
    terms = deal("aws-ec2-instance", {"zone": "America/New_York"})
    (line,) = for_minutes(terms, "2025-11", 2161, "100000").lines
    assert line.window_minutes == 43_260
    assert percent(line.availability) == "95.004623"
    assert line.payable == usd("30000.00")


def test_excluded_minutes_can_leave_the_window_too():  # W14: 600 minutes, of which 240 and 120 are excluded
    start = at("2025-11-03T00:00")
    terms = deal("aws-ec2-instance", excluded_leave="both")
    windows = [
        Window(id="a", kind="customer_hold", starts_at=start, ends_at=start + timedelta(minutes=240)),
        Window(
            id="b",
            kind="suspension",
            starts_at=start + timedelta(minutes=300),
            ends_at=start + timedelta(minutes=420),
        ),
    ]
    records = Records(incidents=[down(start, start + timedelta(minutes=600))], windows=windows, units=[node("100000")])
    (line,) = statement(terms, records, [Month(2025, 11)]).lines
    assert (line.down_minutes, line.excluded_minutes, line.counted_minutes) == (600, 360, 240)
    assert percent(line.availability) == "99.439776"
    (line,) = statement(deal("aws-ec2-instance"), records, [Month(2025, 11)]).lines
    assert percent(line.availability) == "99.444444"


@pytest.mark.parametrize(
    ("level", "credit"),
    [
        ({"level": "node"}, "2160.00"),
        ({"level": "node", "aggregation": "fleet_mean"}, "0.00"),
        ({"level": "rack", "k": 18, "n": 18}, "38880.00"),
        ({"level": "rack", "k": 16, "n": 18}, "0.00"),
        ({"level": "cluster", "nodes_needed_share": "1"}, "388800.00"),
    ],
)
def test_the_same_fault_pays_by_the_unit_that_is_measured(level, credit):  # W22
    # ten racks of 18 trays of 4 GPUs at 3 an hour for 30 days; one tray down for 3,000 minutes
    start = at("2025-11-03T00:00")
    trays = [node("8640", f"r{r}t{t}", f"r{r}") for r in range(10) for t in range(18)]
    racks = [
        UnitService(unit_id=f"r{r}", level="rack", service="compute", monthly_fee=155_520, parent_id="c")
        for r in range(10)
    ]
    cluster = UnitService(unit_id="c", level="cluster", service="compute", monthly_fee=1_555_200)
    records = Records(incidents=[down(start, start + timedelta(minutes=3000), "r0t0")], units=[cluster, *racks, *trays])
    result = statement(deal("coreweave-tos-single", **level), records, [Month(2025, 11)])
    assert result.total == usd(credit)
    if "aggregation" in level:
        assert percent(result.lines[0].availability) == "99.961420"


@pytest.mark.parametrize(
    ("minimum", "test", "counted"), [(5, "at_least", 0), (1, "at_least", 40), (5, "more_than", 0), (4, "at_least", 40)]
)
def test_ten_blips_of_four_minutes_count_or_not(minimum, test, counted):  # W25
    terms = deal("aws-ec2-instance", {"minimum_outage_minutes": minimum, "minimum_test": test})
    blips = [down(at(f"2025-11-{d:02}T01:00"), at(f"2025-11-{d:02}T01:04")) for d in range(1, 11)]
    (line,) = statement(terms, Records(incidents=blips, units=[node("1")]), [Month(2025, 11)]).lines
    assert (line.down_minutes, line.disregarded_minutes, line.counted_minutes) == (40, 40 - counted, counted)


def test_the_minutes_of_two_outages_add_up_before_the_table_is_applied():  # W28
    start = at("2025-11-03T00:00")
    outages = [
        down(start, start + timedelta(minutes=300)),
        down(start + timedelta(days=5), start + timedelta(days=5, minutes=150)),
    ]
    records = Records(incidents=outages, units=[node("100000")])
    (line,) = statement(deal("aws-ec2-instance"), records, [Month(2025, 11)]).lines
    assert line.counted_minutes == 450
    assert percent(line.availability) == "98.958333"
    assert line.credit_fraction == Decimal("0.30")


@pytest.mark.parametrize(
    ("start", "minutes", "bands_pay", "waiver_pays", "owed"),
    [
        ("2025-11-03T10:50", 14, "0.00", "40.00", "40.00"),  # W24: above 99.5%, and one clock hour waived
        ("2025-11-03T10:54", 6, "0.00", "0.00", "0.00"),  # exactly 6 minutes of an hour
        ("2025-11-03T00:00", 650, "8640.00", "440.00", "8640.00"),  # 30% of the month, or eleven hours
    ],
)
def test_the_instance_level_pays_by_the_table_or_waives_hours(start, minutes, bands_pay, waiver_pays, owed):
    waiver = {"level": "node", "credit": {"shape": "hour_waiver", "minutes_in_clock_hour": 6}}
    terms = deal("aws-ec2-instance")
    levels = {"unit": terms.service_levels["unit"].model_dump(exclude_unset=True), "hours": waiver}
    terms = terms.revise({"service_levels": levels})
    records = Records(incidents=[down(at(start), at(start) + timedelta(minutes=minutes))], units=[node("28800")])
    found = statement(terms, records, [Month(2025, 11)])
    assert [line.credit for line in found.lines] == [usd(bands_pay), usd(waiver_pays)]
    assert found.total == usd(owed)
