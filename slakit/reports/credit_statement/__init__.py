"""The credit statement on paper: the answer, the lines behind it, one of them step by step, then the whole ledger."""

from slakit.reports.credit_statement.statement import lines_csv, print_statement

__all__ = ["lines_csv", "print_statement"]
