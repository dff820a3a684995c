"""Messages of Slurm's controller about nodes, as its source writes them, and the two ways a line of its log begins."""

from __future__ import annotations

import re

LINE = re.compile(
    r"\[(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]\s*(?:\[\d+\]\s*)?(?P<text>.*)"
)
SYSLOG = re.compile(
    r"(?P<at>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:?\d\d)) \S+ slurmctld(?:\[\d+\])?: (?P<text>.*)"
)
LEVEL = re.compile(r"^(?:(?:error|fatal|info|verbose|debug\d?|sched|backfill|agent|slurmctld):\s+)+")
SET_DOWN = re.compile(r"Nodes? (?P<nodes>\S+) not responding, setting DOWN\b.*")
SILENT = re.compile(r"Nodes? (?P<nodes>\S+) not responding")
RESPONDS = re.compile(r"Nodes? (?P<nodes>\S+) now responding")
RETURNED = re.compile(r"(?:\w+: )?node (?P<nodes>\S+) returned to service", re.IGNORECASE)
REBOOTED = re.compile(
    r"(?:\w+: )?Node (?P<nodes>\S+) unexpectedly rebooted(?: boot_time=(?P<boot>\d+) last response=(?P<last>\d+))?"
)
SET = re.compile(r"(?:update_node|drain_nodes|set_node_down\w*): node (?P<nodes>\S+) state set to (?P<state>\S+)")
SETTING = re.compile(r"(?:\w+: )?Setting node (?P<nodes>\S+) state to (?P<state>\w+)(?: with reason: ?(?P<reason>.*))?")
REASON = re.compile(r"(?:update_node|drain_nodes): node (?P<nodes>\S+) reason set to: ?(?P<reason>.*)")
KILLING = re.compile(r"Killing .{0,60}on failed node (?P<nodes>\S+)")
STARTED = re.compile(r"slurmctld version \S+ started\b.*")
ABOUT_NODES = re.compile(
    r"not responding|now responding|returned to service|unexpectedly rebooted|state set to|Setting node"
)
