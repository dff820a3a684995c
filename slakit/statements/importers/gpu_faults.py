"""What the fault of a GPU says about its node: the contract's fault list first, else the table `gpu_faults.yaml`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from slakit.statements.importers.imported import State

RANK: Mapping[State, int] = {"unknown": 0, "planned": 0, "degraded": 1, "down": 2}
"""Which of two states of one fault stands; the greater. [1]"""

LONGEST_TEXT = 400
"""Characters of a line in which the action that a code asks for is looked for. [character]"""

_CODE = re.compile(r"(?:gpu[\s_-]*)?xid[\s_-]*", re.IGNORECASE)
_ACTION = re.compile(r".*\bto\s+(?:0x[0-9a-f]+\s*)?\(?([^()]+?)\)?\s*$", re.IGNORECASE)
_FATAL = re.compile(r"(?<![\w-])fatal\b", re.IGNORECASE)
_NON_FATAL = re.compile(r"\bnon-?\s?fatal\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Effect:
    """What one fault says."""

    state: State | None
    """None where it is no outage."""
    code: str
    """As the contract lists it, else as the log names it."""
    reason: str = ""
    """Why it is no outage."""
    is_known: bool = True
    """False where no table knows the code."""


def xid(code: int, text: str, fault_list: Mapping[str, str] | None) -> Effect:
    """Return what an XID says, with the words that follow it in the log."""
    if fault_list:
        return _listed(str(code), f"XID {code}", fault_list)
    table = _table()
    found: Any = "unknown"
    if code in table["by_fatal"]:
        found = "down" if _FATAL.search(text) else "degraded"
    elif code in table["by_pending"]:
        words = "|".join(table["pending_words"])
        found = "degraded" if re.search(rf"\b(?:{words})\b", text, re.IGNORECASE) else "no_outage"
    elif code in table["by_recovery_action"]:
        action = _ACTION.match(text[:LONGEST_TEXT])
        found = recovery(action[1]) if action else "unknown"
    else:
        found = next((name for name in ("down", "degraded", "no_outage") if code in table[name]), "unknown")
    return _effect(found, str(code), f"XID {code}: the program's fault, a consequence or a repair made, no outage")


def sxid(code: int, text: str, fault_list: Mapping[str, str] | None) -> Effect:
    """Return what a fault of an NVSwitch says, with the words that follow it in the log."""
    if fault_list:
        return _listed(f"SXID {code}", f"SXID {code}", fault_list)
    kind = "non-fatal" if _NON_FATAL.search(text) else "fatal" if _FATAL.search(text) else ""
    return _effect(_table()["switch"].get(kind, "unknown"), f"SXID {code}", f"SXID {code}: no outage")


def memory(fault: str, fault_list: Mapping[str, str] | None) -> Effect:
    """Return what a repair of memory says, `row_remap_pending` for example."""
    if fault_list:
        return _listed(fault, fault, fault_list)
    return _effect(_table()["memory"].get(fault, "unknown"), fault, f"{fault}: no outage")


def recovery(action: str) -> str:
    """Return what the recovery action that a GPU asks for says: a state, `no_outage` or `unknown`."""
    return str(_table()["recovery_actions"].get(action.strip().casefold(), "unknown"))


def _listed(code: str, shown: str, fault_list: Mapping[str, str]) -> Effect:
    """Return what the contract says about a code; a code that it does not list is no outage by itself."""
    plain = _CODE.sub("", code).casefold() if not code.startswith("SXID") else code.casefold()
    for name, meaning in fault_list.items():
        key = name.strip().casefold()
        if (key if key.startswith("sxid") else _CODE.sub("", key)) == plain:
            if meaning in ("down", "degraded"):
                return Effect("down" if meaning == "down" else "degraded", name)
            return Effect(None, name, f"{shown}: {meaning} by the fault list of the contract")
    return Effect(None, code, f"{shown}: not in the fault list of the contract")


def _effect(found: str, code: str, reason: str) -> Effect:
    if found == "no_outage":
        return Effect(None, code, reason)
    state: State = "down" if found == "down" else "degraded" if found == "degraded" else "unknown"
    return Effect(state, code, is_known=found != "unknown")


def pci(place: str) -> str:
    """Return a PCI place as domain, bus and device in lower case: `00000000:10:1C.0` is `0000:10:1c`."""
    parts = place.strip().casefold().removeprefix("pci:").split(".")[0].split(":")
    if len(parts) == 2:
        parts = ["0", *parts]
    return ":".join((parts[0].lstrip("0").rjust(4, "0"), *parts[1:]))


@cache
def _table() -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("gpu_faults.yaml").read_text(encoding="utf-8"))
    return data
