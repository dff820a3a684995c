"""Readings of many units, millions of rows, turned into spells and into monthly statements of nodes.

A reading says what a monitor saw of one unit at one time; it holds until the next reading of that unit, at most
`MOST_INTERVALS` intervals of the monitor. After that the time is unknown, not down. Rows of another form give the start
and the end of a spell. `rows` reads a file in batches, `runs` makes runs of like readings of each batch and joins them,
`spells` makes spells of runs, and `node_statements` counts and credits them by the rules of `risk.contract_rules`.
polars is imported inside functions: a command that reads no telemetry does not pay for it.
"""
