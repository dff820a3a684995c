"""Files that a command writes: whole or not at all, and never over the deal they were made from."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path

from schemas.errors import DealError, Problem


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file whole or not at all and return its path; folders on the way are made.

    The content is written beside its place and then moved there. A device is written to as it is.

    Raises
    ------
    OSError
        When it cannot be written; the error names `path`.
    """
    try:
        make_folder(path.parent)
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_bytes(content)
        else:
            _move_into(Path(os.path.realpath(path)), content)
    except OSError as error:
        error.filename, error.filename2 = str(path), None
        raise
    return path


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, where they are not there yet."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except FileExistsError as error:  # what the system says of a file where a folder should be
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), error.filename) from None


def refuse_place(path: Path, option: str, deal: Path) -> None:
    """Refuse a place that cannot hold a file, before any work is done for it.

    Raises
    ------
    DealError
        When the place is a folder, lies below a file, or is the deal file itself.
    """
    if path.exists() and deal.exists() and path.samefile(deal):
        raise _refused(option, f"{path}, the deal file itself", "a file of its own")
    if path.is_dir():
        raise _refused(option, f"{path}, a folder", "a file")
    holder = next((folder for folder in path.parents if folder.exists()), None)
    if holder is not None and not holder.is_dir():
        raise _refused(option, f"{path}, which lies below the file {holder}", "a file in a folder")


def _refused(option: str, found: str, expected: str) -> DealError:
    return DealError([Problem(option, found, expected, "name another file")])


def _move_into(path: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(prefix=".slakit-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
