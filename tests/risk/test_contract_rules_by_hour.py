"""Fees that accrue by the hour, to the hour of the month in service."""

from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction

import pytest
from pydantic import ValidationError

from risk.contract_rules.credit_base import accrued_fee
from risk.contract_rules.records import UnitTree
from schemas.exclusions import ForceMajeure
from schemas.incidents import UnitService
from schemas.periods import Month


def fee(month: str, **more: object) -> Fraction:
    record = UnitService(
        unit_id="n",
        level="node",
        service="compute",
        monthly_fee=Decimal("14600"),
        hourly_price=Decimal(20),
        accrues_by_hour=True,
        **more,
    )
    period = Month.parse(month)
    tree = UnitTree([record], datetime(2026, 1, 1, tzinfo=UTC))
    return accrued_fee(tree.units["n"], (period.start("UTC"), period.end("UTC")), (), ForceMajeure(), "UTC")


def test_a_fee_by_the_hour_follows_the_hours_of_the_month():
    assert fee("2026-02") == 20 * 24 * 28
    assert fee("2026-10") == 20 * 24 * 31


def test_a_fee_by_the_hour_starts_at_the_hour_of_readiness():
    assert fee("2026-10", in_service_from=datetime(2026, 10, 31, 12, tzinfo=UTC)) == 20 * 12


def test_a_fee_by_the_hour_needs_a_price_of_the_hour():
    with pytest.raises(ValidationError, match="hourly_price"):
        UnitService(unit_id="n", level="node", service="compute", monthly_fee=Decimal(1), accrues_by_hour=True)
