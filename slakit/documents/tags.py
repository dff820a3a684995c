"""Running heads and feet out of the reading order: WeasyPrint marks them as text that belongs nowhere."""

from __future__ import annotations

import re
from typing import Any

_MARKED = re.compile(rb"/[A-Za-z0-9]+\s*<</MCID (\d+)>>\s*BDC")


def mark_running_matter(pdf: Any) -> int:
    """Mark all text that stands outside the structure tree as pagination, and return how many pieces that were.

    A screen reader then skips heads and feet, as PDF/UA asks, instead of meeting text without a place.
    """
    root = pdf.Root.StructTreeRoot
    placed = _reachable(root)
    numbers = list(root.ParentTree.Nums)
    by_page = {int(numbers[i]): numbers[i + 1] for i in range(0, len(numbers) - 1, 2)}
    count = 0
    for page in pdf.pages:
        elements = by_page[int(page.obj.StructParents)]
        outside = {i for i, element in enumerate(elements) if element.objgen not in placed}
        if not outside:
            continue

        def replaced(match: re.Match[bytes], outside: set[int] = outside) -> bytes:
            return b"/Artifact <</Type /Pagination>> BDC" if int(match[1]) in outside else match[0]

        content = _MARKED.sub(replaced, page.obj.Contents.read_bytes())
        page.obj.Contents = pdf.make_stream(content)
        for i in outside:
            elements[i] = None
        count += len(outside)
    return count


def _reachable(root: Any) -> set[tuple[int, int]]:
    """Return the ids of all structure elements under the root."""
    import pikepdf

    found: set[tuple[int, int]] = set()
    waiting = [root]
    while waiting:
        element = waiting.pop()
        if element.objgen in found and element.objgen != (0, 0):
            continue
        found.add(element.objgen)
        kids = element.get("/K")
        for kid in kids if isinstance(kids, pikepdf.Array) else []:
            if isinstance(kid, pikepdf.Dictionary) and "/S" in kid:
                waiting.append(kid)
    return found
