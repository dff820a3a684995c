"""Readings of the monitor of record: the records of one unit must speak with one voice."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from risk.contract_rules.intervals import Spans, difference, union
from risk.core.computed import Computed, Step
from schemas.errors import NotComputedError
from schemas.incidents import Incident
from schemas.service_levels import Measurement

PARAGRAPH = "monitor-evidence.silent"


def exact(
    unit: str, spells: Sequence[tuple[Incident, Spans]], down: Spans, measurement: Measurement
) -> Computed[Spans]:
    """Return time of one unit for which there is no reading: marked unknown, and not shown as down by any record.

    Parameters
    ----------
    spells : the unit's records with the time each covers under the contract's clock.
    down : time shown as down by any of them.

    Raises
    ------
    NotComputedError
        When two monitors differ about the unit: which of them decides is settled before records are made.
    """
    unknown = union(span for record, spans in spells if record.state == "unknown" for span in spans)
    monitors = sorted({record.monitor_id for record, _ in spells if record.monitor_id is not None})
    silent = {
        name: union(s for r, spans in spells if r.state == "unknown" and r.monitor_id == name for s in spans)
        for name in monitors
    }
    shown = {
        name: union(s for r, spans in spells if r.state in ("down", "planned") and r.monitor_id == name for s in spans)
        for name in monitors
    }
    for name, other in pairwise(monitors):
        if difference(shown[name], silent[other]) != difference(shown[other], silent[name]):
            raise NotComputedError(
                "measurement.conflict",
                f"which of the monitors {name!r} and {other!r} decides about unit {unit!r}",
                "keep the records of the monitor that decides, or records without monitor_id",
            )
        if not measurement.monitor_fallback and shown[name] != shown[other]:
            raise NotComputedError(
                "measurement.monitor_fallback",
                f"unit {unit!r} shown as down by one of {name!r} and {other!r} while the other was silent",
                "keep the records of the monitor of record only",
            )
    left = difference(unknown, down)
    if not left:
        return Computed((), ())
    rule = "time without a valid reading is not downtime; it is shown as not measured"
    return Computed(left, (Step(PARAGRAPH, rule, left, {}, "measurement.monitor_fallback"),))
