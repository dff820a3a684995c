"""Errors of validation as problems a person can act on: placed, in plain words, one for each mistake."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from schemas.base import Terms
from schemas.deal import Deal, steps_of
from schemas.errors import Problem, TermsError, TermsErrors
from slakit.loading.fields import described_field, models_of, of_label, one_step, tags_of
from slakit.loading.messages import described, explained
from slakit.loading.positions import Positions, written
from slakit.loading.source import WHOLE_FILE

Steps = tuple[str | int, ...]
_DOTTED = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+|\[\d+\])*")
_MOST_NAMED = 12
MOST_SUGGESTED = 200
"""Unknown keys for which a known one is looked for. [1]"""


@dataclass(frozen=True, slots=True)
class _Fault:
    """One error of pydantic with the part of its location not yet walked."""

    error: Mapping[str, Any]
    rest: tuple[str | int, ...]

    @property
    def kind(self) -> str:
        return str(self.error["type"])


@dataclass(frozen=True, slots=True)
class _Placed:
    """An error at the path of the data it is about."""

    error: Mapping[str, Any]
    steps: Steps
    models: tuple[type[Terms], ...] = ()
    """For an unknown or missing key: what its holder may be; for a form that is not said: the forms there are."""
    on_key: bool = False
    nearest: str | None = None
    """For an unknown key: the known one that was probably meant."""


def problems_of(
    error: ValidationError, data: object, positions: Positions, file: str, root: type[Terms] = Deal
) -> list[Problem]:
    """Return every problem that validation of `data` found, in the order of the file."""
    faults = [
        _Fault(details, tuple(details["loc"]))
        for details in error.errors(include_url=False, include_context=True)
        if not _counts_only_valid_entries(details)
    ]
    placed = list(_placed(faults, data, (), (root,)))
    problems = [problem for item in _with_suggestions(placed) for problem in _problems(item, data, positions, file)]
    return sorted(dict.fromkeys(problems), key=lambda p: (p.line or 0, p.column or 0))


def _counts_only_valid_entries(details: Mapping[str, Any]) -> bool:
    """Whether a list is called too short only because its entries, reported by themselves, are wrong."""
    context = details.get("ctx", {})
    return bool(details["type"] == "too_short" and len(details["input"]) >= context["min_length"])


def _placed(faults: Iterable[_Fault], data: object, steps: Steps, types: tuple[Any, ...]) -> Iterator[_Placed]:
    """Yield the errors with the labels of alternatives taken out of their location."""
    inside: dict[str | int, list[_Fault]] = {}
    alternatives: dict[str, list[_Fault]] = {}
    for fault in faults:
        if not fault.rest:
            yield _Placed(fault.error, steps, models_of(types))
            continue
        step, rest = fault.rest[0], fault.rest[1:]
        if step == "[key]":
            yield _Placed(fault.error, steps, on_key=True)
        elif not rest and fault.kind in ("missing", "extra_forbidden"):
            yield _Placed(fault.error, (*steps, step), models_of(types))
        elif _holds(data, step) and not _is_label(types, step):
            inside.setdefault(step, []).append(_Fault(fault.error, rest))
        else:
            alternatives.setdefault(str(step), []).append(_Fault(fault.error, rest))
    for step, inner in inside.items():
        child = data[step]  # type: ignore[index]
        yield from _placed(inner, child, (*steps, step), one_step(types, step))
    if alternatives:
        label, meant = _meant(alternatives, data, models_of(types))
        yield from _placed(meant, data, steps, of_label(models_of(types), label) or types)


def _is_label(types: tuple[Any, ...], step: str | int) -> bool:
    """Whether a step names one of several alternatives, as `bands` does a shape of credit that has a key `bands`."""
    models = models_of(types)
    return len(models) > 1 and bool(of_label(models, str(step)))


def _holds(data: object, step: str | int) -> bool:
    if isinstance(data, Mapping):
        return step in data
    return isinstance(data, (list, tuple)) and isinstance(step, int) and step < len(data)


def _meant(
    alternatives: Mapping[str, list[_Fault]], data: object, models: Sequence[type[Terms]]
) -> tuple[str, list[_Fault]]:
    """Return the alternative of a union that the writer most likely meant, with its errors.

    The kind of value decides first, then the keys: the alternative with the fewest missing and unknown ones,
    where an unknown key that is nearly a missing one counts for it.
    """

    def distance(item: tuple[str, list[_Fault]]) -> tuple[int, int, int]:
        faults = item[1]
        wrong_kind = sum(not f.rest and f.kind.endswith("_type") for f in faults)
        missing = [str(f.rest[-1]) for f in faults if f.kind == "missing" and len(f.rest) == 1]
        unknown = [str(f.rest[-1]) for f in faults if f.kind == "extra_forbidden" and len(f.rest) == 1]
        misspelt = sum(bool(get_close_matches(key, missing, 1)) for key in unknown)
        return wrong_kind, 2 * (len(missing) + len(unknown)) - 3 * misspelt, len(faults)

    ranked = sorted(alternatives.items(), key=distance)
    label, faults = ranked[0]
    tied = [item for item in ranked if distance(item)[:2] == distance(ranked[0])[:2]]
    structural = all(f.kind in ("missing", "extra_forbidden", "model_type") for f in faults)
    if len(tied) > 1 and structural and distance(ranked[0])[1] > 0:
        return "", [_none_fits(models, data)]
    return _class_name(label), faults


def _none_fits(models: Sequence[type[Terms]], data: object) -> _Fault:
    """Return one error in place of many where no alternative fits better than another."""
    needs = [
        " and ".join(f"`{name}`" for name, field in model.model_fields.items() if field.is_required())
        for model in models
    ]
    expected = "a mapping with " + ", or with ".join(needs)
    error = TermsError(described(data), expected, "write one of these")
    return _Fault({"type": "value_error", "ctx": {"error": error}, "input": data, "msg": str(error)}, ())


def _class_name(label: str) -> str:
    """Return the class in a label such as `function-after[check(), AtLeast]`."""
    match = re.search(r"(\w+)\]*$", label)
    return match[1] if match else label


def _with_suggestions(placed: Sequence[_Placed]) -> Iterator[_Placed]:
    """Yield the errors: unknown keys with the nearest known one, missing keys where no unknown one stands for them.

    A missing key is preferred to any other, for it is what was probably misspelt. Suggestions stop after the first
    `MOST_SUGGESTED` unknown keys: a file with more is no deal with misspelt keys.
    """
    missing: dict[Steps, list[str]] = defaultdict(list)
    for item in placed:
        if item.error["type"] == "missing":
            missing[item.steps[:-1]].append(str(item.steps[-1]))
    unknown = [item for item in placed if item.error["type"] == "extra_forbidden"]
    nearest = {item.steps: _nearest(item, missing[item.steps[:-1]]) for item in unknown[:MOST_SUGGESTED]}
    meant = {(*steps[:-1], name) for steps, name in nearest.items() if name is not None}
    for item in placed:
        if item.error["type"] == "extra_forbidden":
            yield replace(item, nearest=nearest.get(item.steps))
        elif item.error["type"] != "missing" or item.steps not in meant:
            yield item


def _nearest(item: _Placed, missing: Sequence[str]) -> str | None:
    """Return the known key that an unknown one most resembles, missing keys first."""
    for known in (missing, _known_keys(item)):
        if close := get_close_matches(str(item.steps[-1]), known, 1):
            return close[0]
    return None


def _known_keys(item: _Placed) -> list[str]:
    """Return the keys that the holder of an unknown key may have."""
    holders = item.models
    return list(dict.fromkeys(name for model in holders for name in model.model_fields))


def _problems(item: _Placed, data: object, positions: Positions, file: str) -> Iterator[Problem]:
    """Yield the problem or problems that one error stands for."""
    kind, context = item.error["type"], item.error.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, TermsErrors):
        for one in cause.errors:
            yield _of_terms(one, item.steps, data, positions, file)
    elif isinstance(cause, TermsError):
        yield _of_terms(cause, item.steps, data, positions, file)
    elif kind == "extra_forbidden":
        yield _unknown_key(item, positions, file)
    elif kind == "missing":
        yield _missing_key(item, positions, file)
    elif kind == "union_tag_not_found":
        yield _no_form(item, positions, file)
    else:
        found, expected, remedy = explained(item.error)
        steps = item.steps
        if kind == "union_tag_invalid":
            steps = (*steps, str(context["discriminator"]).strip("'"))
        yield _problem(steps, found, expected, remedy, positions, file, key=item.on_key)


def _unknown_key(item: _Placed, positions: Positions, file: str) -> Problem:
    key, known = str(item.steps[-1]), _known_keys(item)
    named = ", ".join(known[:_MOST_NAMED]) + (", ..." if len(known) > _MOST_NAMED else "")
    remedy = f"did you mean `{item.nearest}`?" if item.nearest else "correct the key or delete it"
    expected = f"one of {named}" if known else "no such key"
    return _problem(item.steps, f"the unknown key {key[:80]!r}", expected, remedy, positions, file, key=True)


def _missing_key(item: _Placed, positions: Positions, file: str) -> Problem:
    key = str(item.steps[-1])
    said = next((text for model in item.models if (text := described_field(model, key))), "")
    expected = f"`{key}`" + (f" ({said[0].lower()}{said[1:]})" if said else "")
    remedy = "add `schema_version: 1`" if item.steps == ("schema_version",) else f"add `{key}`"
    return _problem(item.steps, "nothing", expected, remedy, positions, file)


def _no_form(item: _Placed, positions: Positions, file: str) -> Problem:
    """Return the problem of a mapping that does not say which of several forms it has, with the one it fits, if any."""
    key = str(item.error["ctx"]["discriminator"]).strip("'")
    value = item.error["input"]
    forms = tags_of(item.models, key)
    given = {str(name) for name in value}
    fits = [
        word
        for word, model in forms.items()
        if given <= model.model_fields.keys()
        and {name for name, field in model.model_fields.items() if field.is_required()} - {key} <= given
    ]
    remedy = f"add `{key}: {fits[0]}`" if len(fits) == 1 else f"add `{key}`"
    expected = f"`{key}`, one of {', '.join(forms)}"
    return _problem(item.steps, f"{described(value)} without `{key}`", expected, remedy, positions, file)


def _of_terms(error: TermsError, steps: Steps, data: object, positions: Positions, file: str) -> Problem:
    """Return the problem of terms that contradict each other, at the value it names first."""
    named = _named_in(error.found, steps, data)
    return _problem(named, error.found, error.expected, error.remedy, positions, file)


def _named_in(found: str, steps: Steps, data: object) -> Steps:
    """Return the path that a message starts with, or mentions, below `steps`; `steps` when it names none."""
    holder: Any = data
    for step in steps:
        if not _holds(holder, step):
            return steps
        holder = holder[step]
    words = _DOTTED.findall(found)
    for word in [*words[:1], *(word for word in words[1:] if "." in word or "[" in word)]:
        try:
            named = steps_of(word)
        except TermsError:
            continue
        value: Any = holder
        for step in named:
            if not _holds(value, step):
                break
            value = value[step]
        else:
            return (*steps, *named)
    return steps


def _problem(
    steps: Steps,
    found: str,
    expected: str,
    remedy: str,
    positions: Positions,
    file: str,
    *,
    key: bool = False,
) -> Problem:
    line, column = positions.at(steps, key=key)
    return Problem(written(steps) or WHOLE_FILE, found, expected, remedy, line, column, file)
