"""The credit memo: what a lender reads of a deal, its first page first, every figure taken from one score."""

from slakit.reports.credit_memo.memo import html, print_memo, write

__all__ = ["html", "print_memo", "write"]
