"""What a result was computed from: the deal, the data beside the code, the versions, the seed and the draws.

A document carries more: its kind, what its pages were laid out with, and the digests of what travels in it, so that
`slakit verify` can make it again from itself alone.
"""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cache
from hashlib import sha256
from importlib import metadata
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from schemas.base import Terms
from schemas.sources import Source
from slakit.load import LoadedDeal
from slakit.paths import templates_dir

DISTRIBUTION = "slakit"
FORMAT, FORMAT_VERSION = "slakit-manifest", 1


def manifest(
    loaded: LoadedDeal, seed: int, draws: int, outer: int = 0, *, stress_draws: int = 0, lever_draws: int = 0
) -> dict[str, Any]:
    """Return what makes a result repeatable; no clock and no name of a machine or a file is in it.

    Returns
    -------
    dict
        `deal_sha256` of the canonical deal, `file_sha256` of its file, `schema_version`, `data_as_of` (latest date of
        any source in the deal, None where it names none), `data_sha256` of the project's own data files, `seed`,
        `draws`, `outer` (sets of uncertain numbers), `stress_draws` and `lever_draws` (futures of each stress and
        lever), each 0 where none were asked for, and `versions` of Python, of slakit and of each package it depends
        on.
    """
    latest = max(source_dates(loaded.deal), default=None)
    return {
        "deal_sha256": loaded.sha256,
        "file_sha256": loaded.file_sha256,
        "schema_version": loaded.deal.schema_version,
        "data_as_of": latest.isoformat() if latest else None,
        "data_sha256": data_sha256(),
        "seed": seed,
        "draws": draws,
        "outer": outer,
        "stress_draws": stress_draws,
        "lever_draws": lever_draws,
        "versions": versions(),
    }


def document_manifest(kind: str, made_from: Mapping[str, Any], attached: Mapping[str, bytes]) -> dict[str, Any]:
    """Return the manifest that a document carries.

    Parameters
    ----------
    kind
        Name of the kind of document in the registry of `slakit.verify.kinds`.
    made_from
        Digests of the inputs, seed, draws and versions, as plain data.
    attached
        Files that travel with the document, by name.

    Returns
    -------
    dict
        `format`, `format_version`, `kind`, everything of `made_from`, `attached` {name: sha256}, and `sha256` of all
        this, by which a changed digit of the manifest is found.
    """
    whole = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "kind": kind,
        **made_from,
        "attached": {name: sha256(content).hexdigest() for name, content in attached.items()},
    }
    return {**whole, "sha256": manifest_sha256(whole)}


def manifest_sha256(manifest: Mapping[str, Any]) -> str:
    """Return the digest of a manifest, whatever digest it states itself."""
    rest = {name: value for name, value in manifest.items() if name != "sha256"}
    return sha256(json.dumps(rest, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def print_sha256(*places: str, root: Path | None = None) -> str:
    """Return the SHA-256 of some files of the templates, and of those in some of its folders, by name and content.

    `root` stands for the templates instead of the project's own.
    """
    digest = sha256()
    base = root or templates_dir()
    for place in places:
        for path in sorted(path for path in (base / place, *(base / place).rglob("*")) if path.is_file()):
            digest.update(path.relative_to(base).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python, slakit and the packages it always needs, by name."""
    found = {"python": platform.python_version()}
    try:
        found[DISTRIBUTION] = metadata.version(DISTRIBUTION)
        required = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return found | {DISTRIBUTION: "not installed"}
    names = [requirement for requirement in required if "extra ==" not in requirement]
    for name in sorted(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0].lower() for requirement in names):
        found[name] = metadata.version(name)
    return found


@cache
def data_sha256() -> str:
    """Return the SHA-256 of all YAML files of the package `risk`, by name and content."""
    digest = sha256()
    for name, content in sorted(_yaml_files(files("risk"), "risk")):
        digest.update(name.encode() + b"\0" + content + b"\0")
    return digest.hexdigest()


def source_dates(value: object) -> Iterator[date]:
    """Yield the date of every source in terms: of numbers that carry their own, and of `provenance`."""
    match value:
        case Source():
            yield value.as_of
        case Terms():
            for name in type(value).model_fields:
                yield from source_dates(getattr(value, name))
        case Mapping():
            for inner in value.values():
                yield from source_dates(inner)
        case tuple() | list():
            for inner in value:
                yield from source_dates(inner)


def _yaml_files(folder: Traversable, name: str) -> Iterator[tuple[str, bytes]]:
    for entry in folder.iterdir():
        path = f"{name}/{entry.name}"
        if entry.is_dir():
            yield from _yaml_files(entry, path)
        elif entry.name.endswith(".yaml"):
            yield path, entry.read_bytes()
