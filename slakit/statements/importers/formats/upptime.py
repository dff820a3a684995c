"""Files of Upptime, recognised only to be refused: totals by day hold no interval."""

from __future__ import annotations

import re

from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused


def read(log: Log, options: Options) -> Imported:
    """Refuse a summary or a history file.

    Raises
    ------
    DealError
        Always.
    """
    if "dailyMinutesDown" in json_records.keys(log):
        found = "minutes down by day, without the time at which any outage began or ended"
    else:
        found = "the last state of a site; its startTime is when watching began, not an outage"
    raise refused(
        log.name, found, "the start and the end of each outage", "give the repository's issues or a monitor's log"
    )


def _sniff(log: Log) -> int:
    if "dailyMinutesDown" in json_records.keys(log):
        return 90
    names = set(re.findall(r"(?m)^(url|status|code|responseTime|lastUpdated|startTime|generator):", log.head))
    return 85 if len(names) >= 6 and "Upptime" in log.head else 0


FORMS = (Form("upptime", "Totals of Upptime", _sniff, read, holds_outages=False),)
