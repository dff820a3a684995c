"""Time readings of nodes, 5 million rows, against the same work written by hand in pandas, polars and duckdb.

`python benchmarks/telemetry.py` makes a month of readings in a temporary folder, runs each pipeline in a process of
its own, round after round, checks that all say the same of every node, and prints seconds and peak memory. Then it
makes ten times as many readings as Parquet and prints what these take.

What the pipelines written by hand do: read the text of times with their offset, states and units; sort; let the worst
of readings at one time count; find runs of readings and the silence after three intervals; join touching downtime and
outages close together; drop short outages; cut at the ends of the month; count whole minutes; compare with the table
of credits; and round money. They leave out what these data have none of: broken rows, times without offset, unknown
words, rows that name no node of the contract, changes of clocks, nodes in service for part of a month. They know the
terms; only slakit reads them from a deal file.
"""

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

NODES = 576
INTERVAL_SECONDS = 300
HOLDS_SECONDS = 3 * INTERVAL_SECONDS
MINIMUM_SECONDS = 600
MERGE_GAP_SECONDS = 600
MONTH = (1790812800, 1793491200)
"""October 2026 in UTC. [s]"""
FEES_CENTS = (1_234_567, 999_999)
"""Fee of the first 400 nodes and of the rest. [cent]"""
BANDS = ((999, 5), (990, 10), (950, 25))
"""Availability in thousandths below which so many hundredths are credited."""
STATES = ("up", "unknown", "planned", "degraded", "down")
DEAL = f"""\
schema_version: 1
measurement:
  zone: UTC
  monitor_interval_seconds: {INTERVAL_SECONDS}
  minimum_outage_minutes: {MINIMUM_SECONDS // 60}
  merge_gap_minutes: {MERGE_GAP_SECONDS // 60}
service_levels:
  nodes:
    level: node
    target: 0.999
    credit:
      bands:
        - {{below: 0.999, credit_fraction: 0.05}}
        - {{below: 0.990, credit_fraction: 0.10}}
        - {{below: 0.950, credit_fraction: 0.25}}
commercial: {{currency: USD, charges: {{}}, term: {{months: 12}}}}
operations:
  units:
    - {{names: "node-[0000-0399]", service: compute, monthly_fee: 12345.67, in_service_from: 2026-09-01}}
    - {{names: "node-[0400-%04d]", service: compute, monthly_fee: 9999.99, in_service_from: 2026-09-01}}
"""

Row = tuple[str, int, int, int, str]
"""Node, counted and unknown minutes, hundredths credited, credit in cents as text."""
Run = tuple[str, int, int, int]
"""Node, state, first and last reading. [s]"""


# --- data ------------------------------------------------------------------------------------------------------------


def make(folder: Path, copies: int) -> None:
    """Write the deal and the readings: a table of text, or Parquet when there are several copies of the fleet."""
    import polars as pl

    (folder / f"deal-{copies}.yaml").write_text(DEAL % (NODES * copies - 1))
    parts = []
    for copy in range(copies):
        frame = _readings(seed=7 + copy, first=NODES * copy)
        if copies == 1:
            frame.with_columns(pl.col("time").dt.strftime("%Y-%m-%dT%H:%M:%S+00:00")).write_csv(folder / "readings.csv")
            return
        parts.append(folder / f"part-{copy}.parquet")
        frame.write_parquet(parts[-1])
    pl.scan_parquet(parts).sink_parquet(folder / "readings.parquet", maintain_order=True)
    for part in parts:
        part.unlink()


def _readings(seed: int, first: int):
    """Return readings of `NODES` nodes in the order in which they came, some late, some twice, some missing."""
    import numpy as np
    import polars as pl

    rng = np.random.default_rng(seed)
    start, end = MONTH[0] - 6 * 3600, MONTH[1] + 6 * 3600
    steps = (end - start) // INTERVAL_SECONDS
    at = start + np.arange(steps)[:, None] * INTERVAL_SECONDS + rng.integers(0, 20, (steps, NODES))
    state = np.zeros((steps, NODES), dtype=np.int8)
    kept = rng.random((steps, NODES)) > 0.0005
    for node in range(NODES):
        for _ in range(rng.poisson(4)):
            begin, length = rng.integers(0, steps), 1 + int(rng.exponential(8))
            state[begin : begin + length, node] = rng.choice([4, 4, 4, 3, 2, 1])
        for _ in range(rng.poisson(1)):
            begin = rng.integers(0, steps)
            kept[begin : begin + rng.integers(2, 40), node] = False
    unit = np.broadcast_to(np.arange(first, first + NODES), (steps, NODES))
    at, state, unit = at[kept], state[kept], unit[kept]
    arrival = np.arange(len(at)) + np.where(rng.random(len(at)) < 0.0005, rng.integers(1, 3_000, len(at)), 0)
    order = np.argsort(arrival, kind="stable")
    order = np.repeat(order, 1 + (rng.random(len(order)) < 0.0003))
    at, state, unit = at[order], state[order], unit[order]
    again = np.flatnonzero((at[1:] == at[:-1]) & (unit[1:] == unit[:-1])) + 1
    state[again[rng.random(len(again)) < 0.2]] = 4  # a second monitor that saw the node down
    return pl.DataFrame({"time": at, "unit_id": unit, "state": state}).select(
        pl.from_epoch("time", time_unit="s").dt.replace_time_zone("UTC"),
        pl.format("node-{}", pl.col("unit_id").cast(pl.String).str.zfill(4)),
        pl.col("state").replace_strict(dict(enumerate(STATES)), return_dtype=pl.String),
    )


# --- by hand ---------------------------------------------------------------------------------------------------------


def by_pandas(path: Path) -> Iterator[Run]:
    """Read with pyarrow's reader of tables; sort readings as packed integers."""
    import numpy as np
    import pandas as pd

    table = pd.read_csv(
        path, engine="pyarrow", dtype={"unit_id": "category", "state": "category"}, parse_dates=["time"]
    )
    seconds = table["time"].to_numpy("datetime64[s]").astype(np.int64)
    code = np.array([STATES.index(name) for name in table["state"].cat.categories])[table["state"].cat.codes]
    key = (table["unit_id"].cat.codes.to_numpy(np.int64) << 36) | (seconds << 3) | code
    key.sort()
    key = key[np.r_[key[1:] >> 3 != key[:-1] >> 3, True]]  # the last of a time is the worst
    unit, at, said = key >> 36, (key >> 3) & (1 << 33) - 1, key & 7
    opens = np.r_[True, (unit[1:] != unit[:-1]) | (said[1:] != said[:-1]) | (np.diff(at) > HOLDS_SECONDS)]
    first = np.flatnonzero(opens)
    last = np.r_[first[1:], len(key)] - 1
    names = table["unit_id"].cat.categories
    runs = zip(unit[first].tolist(), said[first].tolist(), at[first].tolist(), at[last].tolist(), strict=True)
    yield from sorted(((names[u], s, a, b) for u, s, a, b in runs), key=lambda run: (run[0], run[2]))


def by_polars(path: Path) -> Iterator[Run]:
    """Read with the streaming engine; sort readings as packed integers."""
    import polars as pl

    table = (
        pl.scan_csv(path, schema={"time": pl.String, "unit_id": pl.Categorical, "state": pl.String})
        .select(
            key=pl.col("unit_id").to_physical().cast(pl.Int64) * 2**36
            + pl.col("time").str.to_datetime("%Y-%m-%dT%H:%M:%S%z", time_unit="ms").dt.epoch("s") * 8
            + pl.col("state").replace_strict({n: i for i, n in enumerate(STATES)}, return_dtype=pl.Int64),
            unit="unit_id",
        )
        .collect(engine="streaming")
    )
    names = table.select("unit").unique()
    names = dict(zip(names["unit"].to_physical().to_list(), names["unit"].cast(pl.String).to_list(), strict=True))
    key = table["key"].sort()
    key = key.filter((key // 8 != key.shift(-1) // 8).fill_null(True))  # the last of a time is the worst
    unit, at, said = key // 2**36, key // 8 % 2**33, key % 8
    opens = (unit != unit.shift()) | (said != said.shift()) | (at - at.shift() > HOLDS_SECONDS)
    opens = opens.fill_null(True)
    closes = opens.shift(-1).fill_null(True)
    runs = zip(unit.filter(opens), said.filter(opens), at.filter(opens), at.filter(closes), strict=True)
    yield from sorted(((names[u], s, a, b) for u, s, a, b in runs), key=lambda run: (run[0], run[2]))


def by_duckdb(path: Path) -> Iterator[Run]:
    """One statement of SQL."""
    import duckdb

    code = " ".join(f"WHEN '{name}' THEN {i}" for i, name in enumerate(STATES))
    yield from duckdb.sql(
        f"""
        WITH readings AS (
            SELECT unit_id AS unit, epoch_ms(time) // 1000 AS sec, CASE state {code} END AS said
            FROM read_csv('{path}', header = true,
                          columns = {{'time': 'TIMESTAMPTZ', 'unit_id': 'VARCHAR', 'state': 'VARCHAR'}})
        ), beside AS (
            SELECT *, lead(sec) OVER w AS following FROM readings WINDOW w AS (PARTITION BY unit ORDER BY sec, said)
        ), single AS (  -- the last of a time is the worst
            SELECT unit, sec, said FROM beside WHERE following IS DISTINCT FROM sec
        ), steps AS (
            SELECT *, lag(sec) OVER w AS before, lag(said) OVER w AS said_before
            FROM single WINDOW w AS (PARTITION BY unit ORDER BY sec)
        ), starts AS (
            SELECT *, lead(before) OVER (PARTITION BY unit ORDER BY sec) AS last
            FROM (SELECT * FROM steps
                  WHERE before IS NULL OR said_before <> said OR sec - before > {HOLDS_SECONDS})
        ), ends AS (SELECT unit, max(sec) AS last FROM single GROUP BY unit)
        SELECT unit, said, sec, coalesce(starts.last, ends.last)
        FROM starts JOIN ends USING (unit) ORDER BY unit, sec
        """
    ).fetchall()


def statements(runs: Iterator[Run]) -> list[Row]:
    """Return the table of the nodes from their runs, some six thousand: what all three share."""
    by_node: dict[str, list[Run]] = {}
    for run in runs:
        by_node.setdefault(run[0], []).append(run)
    return [_statement(node, found) for node, found in by_node.items()]


def _statement(node: str, runs: list[Run]) -> Row:
    low, high = MONTH
    unknown = max(runs[0][2] - low, 0)
    down: list[list[int]] = []
    for i, (_, state, first, last) in enumerate(runs):
        following = runs[i + 1][2] if i + 1 < len(runs) else max(high, last + HOLDS_SECONDS)
        end = min(last + HOLDS_SECONDS, following)
        if STATES[state] == "unknown":
            unknown += max(min(end, high) - max(first, low), 0)
        unknown += max(min(following, high) - max(end, low), 0)
        if STATES[state] in ("down", "planned"):
            if down and down[-1][1] == first:
                down[-1][1] = end
            else:
                down.append([first, end])
    outages: list[list[list[int]]] = []
    for piece in down:
        if outages and piece[0] - outages[-1][-1][1] < MERGE_GAP_SECONDS:
            outages[-1].append(piece)
        else:
            outages.append([piece])
    counted = sum(
        max(min(end, high) - max(start, low), 0) // 60
        for outage in outages
        if sum(end - start for start, end in outage) >= MINIMUM_SECONDS
        for start, end in outage
    )
    window = (high - low) // 60
    share = max((percent for below, percent in BANDS if 1000 * (window - counted) < below * window), default=0)
    fee = FEES_CENTS[int(node[5:]) >= 400]
    return node, counted, unknown // 60, share, f"{(2 * share * fee + 100) // 200}"


# --- slakit ----------------------------------------------------------------------------------------------------------


def by_slakit(path: Path) -> list[Row]:
    """Read the deal, then the readings."""
    from schemas.periods import Month
    from slakit.load import load_deal
    from slakit.statements.telemetry.node_statements import node_statements
    from slakit.statements.units import contracted_units

    deal = load_deal(path.with_name("deal-1.yaml" if path.suffix == ".csv" else "deal-10.yaml")).deal
    table = node_statements(path, deal, contracted_units(deal), [Month(2026, 10)]).lines
    return [
        (node, counted, unknown, round(float(share) * 100), credit.replace(".", "").lstrip("0") or "0")
        for node, counted, unknown, share, credit in table.select(
            "unit", "counted_minutes", "unknown_minutes", "credit_fraction", "credit"
        ).iter_rows()
    ]


PIPELINES: dict[str, Callable[[Path], list[Row]]] = {
    "slakit": by_slakit,
    "pandas": lambda path: statements(by_pandas(path)),
    "polars": lambda path: statements(by_polars(path)),
    "duckdb": lambda path: statements(by_duckdb(path)),
}


def report(run_once: Callable[[list[str], Path], Any], rounds: int, copies: int = 10) -> None:
    """Print seconds and memory of every pipeline, and of slakit alone with `copies` times the readings."""

    def command(*words: str) -> list[str]:
        return [sys.executable, str(Path(__file__).resolve()), *words]

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_once(command("--make", "1", "--folder", name), folder)
        path = folder / "readings.csv"
        timings: dict[str, list] = {label: [] for label in PIPELINES}
        tables = {}
        for i in range(rounds + 1):  # the first round is not counted
            for label in PIPELINES:
                done = run_once(command("--only", label, "--folder", name), folder)
                tables[label] = json.loads((folder / f"{label}.json").read_text())
                if i:
                    timings[label].append(done)
        for label, table in tables.items():
            if table != tables["slakit"]:
                differ = [pair for pair in zip(tables["slakit"], table, strict=False) if pair[0] != pair[1]][:3]
                raise SystemExit(f"{label} says something else than slakit: {differ}")
        medians = {label: statistics.median(t.seconds for t in done) for label, done in timings.items()}
        fastest = min(seconds for label, seconds in medians.items() if label != "slakit")
        with path.open("rb") as file:
            count = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 24), b"")) - 1
        print(
            f"\n{count:,} readings, {path.stat().st_size / 1e6:.0f} MB, {len(tables['slakit'])} nodes, all four agree; "
            f"median of {rounds}"
        )
        print(f"{'pipeline':<32}{'seconds':>9}{'least':>9}{'CPU s':>9}{'peak MB':>9}{'ratio':>9}")
        for label, done in timings.items():
            processor = statistics.median(t.processor_seconds for t in done)
            least, peak = min(t.seconds for t in done), max(t.peak_mb for t in done)
            ratio = medians[label] / fastest
            print(f"{label:<32}{medians[label]:>9.2f}{least:>9.2f}{processor:>9.2f}{peak:>9.0f}{ratio:>9.2f}")
        path.unlink()
        run_once(command("--make", str(copies), "--folder", name), folder)
        stored = folder / "readings.parquet"
        done = run_once(command("--only", "slakit", "--folder", name), folder)
        nodes = len(json.loads((folder / "slakit.json").read_text()))
        label = f"slakit, {copies} times, Parquet"
        print(f"{label:<32}{done.seconds:>9.2f}{'':>9}{done.processor_seconds:>9.2f}{done.peak_mb:>9.0f}", end="")
        print(f"   {nodes:,} nodes, {stored.stat().st_size / 1e6:.0f} MB")


def main() -> None:
    """Run one pipeline in this process, or all of them, each in its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="counted runs of each pipeline")
    parser.add_argument("--folder", type=Path, help="where the readings are")
    parser.add_argument("--make", type=int, help="only make readings, so many copies of the fleet")
    parser.add_argument("--only", choices=PIPELINES, help="only run this pipeline")
    options = parser.parse_args()
    if options.make:
        make(options.folder, options.make)
    elif options.only:
        start = time.perf_counter()
        text = options.folder / "readings.csv"
        table = PIPELINES[options.only](text if text.exists() else options.folder / "readings.parquet")
        print(f"{time.perf_counter() - start:.3f} s with imports")
        (options.folder / f"{options.only}.json").write_text(json.dumps(table))
    else:
        from run import run_once

        report(run_once, options.rounds)


if __name__ == "__main__":
    main()
