"""What a result is said to be computed from."""

import platform
import re
from pathlib import Path

import numpy as np
import pytest

from slakit.json_text import json_text
from slakit.load import LoadedDeal, load_deal
from slakit.manifest import data_sha256, manifest, versions
from slakit.paths import templates_dir

STARTERS = templates_dir() / "starters"


@pytest.fixture
def loaded() -> LoadedDeal:
    return load_deal(STARTERS / "small-cluster.yaml")


def test_the_same_input_gives_the_same_manifest(loaded: LoadedDeal):
    again = load_deal(STARTERS / "small-cluster.yaml")
    assert json_text(manifest(loaded, 7, 100)) == json_text(manifest(again, 7, 100))


def test_a_manifest_names_deal_seed_draws_and_versions(loaded: LoadedDeal):
    found = manifest(loaded, seed=7, draws=100)
    assert (found["deal_sha256"], found["seed"], found["draws"]) == (loaded.sha256, 7, 100)
    assert found["schema_version"] == 1
    assert found["versions"]["python"] == platform.python_version()
    assert found["versions"]["numpy"] == np.__version__


def test_the_data_are_as_old_as_their_latest_source(loaded: LoadedDeal, tmp_path: Path):
    assert manifest(loaded, 1, 1)["data_as_of"] == "2026-11-30"
    bare = tmp_path / "bare.yaml"
    bare.write_text("schema_version: 1\n")
    assert manifest(load_deal(bare), 1, 1)["data_as_of"] is None


def test_packages_of_extras_are_left_out():
    assert "pytest" not in versions()
    assert {"slakit", "pydantic", "pyyaml"} <= set(versions())


def test_the_data_beside_the_code_have_one_hash():
    assert re.fullmatch(r"[0-9a-f]{64}", data_sha256())


def test_no_name_of_a_machine_or_a_file_is_in_it(loaded: LoadedDeal):
    text = json_text(manifest(loaded, 1, 1))
    assert str(STARTERS) not in text
    assert "small-cluster" not in text
