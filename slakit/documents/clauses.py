"""Clause folders and document descriptions, read from `templates/` and checked."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import yaml
from pydantic import BeforeValidator, Field, ValidationError

from schemas.base import Terms
from schemas.errors import DealError, Problem
from schemas.units import Text
from slakit.paths import templates_dir

Slug = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
STANDARD_POSITION = "balanced"
T = TypeVar("T", bound=Terms)


class Mark(Terms):
    """One paragraph of a clause and who answers for it."""

    id: Annotated[str, Field(pattern=r"^[a-z][a-z0-9.-]{0,62}$")]
    """Id within the clause; a nested paragraph without a mark of its own shares its parent's."""
    mark: Literal["computed", "checked", "text"]
    why: Text | None = None
    """Who or what checks it, for `checked` and `text`."""


class DefaultReason(Terms):
    """Why a term has the value it has in the standard."""

    term: str
    value: Any
    reason: Text
    range: Text
    source: Text


class ClauseSource(Terms):
    """A public source behind the clause."""

    what: Text
    source: Text


class Meaning(Terms):
    """A defined term of the list in clause 1."""

    term: Annotated[str, Field(min_length=1, max_length=80)]
    text: Text
    """Meaning, a template like the clause texts."""
    paragraph: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,62}$")]
    """Id of the entry within the clause."""


def _names(value: Any) -> Any:
    return tuple(value) if isinstance(value, dict) else value


class ClauseFile(Terms):
    """A clause folder's `clause.yaml`."""

    slug: Slug
    title: Annotated[str, Field(min_length=1, max_length=120)]
    terms: tuple[str, ...] = ()
    """Paths of the deal, or prefixes of them, that the texts may read; `*` stands for one key or index."""
    defines: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    """Defined terms that stand in bold in its text."""
    paragraphs: tuple[Mark, ...] = ()
    defaults: tuple[DefaultReason, ...] = ()
    sources: tuple[ClauseSource, ...] = ()
    definitions: tuple[Meaning, ...] = ()

    def mark_of(self, paragraph: str) -> Mark | None:
        """Return the mark of a paragraph id such as `unit.first`, its own or its parent's."""
        marks = {mark.id: mark for mark in self.paragraphs}
        while paragraph not in marks and "." in paragraph:
            paragraph = paragraph.rpartition(".")[0]
        return marks.get(paragraph)


class Part(Terms):
    """Clauses under one heading of the contents."""

    title: Annotated[str, Field(min_length=1, max_length=80)]
    clauses: tuple[Slug, ...] = Field(min_length=1)


class Page(Terms):
    """A page of its own before or after the clauses."""

    id: Slug
    title: Annotated[str, Field(min_length=1, max_length=120)]
    label: str = ""
    """Name that references print, for example `Annex 1`."""
    numbers: Literal["none", "parties", "recitals", "clauses"] = "none"
    terms: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()


class DocumentFile(Terms):
    """A document: its clauses in order and the pages around them."""

    id: Slug
    title: Annotated[str, Field(min_length=1, max_length=120)]
    status: Annotated[str, Field(min_length=1, max_length=120)]
    language: Annotated[str, Field(pattern=r"^[a-z]{2}$")] = "en"
    front: tuple[Page, ...] = ()
    parts: tuple[Part, ...] = Field(min_length=1)
    execution: Page
    annexes: tuple[Page, ...] = ()
    proper_nouns: tuple[str, ...] = ()
    """Capitalised words that are no defined terms."""
    words_to_avoid: tuple[str, ...] = ()
    """Words that the standard does not use."""

    def clauses(self) -> tuple[str, ...]:
        """Return the slugs in printed order."""
        return tuple(slug for part in self.parts for slug in part.clauses)

    def pages(self) -> tuple[Page, ...]:
        """Return every page around the clauses."""
        return (*self.front, self.execution, *self.annexes)


def document_file(document: str, root: Path | None = None) -> DocumentFile:
    """Return the description of a document, for example `sla`."""
    folder = (root or templates_dir()) / "documents"
    known = sorted(path.stem for path in folder.glob("*.yaml"))
    if document not in known:
        raise DealError(
            [
                Problem(
                    path="document",
                    found=repr(document),
                    expected=f"one of {', '.join(known)}",
                    remedy="name a document that can be drafted",
                )
            ]
        )
    return _validated(DocumentFile, folder / f"{document}.yaml")


def clause_file(slug: str, root: Path | None = None) -> ClauseFile:
    """Return the description of a clause."""
    path = (root or templates_dir()) / "clauses" / slug / "clause.yaml"
    clause = _validated(ClauseFile, path)
    if clause.slug != slug:
        raise _fault(path, f"slug {clause.slug!r}", f"the folder's name {slug!r}", "make them agree")
    return clause


def clause_text(slug: str, position: str, root: Path | None = None, language: str = "en") -> Path | None:
    """Return the file that holds a clause's text in one position, the standard one where it has no own."""
    folder = (root or templates_dir()) / "clauses" / slug / "text"
    for name in (position, STANDARD_POSITION):
        path = folder / f"{name}.{language}.md.j2"
        if path.is_file():
            return path
    return None


def page_text(document: str, page: str, root: Path | None = None, language: str = "en") -> Path:
    """Return the file that holds the text of a page around the clauses."""
    return (root or templates_dir()) / "documents" / document / f"{page}.{language}.md.j2"


def positions(document: DocumentFile, root: Path | None = None) -> tuple[str, ...]:
    """Return the positions that at least one clause of the document has a text for."""
    found = {STANDARD_POSITION}
    for slug in document.clauses():
        folder = (root or templates_dir()) / "clauses" / slug / "text"
        found |= {path.name.split(".")[0] for path in folder.glob(f"*.{document.language}.md.j2")}
    return tuple(sorted(found))


def clauses_without_document(root: Path | None = None) -> tuple[str, ...]:
    """Return the slugs of clause folders that no document uses."""
    base = root or templates_dir()
    used = {slug for path in (base / "documents").glob("*.yaml") for slug in document_file(path.stem, root).clauses()}
    folders = (path.name for path in (base / "clauses").iterdir() if path.is_dir())
    return tuple(sorted(set(folders) - used))


def templates_digest(files: list[Path], root: Path | None = None) -> str:
    """Return the sha256 over names and contents of the templates a document was made from."""
    base = root or templates_dir()
    digest = hashlib.sha256()
    for path in sorted(set(files)):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(base).as_posix()}\n{len(content)}\n".encode())
        digest.update(content)
    return digest.hexdigest()


@lru_cache(maxsize=512)
def _data(path: Path, changed: int) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = mark.line + 1 if mark else None
        problem = str(getattr(error, "problem", "")) or "a broken file"
        raise _fault(path, problem, "YAML", "correct the file", line) from None


class _Loader(yaml.SafeLoader):
    """Safe YAML whose dates stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


def _validated(kind: type[T], path: Path) -> T:
    if not path.is_file():
        raise _fault(path, "no file", f"a {kind.__name__}", "add it or take its name out of the document")
    try:
        return kind.model_validate(_data(path, path.stat().st_mtime_ns))
    except ValidationError as error:
        raise DealError(
            Problem(
                path=".".join(str(part) for part in item["loc"]),
                found=repr(item["input"])[:120],
                expected=item["msg"],
                remedy="correct the template",
                file=path.name if path.parent.name == "documents" else f"{path.parent.name}/{path.name}",
            )
            for item in error.errors()
        ) from None


def _fault(path: Path, found: str, expected: str, remedy: str, line: int | None = None) -> DealError:
    file = f"{path.parent.name}/{path.name}"
    return DealError([Problem("template", found, expected, remedy, line=line, file=file)])
