"""Where the real samples of logs lie, when they are there."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def logs() -> Path:
    folder = Path(os.environ.get("SLAKIT_LOGS", ROOT.parent / "shared" / "data" / "logs"))
    if not folder.is_dir():
        pytest.skip("the real samples of logs are not here; SLAKIT_LOGS names their folder")
    return folder
