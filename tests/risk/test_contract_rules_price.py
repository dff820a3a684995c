"""What a month costs: the price of all that is in service, the least share of it, and from when a level is measured."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from risk.contract_rules import measured_from, monthly_price, take_or_pay
from risk.contract_rules.records import UnitTree
from schemas.commercial import Charge, Price
from schemas.errors import DealError
from schemas.incidents import UnitService
from schemas.money import Money
from schemas.service_levels import ServiceLevel

PATH = "commercial.charges.compute"
LEVEL = ServiceLevel.model_validate(
    {
        "level": "node",
        "target": "0.99",
        "measured_from": "all_ready",
        "credit": {"bands": [{"below": "0.99", "credit_fraction": "0.1"}]},
    }
)
NOVEMBER = (datetime(2026, 11, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("per", "counted", "count", "monthly"),
    [
        ("lump_month", None, None, "12.50"),
        ("gpu_hour", "gpu", 8, "72000"),  # 8 x 720 x 12.50
        ("node_month", "node", 3, "37.50"),
        ("kw_month", "kw", Decimal("1.4"), "17.50"),
    ],
)
def test_a_price_counts_what_it_is_for(per: str, counted: str | None, count: Any, monthly: str):
    price = Price.model_validate({"per": per, "amount": "12.50"})
    assert price.counted == counted
    found = monthly_price.exact(price, count, 720, f"{PATH}.price")
    assert found.value == Fraction(monthly)
    assert found.steps[0].paragraph == "partial-billing.price"


def fee(used: str, least: str | None, price: str = "1000") -> Money:
    charge = Charge.model_validate({"price": {"per": "lump_month", "amount": price}, "take_or_pay": least})
    return take_or_pay.exact(Fraction(price), Fraction(used), charge, "USD", PATH).value


@pytest.mark.parametrize(
    ("used", "least", "due"),
    [
        ("0", None, "1000.00"),  # all of it where no share is named
        ("0", "0", "0.00"),
        ("0.79", "0.80", "800.00"),
        ("0.80", "0.80", "800.00"),
        ("0.81", "0.80", "810.00"),
        ("1", "0.80", "1000.00"),
    ],
)
def test_the_greater_of_the_least_share_and_the_share_used_is_paid(used: str, least: str | None, due: str):
    assert fee(used, least) == Money(Decimal(due), "USD")


def test_half_a_cent_of_a_fee_is_rounded_up():
    assert fee("0.5", "0", "0.01") == Money(Decimal("0.01"), "USD")


@pytest.mark.parametrize("used", ["-0.1", "1.01"])
def test_a_share_used_beyond_all_is_refused(used: str):
    with pytest.raises(DealError, match="expected a share from 0 to 1; divide hours used by hours in service"):
        fee(used, "0.80")


def is_measured(*served: tuple[str, str | None]) -> bool:
    records = [
        UnitService(
            unit_id=f"n{i}",
            level="node",
            service="compute",
            monthly_fee=Decimal(1),
            in_service_from=datetime.fromisoformat(start).replace(tzinfo=UTC),
            in_service_to=datetime.fromisoformat(end).replace(tzinfo=UTC) if end else None,
        )
        for i, (start, end) in enumerate(served)
    ]
    units = UnitTree(records, NOVEMBER[0]).units.values()
    return measured_from.exact(units, NOVEMBER, LEVEL, "nodes").value


def test_a_month_is_measured_once_all_were_in_service_when_it_began():
    assert is_measured(("2026-09-01", None), ("2026-11-01", None))
    assert not is_measured(("2026-09-01", None), ("2026-11-01T00:01", None))
    assert not is_measured(("2026-09-01", None), ("2027-03-01", None))


def test_a_unit_whose_service_has_ended_is_not_waited_for():
    assert is_measured(("2026-09-01", None), ("2026-10-01", "2026-11-01"))
    assert is_measured(("2026-09-01", None), ("2026-10-01", "2026-11-15"))


def test_a_level_that_waits_for_none_is_measured_from_the_first_unit_on():
    each = LEVEL.revise({"measured_from": "each_tranche"})
    assert measured_from.exact((), NOVEMBER, each, "nodes").value is True


def test_a_tranche_under_no_contract_is_not_waited_for():
    ready = np.array([[0.0, 3.5], [0.0, 2.0], [0.0, np.inf]])
    assert measured_from.arrays(ready, np.ones((3, 2), dtype=bool), 3).tolist() == [False, True, False]
    bound = np.array([[True, False]] * 3)
    assert measured_from.arrays(ready, bound, 3).tolist() == [True, True, True]
