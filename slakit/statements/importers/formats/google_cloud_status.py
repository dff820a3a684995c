"""Google Cloud's `incidents.json`: `begin` is when the outage began, `created` when the notice was written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from slakit.statements.importers import json_records
from slakit.statements.importers.clock import Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Collector, Imported, State
from slakit.statements.importers.json_records import Element
from slakit.statements.importers.log import Log
from slakit.statements.importers.times import TimeError, is_open

STATES: Mapping[str, State] = {"SERVICE_OUTAGE": "down", "SERVICE_DISRUPTION": "degraded"}
NO_OUTAGE = "SERVICE_INFORMATION"


def read(log: Log, options: Options) -> Imported:
    """Read incidents.

    Raises
    ------
    DealError
        When the file is not plain JSON, or no time can be placed.
    """
    found, clock = Collector(log, "google-cloud-status"), Clock(log, options)
    for record in json_records.once_each(json_records.elements(log), found):
        _add(found, record, clock, options)
    clock.check()
    found.note(
        "units are the provider's services by place: a record counts only where a unit of the contract bears that "
        "name, or names it in log_names"
    )
    found.note("each place that an incident lists is taken as affected from its begin to its end")
    return found.finish()


def _add(found: Collector, record: Element, clock: Clock, options: Options) -> None:
    """Account for one incident: one record, an incident for each place."""
    value = record.value
    impact = str(value.get("status_impact") or "(no status_impact)")
    if impact == NO_OUTAGE:
        found.leave_out("service information: no outage")
        return
    try:
        begin = clock.read(_text(value, "begin") or "").at
        end = None if is_open(_text(value, "end")) else clock.read(_text(value, "end") or "").at
        created = clock.read(written).at if (written := _text(value, "created")) else None
    except TimeError as error:
        found.skip(record.line, record.raw, str(error))
        return
    service = _text(value, "service_name") or "; ".join(_titles(value.get("affected_products"))) or options.unit_id
    if not service:
        found.skip(record.line, record.raw, "names no service")
        return
    if impact not in STATES:
        found.unknown_state(impact)
    places = [*_titles(value.get("currently_affected_locations")), *_titles(value.get("previously_affected_locations"))]
    units = [f"{service}@{place}" for place in dict.fromkeys(places)] or [service]
    for number, unit in enumerate(units):
        made = found.incident(
            line=record.line,
            raw=record.raw,
            counts=number == 0,
            unit_id=unit[:200],
            level=options.unit_level or "site",
            state=STATES.get(impact, "unknown"),
            started_at=begin,
            ended_at=end,
            notice_at=created,
            cause=_text(value, "external_desc"),
        )
        if made is None:
            return


def _titles(listed: Any) -> list[str]:
    """Return ids of places, or titles of products, as the file lists them."""
    names = [
        (one.get("id") if "-" in str(one.get("id")) else one.get("title")) or one.get("title") or one.get("id")
        if isinstance(one, Mapping)
        else one
        for one in (listed if isinstance(listed, list) else [])
    ]
    return [name.strip() for name in names if isinstance(name, str) and name.strip()]


def _text(value: Mapping[str, Any], name: str) -> str | None:
    found = value.get(name)
    return found if isinstance(found, str) and found.strip() else None


def _sniff(log: Log) -> int:
    return 92 if json_records.keys(log).issuperset({"begin", "status_impact", "service_name"}) else 0


FORMS = (Form("google-cloud-status", "Incidents of Google Cloud's status page", _sniff, read),)
