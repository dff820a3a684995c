"""A look into a file that anyone may have made: in a process of its own, with bounds on memory and time.

The caller's side is `ask`; the process itself runs `answer`. Files go in as bytes on standard input, and one JSON
object comes back on standard output; the process opens no file by a name that it was given, and can write none.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

MEMORY = 1024 * 1024 * 1024
"""Address space of the process. [byte]"""
SECONDS = 60
"""Processor time of the process. [s]"""
WAIT = 180
"""Longest wait for the process. [s]"""


class NotReadable(Exception):
    """The file is not one of ours; says what was found and what to do."""

    def __init__(self, found: str, remedy: str) -> None:
        self.found, self.remedy = found, remedy
        super().__init__(found)


def ask(module: str, *files: bytes, asked: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return what a module finds in some files.

    Parameters
    ----------
    module
        Name of a module whose `__main__` calls `answer`.
    asked
        What the module is asked beside the files, plain data.

    Raises
    ------
    NotReadable
        When the module refuses a file, or needs more memory or time than it may have.
    """
    head = json.dumps({"asked": dict(asked or {}), "sizes": [len(file) for file in files]}).encode()
    try:
        process = subprocess.run(
            # -P: import nothing from the folder we stand in, where a foreign file may have brought company
            [sys.executable, "-P", "-B", "-m", module],
            input=b"".join((head, b"\n", *files)),
            env=own_path(),
            capture_output=True,
            timeout=WAIT,
            check=False,
        )
        found: dict[str, Any] = json.loads(process.stdout)
    except (subprocess.TimeoutExpired, ValueError):
        raise NotReadable("a file that cannot be read within bounds of memory and time", "do not trust it") from None
    if "refused" in found:
        raise NotReadable(found["refused"], found["remedy"])
    return found


def answer(look: Callable[..., dict[str, Any]], kind: str) -> None:
    """Answer one question within the bounds: hand files and question to `look` and print what it finds.

    Parameters
    ----------
    look
        Takes the files as bytes, one after the other, and the question as keywords.
    kind
        What such a file is called, for example `PDF`.
    """
    head = json.loads(sys.stdin.buffer.readline())
    files = [sys.stdin.buffer.read(size) for size in head["sizes"]]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    try:
        found = look(*files, **head["asked"])
    except NotReadable as error:
        found = {"refused": error.found, "remedy": error.remedy}
    except Exception as error:  # whatever a parser raises on a file made to break it
        if isinstance(error, MemoryError) or "bad_alloc" in str(error):
            said, remedy = "that needs more memory than any document of ours", "do not trust it"
        else:
            said, remedy = "with a broken structure", "ask for the file again"
        found = {"refused": f"a {kind} {said}", "remedy": remedy}
    sys.stdout.write(json.dumps(found))


def own_path() -> dict[str, str]:
    """Return the environment in which the process finds this package, wherever it is installed."""
    package_root = str(Path(__file__).resolve().parents[2])
    paths = [package_root, *filter(None, [os.environ.get("PYTHONPATH")])]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
