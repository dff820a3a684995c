"""What a failed check of a node's health means, from `health_checks.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from slakit.statements.importers import gpu_faults
from slakit.statements.importers.gpu_faults import Effect
from slakit.statements.importers.imported import State

_XID = re.compile(r"\bXid \([^)]{1,60}\): (\d{1,4})\b,?([^\n]*)", re.IGNORECASE)


def failed(check: str, words: str, fault_list: Mapping[str, str] | None) -> Effect:
    """Return what a failed check says, by its name and the words that it printed."""
    name, table = check.strip().casefold(), _table()
    if any(name.startswith(one) for one in table["no_outage"]):
        return Effect(None, "", f"{check[:60]}: a setting, no outage")
    if any(name.startswith(one) for one in table["xid"]):
        effects = [gpu_faults.xid(int(code), rest, fault_list) for code, rest in _XID.findall(words)]
        if not effects:
            return Effect("unknown", "", is_known=False)
        return max(effects, key=lambda one: -1 if one.state is None else gpu_faults.RANK[one.state])
    states: dict[str, list[str]] = table["states"]
    state: State
    for state in ("down", "degraded"):
        if any(name.startswith(one) for one in states[state]):
            return Effect(state, "")
    return Effect("unknown", "", is_known=False)


@cache
def _table() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("health_checks.yaml").read_text(encoding="utf-8"))
    return data
