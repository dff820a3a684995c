"""Capitalised words of a contract: which are defined, which only look like it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = r"[A-Z][A-Za-z’-]*[a-z][A-Za-z’-]*"
_PHRASE = re.compile(rf"{_WORD}(?:(?:[ \u00a0](?:of the |of |and )?){_WORD})*")
_START = re.compile(r"(?:^|[.!?:;]\s+|^\W+)$")


def singular(phrase: str) -> str:
    """Return the singular of a phrase's last word, near enough to compare defined terms.

    >>> singular("Service Credits"), singular("Facilities"), singular("Business Day’s")
    ('Service Credit', 'Facility', 'Business Day')
    """
    phrase = re.sub(r"’s?$", "", phrase)
    if phrase.endswith("ies"):
        return f"{phrase[:-3]}y"
    if phrase.endswith("s") and not phrase.endswith("ss"):
        return phrase[:-1]
    return phrase


def uses(words: str, known: frozenset[str]) -> set[str]:
    """Return the defined terms that occur in some words, in the singular, plural or possessive."""
    return {term for term in known if _pattern(term).search(words)}


def capitalised(words: str, known: frozenset[str], nouns: frozenset[str]) -> Iterator[str]:
    """Yield capitalised phrases that are neither defined terms nor proper nouns.

    The first word of a sentence may be capitalised for no other reason, so it alone is no evidence.

    >>> list(capitalised("The Provider pays a Service Fee.", frozenset({"Provider"}), frozenset()))
    ['Service Fee']
    """
    for match in _PHRASE.finditer(words):
        first = bool(_START.search(words[: match.start()]))
        rest = _rest(match[0], known | nouns, first=first)
        if rest:
            yield rest


def avoided(words: str, avoid: tuple[str, ...]) -> Iterator[str]:
    """Yield the words to avoid that occur."""
    for word in avoid:
        if re.search(rf"\b{re.escape(word)}\b", words, re.IGNORECASE if word.islower() else 0):
            yield word


def _rest(phrase: str, known: frozenset[str], *, first: bool) -> str:
    """Return what is left of a capitalised phrase once known terms are taken off its front, longest first."""
    words = re.split(r"[ \u00a0]", phrase)
    while words:
        for length in range(len(words), 0, -1):
            head = " ".join(words[:length])
            if head in known or singular(head) in known:
                words = words[length:]
                break
        else:
            if words[0] in ("of", "and", "the") or first:
                words = words[1:]
            else:
                return " ".join(words)
        first = False
    return ""


def _pattern(term: str) -> re.Pattern[str]:
    stem, last = term[:-1], term[-1]
    ending = rf"(?:{re.escape(last)}(?:s|es)?|ies)" if last == "y" else rf"{re.escape(last)}(?:s|es)?"
    spaced = re.escape(stem).replace(r"\ ", r"[ \u00a0]")
    return re.compile(rf"\b{spaced}{ending}\b")
