"""Time whole commands, as a user meets them, and print a table: seconds and peak memory of the process.

The first run of each command is not counted: it compiles what later runs find compiled. Nothing here passes
or fails; compare two rows only when the same machine was otherwise idle.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import telemetry

ROOT = Path(__file__).resolve().parents[1]
DEAL = ROOT / "examples" / "gb300-prepaid-hyperscaler.yaml"
WHOLE_CHAIN = ROOT / "tests" / "golden" / "gd-10.yaml"
"""55 months, every risk on."""
SLAKIT = Path(sys.executable).with_name("slakit")


@dataclass(frozen=True, slots=True)
class Timing:
    """One finished process."""

    seconds: float
    """From start to exit, on the wall clock. [s]"""
    processor_seconds: float
    """User and system time of the process and its children. [s]"""
    peak_mb: float
    """Largest resident set of the process. [MB]"""


def run_once(command: list[str], folder: Path) -> Timing:
    """Run `command` in `folder` and return what it took; its output is shown only when it fails."""
    log = folder / "output.txt"
    with log.open("w") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=folder, stdout=output, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{log.read_text()}")
    return Timing(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e6)


def main() -> None:
    """Run each command several times, round after round, and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="counted runs of each command")
    parser.add_argument("--draws", type=int, default=10_000, help="futures simulated by `slakit score`")
    options = parser.parse_args()

    commands = {
        "slakit --help": [str(SLAKIT), "--help"],
        "slakit check": [str(SLAKIT), "check", str(DEAL)],
        f"slakit score --draws {options.draws}": [
            str(SLAKIT),
            "score",
            str(DEAL),
            "--draws",
            str(options.draws),
        ],
        "whole chain, 100,000, 2 workers": [
            str(SLAKIT),
            "score",
            str(WHOLE_CHAIN),
            "--draws",
            "100000",
            "--workers",
            "2",
        ],
        "slakit draft": [str(SLAKIT), "draft", str(DEAL), "-o", "drafted"],
    }
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command in commands.values():
            run_once(command, folder)
        # Round by round, so that a slow minute of the machine touches every command alike.
        rounds = [{label: run_once(c, folder) for label, c in commands.items()} for _ in range(options.rounds)]

    print(f"{'command':<32}{'seconds':>9}{'least':>9}{'CPU s':>9}{'peak MB':>9}   median of {options.rounds}")
    for label in commands:
        timings = [done[label] for done in rounds]
        seconds = [timing.seconds for timing in timings]
        processor = statistics.median(timing.processor_seconds for timing in timings)
        peak = max(timing.peak_mb for timing in timings)
        print(f"{label:<32}{statistics.median(seconds):>9.2f}{min(seconds):>9.2f}{processor:>9.2f}{peak:>9.0f}")
    telemetry.report(run_once, options.rounds)


if __name__ == "__main__":
    main()
