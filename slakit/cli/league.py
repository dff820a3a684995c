"""`slakit league`: every published schedule on the same log."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from schemas.errors import DealError, Problem
from slakit.cli.options import known_zone, moment_of
from slakit.cli.outcome import Outcome

if TYPE_CHECKING:
    from schemas.money import Money


@dataclass(frozen=True, slots=True)
class Request:
    """What the command line says."""

    logs: tuple[Path, ...]
    fee: str
    currency: str
    periods: str | None
    zone: str | None
    form: str | None
    unit: str | None
    captured_at: str | None
    as_of: str | None
    folder: Path | None
    monitor: str | None = None


def run(asked: Request) -> Outcome:
    """Return a row for each service level of each schedule."""
    fee = _fee(asked.fee, asked.currency)
    as_of, captured = moment_of(asked.as_of, "--as-of"), moment_of(asked.captured_at, "--captured-at")
    zone = known_zone(asked.zone)
    from slakit.reports import league_terminal
    from slakit.statements.importers.form import Options
    from slakit.statements.league import compared, schedules

    options = Options(zone=zone, unit_id=asked.unit, captured_at=captured)
    document = compared(
        schedules(asked.folder),
        asked.logs,
        options,
        fee,
        form=asked.form,
        periods=asked.periods,
        as_of=as_of,
        monitor=asked.monitor,
    )
    return Outcome(document, lambda terminal: league_terminal.show(terminal, document))


def _fee(text: str, currency: str) -> Money:
    from schemas.money import Currency, Money

    try:
        amount = Decimal(text.replace(",", ""))
        if not (amount.is_finite() and 0 < amount < Decimal(10) ** 15):
            raise InvalidOperation
    except InvalidOperation:
        raise DealError(
            [Problem("--fee", repr(text), "an amount of money above 0", "write one such as 100000")]
        ) from None
    try:
        code = TypeAdapter(Currency).validate_python(currency)
    except ValidationError:
        raise DealError([Problem("--currency", repr(currency), "a currency such as USD", "correct it")]) from None
    return Money(amount, code)
