"""Feeds of status pages, Atom or RSS.

A feed tells its state in words only. Statuspage writes the time of each update without a year and gives one full time,
`published`, which is that of the last update: where the two agree to the minute the years follow, newest to oldest.
Entries of other feeds hold one time, that of the post, and cannot be placed.
"""

from __future__ import annotations

import html
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from datetime import UTC, datetime

from slakit.statements.importers.clock import MONTHS, Clock
from slakit.statements.importers.form import Form, Options
from slakit.statements.importers.imported import Bound, Collector, Imported
from slakit.statements.importers.log import Log
from slakit.statements.importers.refusal import refused
from slakit.statements.importers.table_words import plain
from slakit.statements.importers.times import TimeError, local, plausible

ENDS = frozenset({"resolved", "completed"})
PLANNED = frozenset({"scheduled", "in_progress", "verifying", "completed"})

_UPDATE = re.compile(r"<small>([^\n]{1,300}?)</small>\s*<br\s*/?>\s*<strong>([^<\n]{1,60})</strong>")
_WHEN = re.compile(r"([A-Z][a-z]{2})\s+(\d{1,2}),\s+(\d{2}):(\d{2})\s+([A-Za-z]{1,5}|[+-]\d{2}(?:\d{2})?)")
_ENTRY = re.compile(r"<(?:\w+:)?(?:entry|item)[\s>]")


@dataclass(frozen=True, slots=True)
class _Update:
    naive: datetime
    """In year 2000, which has every day; its year follows."""
    is_utc: bool
    word: str


def read(log: Log, options: Options) -> Imported:
    """Read a feed.

    Raises
    ------
    DealError
        When it is no well-formed XML, declares a document type or entities, or not one entry can be placed.
    """
    if re.search(r"<!\s*(DOCTYPE|ENTITY)", log.text, re.IGNORECASE):
        raise refused(log.name, "a document type or entities in a feed", "plain Atom or RSS", "do not trust this file")
    try:
        root = ElementTree.fromstring(log.text)
    except (ElementTree.ParseError, ValueError) as error:
        raise refused(
            log.name, str(error), "well-formed XML", "load the feed again; it may have been cut off"
        ) from error
    found, clock = Collector(log, "statuspage-feed"), Clock(log, options)
    entries = [one for one in root.iter() if _local(one) in ("entry", "item")]
    places = [match.start() for match in _ENTRY.finditer(log.text)]
    lines = _lines(log.text, places) if len(places) == len(entries) else [None] * len(entries)
    unit = options.unit_id or _page(root)
    seen: dict[str, None] = {}
    for line, entry in zip(lines, entries, strict=True):
        raw = f"{_text(entry, 'title')} | {_text(entry, 'published', 'pubDate')} | {_text(entry, 'id', 'guid')}"
        body = _text(entry, "content", "description")
        if raw + body in seen:
            found.duplicate()
            continue
        seen[raw + body] = None
        if unit is None:
            found.skip(line, raw, "names no unit: name it with --unit")
            continue
        _add(found, line, raw, entry, body, clock, options, unit)
    if entries and not found.used:
        raise refused(
            log.name,
            f"{len(entries)} entries of which none tells when its outage began and ended ({found.skipped[0].reason})"
            if found.skipped
            else f"{len(entries)} entries without times",
            "updates with times, as Statuspage writes them",
            "load the page's incidents.json instead",
        )
    found.note("a feed names no impact: whether the unit was down or degraded is unknown")
    found.note("times are those at which updates were written, to the minute; the outage began no later than the first")
    found.note("the unit is the page, not a unit of the customer")
    return found.finish()


def _add(
    found: Collector,
    line: int | None,
    raw: str,
    entry: ElementTree.Element,
    body: str,
    clock: Clock,
    options: Options,
    unit: str,
) -> None:
    """Account for one entry."""
    try:
        updates = _updates(body)
        if not updates:
            raise TimeError("its text gives no time of an update, only the time of the post")
        stamps = [clock.read(text).at for name in ("published", "pubDate", "updated") if (text := _text(entry, name))]
        times = _with_years(updates, stamps, options)
    except TimeError as error:
        found.skip(line, raw, str(error))
        return
    words = [update.word for update in updates]
    ended = next((at for at, word in zip(times, words, strict=True) if word in ENDS), None)
    is_planned = bool(PLANNED & set(words))
    begun = times[-1]
    if is_planned:
        started = [at for at, word in zip(times, words, strict=True) if word == "in_progress"]
        if not started:
            found.leave_out("planned work that has not begun")
            return
        begun = started[-1]
    if ended is None and words[0] == "postmortem":
        found.skip(line, raw, "has a postmortem but does not say when it was resolved")
        return
    if not is_planned:
        found.unknown_state("(a feed names no impact)")
    made = found.incident(
        line=line,
        raw=raw,
        unit_id=unit,
        level=options.unit_level or "site",
        state="planned" if is_planned else "unknown",
        started_at=begun,
        ended_at=ended,
        notice_at=times[-1],
        cause=_text(entry, "title") or None,
    )
    if made is None or is_planned:
        return
    found.bound(Bound(made.id, "started_at", None, begun))
    monitoring = [at for at, word in zip(times, words, strict=True) if word == "monitoring"]
    if ended is not None and monitoring and monitoring[-1] < ended:
        found.bound(Bound(made.id, "ended_at", monitoring[-1], ended))


def _updates(body: str) -> list[_Update]:
    """Return the updates in the text of an entry, newest first as they stand; one that cannot be read is an error."""
    found = []
    for when, word in _UPDATE.findall(body):
        text = " ".join(html.unescape(re.sub(r"<[^>]*>", "", when)).split())
        parts = _WHEN.fullmatch(text)
        if parts is None or parts[1].casefold() not in MONTHS:
            raise TimeError(f"the time {text[:40]!r} of an update cannot be read")
        try:
            naive = datetime(  # noqa: DTZ001 - its zone and year follow
                2000, MONTHS.index(parts[1].casefold()) + 1, int(parts[2]), int(parts[3]), int(parts[4])
            )
        except ValueError as error:
            raise TimeError(f"the time {text[:40]!r} of an update is none: {error}") from error
        found.append(_Update(naive, parts[5].upper() in ("UTC", "GMT"), plain(word)))
    return found


def _with_years(updates: list[_Update], stamps: list[datetime], options: Options) -> list[datetime]:
    """Return the times of updates, newest first; the newest must agree with a full time of the entry to the minute."""
    newest = None
    for stamp in stamps:
        at = _placed(updates[0], stamp.year, options)
        for year in (stamp.year - 1, stamp.year + 1):
            if abs(at - stamp).days > 300:
                at = _placed(updates[0], year, options)
        if at == stamp.replace(second=0, microsecond=0):
            newest = at
            break
    if newest is None:
        raise TimeError("its last update agrees with no full time of the entry, so its year cannot be told")
    times = [newest]
    for update in updates[1:]:
        at = _placed(update, times[-1].year, options)
        if at > times[-1]:
            at = _placed(update, times[-1].year - 1, options)
            if (times[-1] - at).days > 180:
                raise TimeError("its updates do not run from the newest to the oldest, so their years cannot be told")
        times.append(at)
    return times


def _placed(update: _Update, year: int, options: Options) -> datetime:
    """Return an update in a year, in UTC."""
    try:
        naive = update.naive.replace(year=year)
    except ValueError as error:
        raise TimeError(f"29 February is no day of {year}") from error
    if update.is_utc:
        return plausible(naive.replace(tzinfo=UTC))
    return local(naive, options.zone)


def _local(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


def _text(element: ElementTree.Element, *names: str) -> str:
    """Return the text of the first child of one of these names."""
    return next(((one.text or "").strip() for name in names for one in element if _local(one) == name), "")


def _page(root: ElementTree.Element) -> str | None:
    """Return the name of the page: its author, or the title of the feed."""
    for element in root.iter():
        if _local(element) == "author" and (name := _text(element, "name")):
            return name
        if _local(element) in ("entry", "item"):
            break
    channel = next((one for one in root if _local(one) == "channel"), root)
    return _text(channel, "title") or None


def _lines(text: str, places: list[int]) -> list[int | None]:
    """Return the number of the line at each place."""
    found: list[int | None] = []
    line, counted = 1, 0
    for place in places:
        line += len(re.findall(r"\r\n|\n|\r", text[counted:place]))
        counted = place
        found.append(line)
    return found


def _sniff(log: Log) -> int:
    head = log.head.lstrip()[:4000]
    if not re.match(r"<(\?xml|feed|rss)", head):
        return 0
    return 85 if re.search(r"<(feed|rss)[\s>]", head) else 0


FORMS = (Form("statuspage-feed", "Feed of a status page, Atom or RSS", _sniff, read),)
