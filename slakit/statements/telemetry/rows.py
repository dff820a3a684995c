"""Rows of a file as arrays, batch by batch; what cannot be used goes to the account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from slakit.statements.importers.log import printable
from slakit.statements.importers.times import TimeError, is_open
from slakit.statements.telemetry import states, times
from slakit.statements.telemetry.account import Account
from slakit.statements.telemetry.source import ROWS_AT_ONCE, Source, cut, refusing

if TYPE_CHECKING:
    import polars as pl

IntArray = NDArray[np.int64]
OPEN_END = times.LAST
"""End of a spell that has not ended. [us]"""
SAMPLES = 1_000
"""Rows from which it is told how times are written. [row]"""
NEW = -2
"""Number of a word not seen before."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Usable rows in the order of the file, each array of shape (rows,)."""

    unit: NDArray[np.int32]
    """Place in the names."""
    times: tuple[IntArray, ...]
    """The time of a reading, or the start and the end of a spell. [us]"""
    state: NDArray[np.int8]
    line: IntArray


class Names:
    """Words of a column to numbers, each word looked at once."""

    def __init__(self, number_of: Callable[[str], int] | None = None) -> None:
        """Number words as they come, or by a function that gives -1 for a word that says nothing."""
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._number_of = number_of or self.numbered
        self._of_code: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._kept: pl.Series | None = None

    def numbered(self, word: str) -> int:
        """Return the place of a word in `names`, to which it is added when it is new; -1 for a blank."""
        name = printable(word.strip())[:200]
        if name and name not in self._numbers:
            self._numbers[name] = len(self.names)
            self.names.append(name)
        return self._numbers.get(name, -1)

    def of(self, words: pl.Series) -> NDArray[np.int32]:
        """Return the number of each word of a categorical column, -1 where there is none."""
        import polars as pl

        if self._kept is None:  # polars numbers categories anew once no column holds them
            self._kept = words
        holes = words.is_null().to_numpy() if words.null_count() else None
        codes = (words.to_physical() if holes is None else words.to_physical().fill_null(0)).to_numpy()
        missing = int(codes.max(initial=0)) + 1 - len(self._of_code)
        if missing > 0:
            self._of_code = np.r_[self._of_code, np.full(missing, NEW, dtype=np.int32)]
        found: NDArray[np.int32] = self._of_code[codes]
        if (found == NEW).any():
            new = words.unique().drop_nulls()
            for code, word in zip(new.to_physical().to_list(), new.cast(pl.String).to_list(), strict=True):
                self._of_code[code] = self._number_of(word)
            found = self._of_code[codes]
        if holes is not None:
            found[holes] = -1
        return found


class States(Names):
    """Words for states to codes; a word that no table knows has a number from `len(states.NAMES)` on."""

    def __init__(self) -> None:
        """Know the words of `states`."""
        super().__init__(self._code)

    def _code(self, word: str) -> int:
        code = states.state_of(word)
        if code is not None:
            return code
        number = self.numbered(word)
        return number if number < 0 else number + len(states.NAMES)

    def settled(self, found: NDArray[np.int32], account: Account) -> NDArray[np.int8]:
        """Return the codes of used rows; unknown words are counted, and their time is unknown."""
        if self.names:
            strange = found >= len(states.NAMES)
            for number, rows in enumerate(np.bincount(found[strange] - len(states.NAMES))):
                if rows:
                    account.unknown_states[self.names[number][:80]] += int(rows)
            found[strange] = states.UNKNOWN
        return found.astype(np.int8)


def batches(source: Source, names: Names, account: Account, zone: str | None) -> Iterator[Rows]:
    """Yield the usable rows of a file.

    Parameters
    ----------
    names : filled with the units found.
    account : filled with what becomes of the rows.
    zone : IANA zone of times without an offset; without it such rows are skipped.

    Raises
    ------
    DealError
        When the file as a whole cannot be read.
    """
    words = States()
    with refusing(source.name):
        frame = source.scanned()
        if frame is None:
            for texts in source.texts(account):
                if texts.height:
                    yield _used(source, _read(source, texts.lazy(), zone).collect(), names, words, account, zone)
            return
        # batches are made while the one before is worked on
        for batch in _read(source, frame, zone).collect_batches(chunk_size=ROWS_AT_ONCE, maintain_order=True):
            yield _used(source, batch, names, words, account, zone)


def _read(source: Source, frame: pl.LazyFrame, zone: str | None) -> pl.LazyFrame:
    """Return the rows with their times as numbers, units and states as categories, and which must be looked at."""
    import polars as pl

    schema = frame.collect_schema()
    head = frame.select(source.times).head(SAMPLES).collect()
    moments = [times.whole_column(name, schema[name], head[name].to_list(), zone) for name in source.times]
    state = pl.col("state").cast(pl.Int64) if schema["state"] == pl.Boolean else pl.col("state")
    odd = pl.any_horizontal(*(moment.is_null() for moment in moments))
    return frame.select(
        "line",
        *source.times,
        *(moment.alias(f"{name} us") for name, moment in zip(source.times, moments, strict=True)),
        _category(pl.col("unit_id"), schema["unit_id"]),
        _category(state, schema["state"]),
        (odd | pl.col("more") if "more" in schema else odd).alias("odd"),
        *(["more"] if "more" in schema else []),
    )


def _category(column: pl.Expr, dtype: pl.DataType) -> pl.Expr:
    import polars as pl

    return column if isinstance(dtype, pl.Categorical) else column.cast(pl.String).cast(pl.Categorical())


def _used(source: Source, frame: pl.DataFrame, names: Names, words: States, account: Account, zone: str | None) -> Rows:
    """Return the usable rows of one batch."""
    account.rows += frame.height
    unit, state = names.of(frame["unit_id"]), words.of(frame["state"])
    moments = [frame[f"{name} us"].to_numpy() for name in source.times]
    line = frame["line"].to_numpy()
    odd = frame["odd"].to_numpy() | (unit < 0) | (state < 0)
    keep = None
    if odd.any():
        keep = np.full(len(unit), True)
        moments = [frame[f"{name} us"].fill_null(0).to_numpy().copy() for name in source.times]
        for i, row in zip(np.flatnonzero(odd).tolist(), frame.filter(odd).iter_rows(named=True), strict=True):
            found = _times(source, row, int(unit[i]), int(state[i]), account, zone)
            for values, value in zip(moments, found or (), strict=False):
                values[i] = value
            keep[i] = found is not None
    if len(moments) == 2:
        keep = _ends_after_start(source, account, moments, line, keep)
    if keep is not None and not keep.all():
        unit, state, line, moments = unit[keep], state[keep], line[keep], [moment[keep] for moment in moments]
    return Rows(unit, tuple(moments), words.settled(state, account), line)


def _times(
    source: Source, row: dict[str, Any], unit: int, state: int, account: Account, zone: str | None
) -> list[int] | None:
    """Return the times of one row that must be looked at by itself, None when it is not used. [us]"""
    texts = [None if row[name] is None else str(row[name]) for name in (*source.times, "unit_id", "state")]
    if not any(text and text.strip() for text in texts):
        account.left_out["blank row"] += 1
        return None
    found: list[int] = []
    reason = None
    if row.get("more"):
        reason = ("too many fields", "more fields than the header names")
    elif unit < 0:
        reason = ("no unit", "no unit_id")
    elif state < 0:
        reason = ("no state", "no state")
    else:
        try:
            for i, (name, text) in enumerate(zip(source.times, texts, strict=False)):
                known = row[f"{name} us"]
                if known is None:
                    known = OPEN_END if i and is_open(text) else times.one(text or "", zone)
                found.append(known)
        except TimeError as error:
            reason = ("unusable time", str(error))
    if reason is None:
        return found
    account.skip(source.name, row["line"], cut(", ".join(text or "" for text in texts)), *reason)
    return None


def _ends_after_start(
    source: Source, account: Account, moments: list[IntArray], line: IntArray, keep: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    """Return which rows are kept once those that end before they start are skipped."""
    wrong = moments[1] < moments[0]
    if keep is not None:
        wrong &= keep
    if not wrong.any():
        return keep
    for i in np.flatnonzero(wrong).tolist():
        shown = f"{times.at(int(moments[0][i]))} to {times.at(int(moments[1][i]))}"
        account.skip(source.name, int(line[i]), shown, "ends before it starts", "ended_at lies before started_at")
    return ~wrong if keep is None else keep & ~wrong
