"""Files of targets and of configuration checks, recognised only to be refused: they hold no measurement of a unit."""

from __future__ import annotations

import re

from slakit.statements.importers import json_records
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused

_VERSION = re.compile(r"(?m)^[ \t\"'-]{0,40}apiVersion[\"']? {0,4}: {0,4}[\"']?openslo/v\d")


def read_openslo(log: Log, options: Options) -> Imported:
    """Refuse an OpenSLO file.

    Raises
    ------
    DealError
        Always.
    """
    raise refused(
        log.name,
        "OpenSLO, which holds targets and no measurements",
        "records of when a unit was down",
        "write its target and time window into service_levels; give the monitor's own data for outages",
    )


def read_clustermax(log: Log, options: Options) -> Imported:
    """Refuse a file of the ClusterMAX command line.

    Raises
    ------
    DealError
        Always.
    """
    keys = json_records.keys(log)
    if "audit_data" in keys:
        what = "an audit of configuration and security, which measures no availability"
    elif "components" in keys:
        what = "least versions of components, a list that goes out of date"
    else:
        what = "a list of criteria, without the result of any"
    raise refused(
        log.name,
        what,
        "records of when a unit was down",
        "keep it as evidence of acceptance, with its version; give node events or a monitor's log for outages",
    )


def _sniff_openslo(log: Log) -> int:
    return 92 if _VERSION.search(log.head) else 0


def _sniff_clustermax(log: Log) -> int:
    keys = json_records.keys(log)
    if keys.issuperset({"audit_data", "schema_version"}):
        return 92
    if keys.issuperset({"criteria", "coverage", "harnesses"}):
        return 92
    return 90 if keys.issuperset({"components", "floorAvailability"}) else 0


FORMS = (
    Form("openslo", "OpenSLO, targets", _sniff_openslo, read_openslo, holds_outages=False),
    Form("clustermax", "Files of ClusterMAX", _sniff_clustermax, read_clustermax, holds_outages=False),
)
