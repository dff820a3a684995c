"""Files that people really have, read into incidents and windows.

One module of `formats` is one format: it says how sure it is that a file is its own (`sniff`) and reads it (`read`).
Formats are found by looking, not registered. What a reader cannot use it names: a line that is broken is skipped with
its number and the reason, a state that no table knows is listed and counted apart, and nothing is guessed.
"""
