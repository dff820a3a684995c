"""Files are written whole or not at all, and never over the deal they come from."""

import errno
import os
from pathlib import Path

import pytest

from schemas.errors import DealError
from slakit.files import refuse_place, write_whole


def test_a_file_and_its_folders_are_written(tmp_path: Path):
    path = tmp_path / "a" / "b" / "c.json"
    assert write_whole(path, b"new") == path
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in path.parent.iterdir()] == ["c.json"]


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch):
    path = tmp_path / "c.json"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space left") as caught:
        write_whole(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_whole(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"new"


def test_a_device_is_written_to_and_stays(tmp_path: Path):
    write_whole(Path(os.devnull), b"new")
    assert not Path(os.devnull).is_file()


def test_places_that_cannot_hold_a_file_are_refused(tmp_path: Path):
    deal = tmp_path / "deal.yaml"
    deal.write_text("schema_version: 1\n")
    for place, found in (
        (deal, "the deal file itself"),
        (tmp_path / "." / "deal.yaml", "the deal file itself"),
        (tmp_path, "a folder"),
        (deal / "below" / "x.json", "below the file"),
    ):
        with pytest.raises(DealError, match=found):
            refuse_place(place, "--save-json", deal)
    refuse_place(tmp_path / "new" / "x.json", "--save-json", deal)
