"""The base case as a workbook of live formulas that gives the model's own figures.

Formulas read inputs by name, and each month is compared with the engine on the sheet Checks. What no formula can hold
is a value of the model, marked by its colour and listed on the sheet Notes.
"""

from __future__ import annotations

from slakit.reports.workbook.write import workbook, write

__all__ = ["workbook", "write"]
