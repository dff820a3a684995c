"""Words for what a statement says in codes."""

from __future__ import annotations

LOSSES = {
    "other_level": "another service level pays for the same loss",
    "parent_level": "a unit around it is credited itself",
    "other_head": "another head pays for the same loss",
    "below_minimum": "the contract pays no line so small",
    "late_claim": "it was not claimed in time",
    "month_cap": "the cap of the period is reached",
    "year_cap": "the cap of the contract year is reached",
    "term_cap": "the cap of the term is reached",
    "carried_forward": "the cap of the period is reached, and it is carried forward",
}
"""Why a credit is not owed, in words."""
HEADS = {
    "scheduled": "scheduled maintenance",
    "emergency": "emergency maintenance",
    "force_majeure": "force majeure",
    "customer_act": "act of the customer",
    "customer_hold": "hold by the customer",
    "suspension": "suspension",
    "test_at_customer_request": "test that the customer asked for",
}
"""Heads of exclusion, in words."""
SCOPES = {
    "order": "this Agreement as a whole",
    "tranche": "the Tranche to which the unit belongs",
    "unit": "the service of that unit",
}
"""What a right to leave ends, in the words of the clauses."""
NOTHING_DOWN = "nothing of the unit that it measures was down"
NO_NOTICE = "its clock starts with the customer's notice or a ticket, and the log holds none"
TOO_SHORT = "no outage was long enough to count"
TARGET_MET = "the target was met"
PAYS_NOTHING = "the table pays nothing for this"
NOTHING_READ = "Nothing was read: no record of the logs could be used, so that nothing is known of any unit."
"""The answer of a statement whose logs hold no record that says anything."""
