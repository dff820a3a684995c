"""`slakit serve`: the app in the browser, on this machine only."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

from schemas.errors import DealError, Problem
from slakit.cli.outcome import Outcome
from slakit.paths import app_file

if TYPE_CHECKING:
    from rich.console import Console

ADDRESS = "127.0.0.1"
LARGEST_UPLOAD_MB = 5
STANDARD_OUTPUT, STANDARD_ERROR = 1, 2


def command(port: int) -> list[str]:
    """Return the command that serves the app."""
    settings = {
        "server.address": ADDRESS,
        "server.port": port,
        "server.headless": "true",
        "server.fileWatcherType": "none",
        "server.maxUploadSize": LARGEST_UPLOAD_MB,
        "browser.gatherUsageStats": "false",
        "client.showErrorDetails": "none",
        "client.toolbarMode": "viewer",
    }
    flags = [part for name, value in settings.items() for part in (f"--{name}", str(value))]
    return [sys.executable, "-m", "streamlit", "run", str(app_file()), *flags]


def run(port: int) -> Outcome:
    """Return where the app is served; this process then becomes its server.

    What the server prints goes to standard error, so that standard output holds the address alone.
    """
    if find_spec("streamlit") is None:
        raise DealError(
            [Problem("slakit serve", "no streamlit", "the extra `app`", "install it: pip install 'slakit[app]'")]
        )
    address = f"http://{ADDRESS}:{port}"
    return Outcome({"address": address}, lambda console: _show(console, address), then=lambda: _become(command(port)))


def _become(arguments: list[str]) -> None:
    sys.stdout.flush()
    os.dup2(STANDARD_ERROR, STANDARD_OUTPUT)
    os.execv(arguments[0], arguments)


def _show(console: Console, address: str) -> None:
    console.print(f"Serving {address} to this machine only; Ctrl-C ends it.")
