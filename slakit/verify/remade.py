"""What making a document again gives: the file as it should be, and what its inputs say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from slakit.documents.attach import MANIFEST
from slakit.manifest import manifest_sha256
from slakit.verify.carriers import Carried, mapping_in
from slakit.verify.figures import figures
from slakit.verify.found import ABSENT, Findings, shortened

Progress = Callable[[int, int], None]
FIRST_NAMED = ("slakit", "python", "numpy", "scipy")
"""Versions that move figures first."""


@dataclass(frozen=True, slots=True)
class Work:
    """How the simulation is run again."""

    workers: int = 1
    progress: Progress | None = None


@dataclass(slots=True)
class Remade:
    """A document made again."""

    content: bytes
    """The whole file."""
    files: Mapping[str, bytes]
    """Files that it carries, the manifest left out."""
    figures: int = 0
    """Figures computed again. [1]"""
    numbering: Mapping[str, str] = field(default_factory=dict)
    """Printed number of each paragraph, of a contract."""


NOT_ASKED_AGAIN = frozenset(
    {"attached", "sha256", "versions", "data_sha256", "templates_sha256", "styles_sha256", "file_sha256", "as_of",
     "document_time"}
)  # fmt: skip
"""Entries of a manifest that the document cannot be asked again, or that have a check of their own."""


def check_digests(carried: Carried, found: Findings) -> None:
    """Find a manifest or a file beside it that was changed after the document was made."""
    manifest = carried.manifest
    if manifest.get("sha256") != manifest_sha256(manifest):
        where = carried.place(MANIFEST, "sha256 (its own digest)")
        found.differ(where, manifest.get("sha256"), manifest_sha256(manifest))
    for name in sorted({*manifest["attached"], *carried.files}):
        now = sha256(carried.files[name]).hexdigest() if name in carried.files else "no such file"
        stated = manifest["attached"].get(name, "no such file")
        if now != stated:
            found.differ(carried.place(MANIFEST, f"attached.{name} (digest of the file)"), stated, now)


def check_manifest(carried: Carried, here: Mapping[str, Any], found: Findings) -> None:
    """Find where a manifest says something else of the inputs than they say themselves.

    Parameters
    ----------
    here
        The manifest that the document would have if it were made now.
    """
    for name in sorted({*carried.manifest, *here}):
        stated, now = (one.get(name, ABSENT) for one in (carried.manifest, here))
        if (name not in NOT_ASKED_AGAIN and stated != now) or ABSENT in (stated, now):
            found.differ(carried.place(MANIFEST, name), stated, now)


def is_untouched(carried: Carried, name: str) -> bool:
    """Return whether a file is the one that the manifest names."""
    stated = carried.manifest["attached"].get(name)
    return name in carried.files and bool(sha256(carried.files[name]).hexdigest() == stated)


def look_for_reasons(carried: Carried, here: Mapping[str, Any], found: Findings) -> None:
    """Find why figures or pages may differ without anyone having changed them: other versions, data or templates.

    Parameters
    ----------
    here
        What the manifest would say if the document were made now: `versions`, and digests by name.
    """
    stated, now = carried.manifest["versions"], here["versions"]
    names = sorted(set(stated) | set(now), key=lambda name: (name not in FIRST_NAMED, name))
    changed = [
        f"{name} {stated.get(name, 'not named')} (here {now.get(name, 'not there')})"
        for name in names
        if stated.get(name) != now.get(name)
    ]
    if changed:
        said = shortened(", ".join(changed))
        found.versions.append(f"Made with other versions, so figures and pages may differ: {said}.")
    for key, words in (
        ("data_sha256", "The project's own data have changed since, so figures may differ"),
        ("templates_sha256", "The templates have changed since, so pages may differ"),
        ("styles_sha256", "Styles or fonts have changed since, so pages may differ"),
    ):
        if key in here and carried.manifest.get(key) != here[key]:
            found.reasons.append(f"{words} ({str(carried.manifest.get(key))[:8]}, here {here[key][:8]}).")


def compare_files(carried: Carried, remade: Remade, found: Findings, but: frozenset[str] = frozenset()) -> None:
    """Hold the files that a document carries against those made again, by the path of each value.

    Parameters
    ----------
    but
        Files that were compared before.
    """
    for name in sorted(set(remade.files) - but):
        if name not in carried.files:
            found.differ(name, "not in the document", "carried by it")
        elif carried.files[name] != remade.files[name]:
            stored, again = (mapping_in(files[name], carried.name, name) for files in (carried.files, remade.files))
            different = [figure for figure in figures(stored, again) if not figure.same]
            for figure in different:
                found.differ(carried.place(name, figure.path), figure.stored, figure.recomputed)
            if not different:
                found.notes.append(f"{name} is written in another way and says the same.")
