"""Where clause texts run: a sandbox that can reach the terms of one deal and nothing else."""

from __future__ import annotations

import re
import traceback
from datetime import date
from decimal import Decimal
from typing import Any

from jinja2 import StrictUndefined, TemplateError, TemplateSyntaxError, Undefined
from jinja2.sandbox import ImmutableSandboxedEnvironment
from markupsafe import Markup

from risk.contract_rules import effective_term
from schemas.errors import DealError, Problem, TermsError
from slakit.documents.credit_words import credit_in_words
from slakit.documents.nodes import Run
from slakit.documents.values import TOKEN_END, TOKEN_START, Nothing, Printed, Reader, View, clean
from slakit.documents.wording import counted, day, edge, filters, number

_TOKEN = re.compile(f"{TOKEN_START}(\\d+){TOKEN_END}")


class Templates:
    """The sandbox of one document: `term`, `value`, `keys`, `party`, `ref` and the filters of `wording`."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.environment = ImmutableSandboxedEnvironment(
            undefined=StrictUndefined,
            autoescape=True,
            trim_blocks=True,
            lstrip_blocks=True,
            finalize=self._printable,
        )
        for name in ("safe", "pprint", "xmlattr", "urlize", "tojson"):
            del self.environment.filters[name]
        self.environment.filters.update(filters(reader))
        self.environment.filters["edge"] = self._edge
        self.environment.filters["credit"] = self._credit
        self.environment.tests["none"] = lambda value: value is None or isinstance(value, Nothing)
        self.environment.globals.update(
            term=lambda path: reader.term(self._path(path)),
            value=lambda path: reader.value(self._path(path)),
            keys=lambda path: list(reader.value(self._path(path)).keys()),  # type: ignore[union-attr]
            party=reader.party,
            ref=self._reference,
            effective_firm_term=self._effective_firm_term,
        )

    def render(self, source: str, file: str) -> str:
        """Return a text rendered with the deal's terms; values stand in it as tokens.

        Raises
        ------
        DealError
            When the template is at fault; the problem names its file and line.
        """
        try:
            return self.environment.from_string(source).render()
        except TermsError as error:
            found, expected, remedy = error.found, error.expected, error.remedy
            line = _line_of(error)
        except TemplateSyntaxError as error:
            found, expected, remedy = error.message or "a syntax error", "a template", "correct the text"
            line = error.lineno
        except (TemplateError, TypeError, AttributeError, ArithmeticError, LookupError) as error:
            found, expected, remedy = str(error), "an expression that can be printed", "correct the text"
            line = _line_of(error)
        raise DealError([Problem("text", found, expected, remedy, line=line, file=file)]) from None

    def _path(self, path: str) -> str:
        """Return a path whose parts may have come out of the deal, and so as tokens."""
        return _TOKEN.sub(lambda match: self.reader.runs[int(match[1])].text, str(path))

    def _reference(self, target: str, form: str = "clause") -> Markup:
        """Return the token of a reference; form `number` leaves out the word clause."""
        if form not in ("clause", "number"):
            raise TermsError(f"reference form {form!r}", "'clause' or 'number'", "correct the text")
        return self.reader.token(Run("reference", form, target=target))

    def _edge(self, bands: View, index: int) -> Markup:
        """Return in words where one band of a credit table lies."""
        edges = tuple(band.below for band in bands)
        return self.reader.token(Run("term", edge(edges, index), self.reader.path_behind(edges[index])))

    def _credit(self, credit: View) -> Markup:
        """Return in words what a credit of any shape pays."""
        currency = self.reader.value("commercial.currency")
        words = credit_in_words(self.reader.whole(credit), str(currency) if currency else None)
        return self.reader.token(Run("term", words, self.reader.path_behind(credit)))

    def _effective_firm_term(self) -> Any:
        """Return in words how long every tranche is bound."""
        deal, reader = self.reader.deal, self.reader
        if deal.commercial is None or deal.delivery is None:
            return Nothing(reader, "commercial.term.months")
        firm = reader.value("commercial.term.months")
        leave, ends_by = reader.value("cancellation.convenience"), reader.value("commercial.term.ends_by")
        for view in (ends_by, *((leave.first_exercise, leave.notice) if isinstance(leave, View) else ())):
            if isinstance(view, View):
                reader.whole(view)
        ready = []
        for name, tranche in deal.delivery.tranches.items():
            view = reader.value(f"delivery.tranches.{name}.ready_for_service_date")
            ready.append(reader.whole(view) if isinstance(view, View) else tranche.ready_for_service_date)
        term = deal.commercial.term
        bound = effective_term.firm_time(term.months, deal.cancellation.convenience, ready, term.ends_by)
        if bound is None:
            return "not computed, because one date is on the calendar and another is counted from financial close"
        months, days = counted(bound.months, "month"), f" and {counted(bound.days, 'day')}" if bound.days else ""
        return Printed(reader, Run("term", months + days, reader.path_behind(firm)))

    def _printable(self, value: Any) -> Any:
        """Return the token of what a template prints."""
        match value:
            case Undefined():
                return str(value)
            case None:
                return self.reader.blank("")
            case View() if len(value) == 0:
                return self.reader.blank(self.reader.path_behind(value) or "")
            case bool() | View():
                path = self.reader.path_behind(value) or "a yes or no"
                raise TermsError(f"{path} printed as it is", "a filter", "say it in words, for example with choice")
            case date():
                return self.reader.token(Run("term", day(value), self.reader.path_behind(value)))
            case int() | Decimal():
                return self.reader.token(Run("term", number(value), self.reader.path_behind(value)))
            case _ if hasattr(value, "__html__"):
                return value
            case str():
                before, after = value[:1].isspace() * " ", value[-1:].isspace() * " "
                return self.reader.token(Run("typed", f"{before}{clean(value)}{after}"))
        raise TermsError(f"a {type(value).__name__}", "words or a number", "print something else")


def _line_of(error: Exception) -> int | None:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == "<template>"]
    return frames[-1].lineno if frames else None
