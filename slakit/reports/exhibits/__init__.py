"""The charts of a score, each under a title that is its finding."""

from slakit.reports.exhibits.exhibit import Exhibit
from slakit.reports.exhibits.of_cover import cover
from slakit.reports.exhibits.of_protection import ledger
from slakit.reports.exhibits.of_the_contract import by_month, endings, endings_by_month
from slakit.reports.exhibits.of_the_loan import defaults_by_month, losses
from slakit.reports.exhibits.of_value import value_and_debt
from slakit.reports.exhibits.of_what_we_do_not_know import inputs_by_share, loss_range

__all__ = [
    "Exhibit",
    "by_month",
    "cover",
    "defaults_by_month",
    "endings",
    "endings_by_month",
    "inputs_by_share",
    "ledger",
    "loss_range",
    "losses",
    "value_and_debt",
]
