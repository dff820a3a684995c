"""Where the variance of a result over sets of parameters comes from: parameters or sampling, and which input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
DRAWS_A_TERM = 3
"""Sets of parameters for each term of the regression, at least."""


@dataclass(frozen=True, slots=True)
class Components:
    """A mean over sets of parameters (rows) and common futures (columns), and where its variance comes from."""

    of_rows: FloatArray
    """Mean of each row, shape (rows,)."""
    mean: float
    from_parameters: float
    """Variance between rows, the sampling variance taken off, not below 0."""
    sampling: float
    """Variance of a row's mean that comes from the number of futures and differs between rows."""
    error_from_parameters: float
    """Standard error of the mean for the number of rows."""
    error_from_sampling: float
    """Standard error of the mean for the number of futures, which all rows share."""
    of_columns: FloatArray
    """Mean of each column, shape (columns,)."""


class Table:
    """Sums of a table of rows (sets of parameters) by columns (common futures), filled row by row.

    Notes
    -----
    Two-way analysis of variance with one figure in each cell. The mean square of the interaction over the number of
    columns is the sampling variance of a row's mean that common random numbers do not cancel; the variance of the row
    means less it is the variance from parameters.

    References
    ----------
    Scheffé, The Analysis of Variance, 1959 (two-way layout with one observation for each cell, random effects).
    """

    def __init__(self, columns: int) -> None:
        self.of_columns = np.zeros(columns)
        self.squares = 0.0
        self.rows: list[float] = []

    def add(self, row: NDArray[Any]) -> None:
        """Add one row, shape (columns,)."""
        figures = np.asarray(row, dtype=np.float64)
        self.of_columns += figures
        self.squares += float(figures @ figures)
        self.rows.append(float(figures.mean()))

    def components(self) -> Components:
        """Return the mean and its components of variance; needs two rows and two columns."""
        of_rows = np.array(self.rows)
        rows, columns = len(of_rows), len(self.of_columns)
        of_columns = self.of_columns / rows
        middle = float(of_rows.mean())
        between = columns * float(((of_rows - middle) ** 2).sum())
        across = rows * float(((of_columns - middle) ** 2).sum())
        whole = self.squares - rows * columns * middle**2
        interaction = max(whole - between - across, 0.0) / ((rows - 1) * (columns - 1))
        variance = float(of_rows.var(ddof=1))
        sampling = min(interaction / columns, variance)
        return Components(
            of_rows=of_rows,
            mean=middle,
            from_parameters=variance - sampling,
            sampling=sampling,
            error_from_parameters=float(np.sqrt(variance / rows)),
            error_from_sampling=float(np.sqrt(of_columns.var(ddof=1) / columns)),
            of_columns=of_columns,
        )


@dataclass(frozen=True, slots=True)
class Shares:
    """How the variance of a result divides among its inputs."""

    of_inputs: FloatArray
    """Share of the variance explained, shape (inputs,); they add up to 1. [1]"""
    r_squared: float
    """Share of the variance that the regression explains. [1]"""
    r_squared_adjusted: float
    """The same, corrected for the number of terms. [1]"""
    terms: int
    """Terms of the regression beside the constant. [1]"""


def variance_shares(scores: FloatArray, values: FloatArray) -> Shares | None:
    """Return how the variance of `values`, shape (draws,), divides among inputs with normal `scores`, (draws, inputs).

    None where the draws are too few for one term of each input, or the values do not vary.

    Notes
    -----
    Second-order regression on Hermite polynomials of the scores: z of each input, (z^2 - 1)/sqrt(2), and products of
    two inputs. They are uncorrelated with variance 1, so that the square of a coefficient, less its sampling variance,
    is the variance that the term explains; a product counts half for each of its inputs. Squares come in the order of
    their inputs' main effects, then products in the order of both, as far as there are three draws for each term.
    """
    draws, inputs = scores.shape
    most = draws // DRAWS_A_TERM - 1
    if most < inputs or float(values.var()) == 0:
        return None
    main = np.abs(_regression(scores, values)[0])
    order = np.argsort(-main, kind="stable")
    pairs = [(a, b) for k, a in enumerate(order) for b in order[k + 1 :]]
    pairs.sort(key=lambda pair: -main[pair[0]] * main[pair[1]])
    terms = [(i,) for i in range(inputs)] + [(i, i) for i in order] + pairs
    terms = terms[:most]
    columns = np.stack([_hermite(scores, term) for term in terms], axis=1)
    coefficients, variances, residual = _regression(columns, values)
    explained = np.maximum(coefficients**2 - variances, 0.0)
    of_inputs = np.zeros(inputs)
    for term, part in zip(terms, explained, strict=True):
        for i in term:
            of_inputs[i] += part / len(term)
    unexplained = residual / float(((values - values.mean()) ** 2).sum())
    if of_inputs.sum() == 0:
        return None
    return Shares(
        of_inputs=of_inputs / of_inputs.sum(),
        r_squared=1 - unexplained,
        r_squared_adjusted=1 - unexplained * (draws - 1) / (draws - 1 - len(terms)),
        terms=len(terms),
    )


def _hermite(scores: FloatArray, term: Sequence[int]) -> FloatArray:
    """Return one regressor of mean 0 and variance 1, shape (draws,)."""
    first, last = scores[:, term[0]], scores[:, term[-1]]
    if len(term) == 1:
        return first
    return (first**2 - 1) / np.sqrt(2) if term[0] == term[1] else first * last


def _regression(columns: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, float]:
    """Return coefficients and their sampling variances, without the constant, and the sum of squared residuals."""
    design = np.column_stack([np.ones(len(values)), columns])
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ (design.T @ values)
    residual = float(((values - design @ coefficients) ** 2).sum())
    free = max(len(values) - design.shape[1], 1)
    return coefficients[1:], np.diag(inverse)[1:] * residual / free, residual
