"""The manifest of a contract in HTML or Markdown: a comment at the end, which no reader shows and no browser runs."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_COMMENT = re.compile(r"\n<!-- slakit (\{[^<>]*\}) -->\n\Z")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "--": "\\u002d\\u002d"}


def with_comment(text: str, files: Mapping[str, Any]) -> str:
    """Return a text with some data in a comment at its end, by name.

    >>> with_comment("Text.", {"a": "-->"})
    'Text.\\n<!-- slakit {"a":"\\\\u002d\\\\u002d\\\\u003e"} -->\\n'
    """
    data = json.dumps(files, ensure_ascii=True, separators=(",", ":"))
    for sign, escape in _ESCAPES.items():
        data = data.replace(sign, escape)
    return f"{text}\n<!-- slakit {data} -->\n"


def carried_in(text: str) -> str | None:
    """Return the JSON in the comment at the end of a text, None where there is none."""
    found = _COMMENT.search(text[text.rfind("\n<!-- slakit ") :]) if "\n<!-- slakit " in text else None
    return found[1] if found else None


def without_comment(text: str) -> str:
    """Return a text up to the comment at its end."""
    return text[: text.rfind("\n<!-- slakit ")] if carried_in(text) is not None else text
