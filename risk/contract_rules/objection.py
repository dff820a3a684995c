"""When a credit statement is due, and the last day on which its readings can be disputed."""

from __future__ import annotations

from datetime import date, datetime

from risk.contract_rules import deadlines
from risk.contract_rules.intervals import Span
from risk.core.computed import Computed, Step
from schemas.deal import Deal

PARAGRAPH = "monitor-evidence.objection"
DUE_PARAGRAPH = "credit-process.statement"


def exact(received_on: date, terms: Deal) -> Computed[datetime]:
    """Return the moment from which an objection to a reading is late, in UTC.

    Parameters
    ----------
    received_on : day in the contract's zone on which the credit statement that rests on the reading was received.
    terms : Business Days, zone and the number of days.

    Raises
    ------
    DealError
        When a calendar of Business Days is not known.
    """
    measurement = terms.measurement
    late_from = deadlines.in_business_days(
        received_on,
        measurement.objection_business_days,
        measurement.zone,
        deadlines.business_calendars(terms),
        term="measurement.objection_business_days",
        day_count=measurement.day_count,
    )
    rule = (
        f"a reading to which no one objects within {measurement.objection_business_days} Business Days after the "
        "statement is received stands; an objection is late from"
    )
    facts = {"received_on": received_on}
    step = Step(PARAGRAPH, rule, late_from.value, facts, "measurement.objection_business_days")
    return Computed(late_from.value, (*late_from.steps, step))


def statement_due(period: Span, terms: Deal) -> Computed[datetime]:
    """Return the moment from which the credit statement of a period is late, in UTC.

    Raises
    ------
    DealError
        When a calendar of Business Days is not known.
    """
    measurement, days = terms.measurement, terms.credits.process.statement_business_days
    term = "credits.process.statement_business_days"
    late_from = deadlines.in_business_days(
        deadlines.day_that_ends(period[1], measurement.zone),
        days,
        measurement.zone,
        deadlines.business_calendars(terms),
        term=term,
        day_count=measurement.day_count,
    )
    rule = f"the provider must send its statement within {days} Business Days after the period; it is late from"
    step = Step(DUE_PARAGRAPH, rule, late_from.value, {"period": period}, term)
    return Computed(late_from.value, (*late_from.steps, step))


def if_stated_when_due(period: Span, terms: Deal) -> datetime:
    """Return the moment from which an objection is late if the statement is received on the last day it is due, in UTC.

    Raises
    ------
    DealError
        When a calendar of Business Days is not known.
    """
    due = statement_due(period, terms).value
    return exact(deadlines.day_that_ends(due, terms.measurement.zone), terms).value
