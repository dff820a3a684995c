"""Where the real samples of logs lie, when they are there; a small deal and its log, stated."""

import os
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from slakit.load import load_deal
from slakit.reports.clauses import Clauses
from slakit.statements.credits import Stated, stated
from slakit.statements.gather import Sources
from slakit.statements.importers.form import Options
from slakit.statements.numbers import clauses_for

ROOT = Path(__file__).resolve().parents[3]

RIDGE = """\
schema_version: 1
title: Ridge order 3
parties:
  provider: {name: Ridge Compute LLC, role: provider, notice_address: "4 Mill Lane\\nDenver"}
  customer: {name: "Tarn Research, Inc.", role: customer}
services: {compute: {tranches: [first]}}
clusters:
  ridge: {units: {gpu: 96, node: 12, rack: 2}}
delivery: {tranches: {first: {cluster: ridge, ready_for_service_date: 2026-01-12}}}
measurement: {zone: America/Chicago}
service_levels:
  nodes:
    level: node
    target: "0.995"
    credit:
      bands:
        - {below: "0.995", credit_fraction: "0.10"}
        - {below: "0.99", credit_fraction: "0.25"}
        - {below: "0.95", credit_fraction: "0.50"}
exclusions: {scheduled: {notice_days: 7, cap_unit_month_hours: "8"}}
credits: {caps: {month: "0.30", year: "0.10"}}
commercial:
  currency: USD
  charges: {compute: {price: {per: node_month, amount: "20000"}}}
  term: {months: 36}
operations:
  units: [{names: "n[01-12]", level: node, parent: ridge, log_names: ["{}.ridge.example"]}]
"""
"""A deal with twelve nodes of one level; times below are in UTC, five or six hours ahead of its zone."""
LOG = """\
unit_id,started_at,ended_at,cause,cause_party
n02.ridge.example,2026-10-03T07:14Z,2026-10-03T14:41Z,xid 79,provider
N05,2026-10-12T05:00Z,2026-10-12T08:15Z,maintenance,provider
n07,2026-10-20T01:00Z,2026-10-20T07:45Z,power shelf,provider
n08,2026-10-20T01:00Z,2026-10-20T07:45Z,power shelf,provider
n09,2026-10-20T01:00Z,2026-10-20T07:45Z,power shelf,provider
n10,2026-10-28T01:00Z,2026-10-28T01:00:40Z,flap,provider
login1,2026-10-30T01:00Z,2026-10-30T02:00Z,reboot,provider
n11,2026-13-30T01:00Z,2026-10-30T02:00Z,reboot,provider
"""
"""Worked by hand: n02 447 min (25 %), n05 195 less 120 excluded (met), n07 to n09 405 min (10 %), n10 too short."""
WINDOWS = "id,kind,starts_at,ends_at,unit_ids,notice_id\nw1,scheduled,2026-10-12T05:00Z,2026-10-12T07:00Z,n05,m1\n"
NOTICES = "id,kind,sent_at,unit_ids\nm1,maintenance,2026-10-01T00:00Z,n05\n"

MORE = (
    ("measurement: {", "measurement: {conflict: expert, monitors: {m-1: provider, m-2: customer}, "),
    ("{notice_days: 7, cap_unit", '{notice_days: 7, max_concurrent_fraction: "0.05", cap_unit'),
    (
        "credits: {caps:",
        "cancellation: {chronic_failure: {limbs: [{form: single_outage, service_level: nodes, hours: 5}]}}\n"
        "credits: {between_heads: highest, caps:",
    ),
    (
        "operations:\n",
        "operations:\n  replacement: {target_hours: {node: 6}}\n"
        "  support: {severities: {p1: {response_minutes: 15}}}\n",
    ),
)
"""What makes the deal one with monitors of both sides, a limit to planned work at once, a right to end, and times of
replacement and response."""
MORE_LOG = """\
unit_id,started_at,ended_at,state,monitor_id
n02,2026-10-03T07:14Z,2026-10-03T14:41Z,down,m-1
n02,2026-10-03T07:14Z,2026-10-03T15:41Z,down,m-2
n05,2026-10-12T05:00Z,2026-10-12T08:15Z,down,
n07,2026-10-20T01:00Z,2026-10-20T07:45Z,down,
n08,2026-10-20T01:00Z,2026-10-20T07:45Z,down,
n10,2026-10-28T01:00Z,2026-10-28T01:00:40Z,down,
n11,2026-10-29T01:00Z,2026-10-29T04:00Z,unknown,
n12,2026-10-29T01:00Z,2026-10-29T04:00Z,down,
"""
"""Replacements took 447 min and more against 360; w2 of n12 was announced two days before."""
MORE_WINDOWS = WINDOWS + "w2,scheduled,2026-10-29T01:00Z,2026-10-29T04:00Z,n12,m2\n"
MORE_NOTICES = NOTICES + "m2,maintenance,2026-10-27T00:00Z,n12\n"
TICKETS = (
    "id,severity,opened_at,first_response_at\n"
    "t1,p1,2026-10-03T07:20Z,2026-10-03T08:39Z\n"
    "t2,p1,2026-10-20T07:20Z,2026-10-20T07:25Z\n"
)


@pytest.fixture(scope="session")
def logs() -> Path:
    folder = Path(os.environ.get("SLAKIT_LOGS", ROOT.parent / "shared" / "data" / "logs"))
    if not folder.is_dir():
        pytest.skip("the real samples of logs are not here; SLAKIT_LOGS names their folder")
    return folder


@pytest.fixture(scope="session")
def ridge() -> str:
    """Return the text of a deal with twelve nodes."""
    return RIDGE


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Path]]:
    """Return a function that writes files into a folder of their own and gives their paths by name."""

    def of(**contents: str | bytes) -> dict[str, Path]:
        folder = tmp_path_factory.mktemp("statement")
        found = {}
        for name, content in contents.items():
            path = folder / name.replace("_", ".")
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            found[name] = path
        return found

    return of


@pytest.fixture(scope="session")
def state(files: Callable[..., dict[str, Path]]) -> Callable[..., Stated]:
    """Return a function that states a log, given as text or as texts by name, on the terms of a deal."""

    def of(
        log: str | Mapping[str, str] = LOG,
        deal: str = RIDGE,
        *,
        periods: str | None = "2026-10",
        as_of: datetime | None = None,
        options: Options | None = None,
        numbered: bool = False,
        **records: str,
    ) -> Stated:
        named = {"log_csv": log} if isinstance(log, str) else dict(log)
        written = files(deal_yaml=deal, **named, **{f"{kind}_csv": text for kind, text in records.items()})
        loaded = load_deal(written["deal_yaml"])
        given: dict[str, Any] = {kind: written[f"{kind}_csv"] for kind in records}
        sources = Sources(tuple(written[name] for name in named), **given)
        clauses = clauses_for(loaded.deal, None) if numbered else Clauses({})
        return stated(loaded, sources, options or Options(), periods=periods, as_of=as_of, clauses=clauses)

    return of


@pytest.fixture(scope="session")
def october(state: Callable[..., Stated]) -> Stated:
    """Return October 2026 of the deal with its log, window and notice."""
    return state(windows=WINDOWS, notices=NOTICES, numbered=True)


@pytest.fixture(scope="session")
def much(state: Callable[..., Stated], ridge: str) -> Stated:
    """Return October 2026 with a disputed outage, rights, planned work at once, late replacements and an answer."""
    for old, new in MORE:
        assert old in ridge
        ridge = ridge.replace(old, new, 1)
    return state(MORE_LOG, ridge, windows=MORE_WINDOWS, notices=MORE_NOTICES, tickets=TICKETS, numbered=True)


@pytest.fixture(scope="session")
def claimed_late(state: Callable[..., Stated], ridge: str) -> Callable[..., Stated]:
    """Return a function that states October 2026 where a credit is lost that is not claimed within 30 days."""
    process = "process: {mode: claimed, window_days: 30, window_from: period_end, late: forfeit}"

    def of(notices: str = NOTICES, as_of: datetime | None = None) -> Stated:
        deal = ridge.replace("credits: {caps:", f"credits: {{{process}, caps:")
        return state(deal=deal, windows=WINDOWS, notices=notices, as_of=as_of, numbered=True)

    return of
