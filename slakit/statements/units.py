"""Units of the contract, with their fees, and the names by which logs know them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

from risk.contract_rules import monthly_price
from risk.contract_rules.deadlines import midnight
from schemas.deal import Deal
from schemas.errors import DealError, MissingTermError, Problem, TermsError
from schemas.incidents import UnitService
from schemas.operations import ContractedUnits
from schemas.periods import Period
from slakit.statements.host_lists import expanded

HOURS_OF_A_MEAN_MONTH = 730
"""Hours for which a fee by the hour is written as a monthly one. [h]"""
PLACES = Decimal("0.000001")
"""Fees of single units are kept to a millionth, far below the smallest unit of any currency."""


@dataclass(frozen=True)
class UnitNames:
    """Log names to units: an id itself in any case of letters, or a name that a pattern of the deal makes of it."""

    ids: Mapping[str, str]
    """Id in lower case to id."""
    patterns: tuple[re.Pattern[str], ...] = ()
    """Each with the group `unit`, which must be an id."""
    _found: dict[str, str | None] = field(default_factory=dict)

    def of(self, name: str) -> str | None:
        """Return the unit that a log calls `name`, None where no name or pattern fits.

        Raises
        ------
        DealError
            When patterns make two units of one name.
        """
        if name not in self._found:
            self._found[name] = self._look_up(name)
        return self._found[name]

    def _look_up(self, name: str) -> str | None:
        folded = name.strip().lower()
        if folded in self.ids:
            return self.ids[folded]
        meant = {
            self.ids[match["unit"]]
            for pattern in self.patterns
            if (match := pattern.fullmatch(folded)) and match["unit"] in self.ids
        }
        if len(meant) > 1:
            raise DealError(
                [
                    Problem(
                        "operations.units",
                        f"{name!r}, which stands for {' and '.join(sorted(meant))}",
                        "log names that lead to one unit",
                        "make log_names of these units narrower",
                    )
                ]
            )
        return meant.pop() if meant else None


def unit_names(deal: Deal, units: Sequence[UnitService]) -> UnitNames:
    """Return the names by which logs know the units on record."""
    ids = {unit.unit_id.lower(): unit.unit_id for unit in units}
    if len(ids) < len({unit.unit_id for unit in units}):
        twice = [
            name for name, times in Counter(u.lower() for u in {unit.unit_id for unit in units}).items() if times > 1
        ]
        raise DealError(
            [Problem("units", f"{twice[0]!r} in two cases of letters", "names that differ in more", "rename one")]
        )
    patterns = dict.fromkeys(pattern for group in deal.operations.units for pattern in group.log_names)
    return UnitNames(ids, tuple(_pattern(text) for text in patterns))


def _pattern(text: str) -> re.Pattern[str]:
    """Return a pattern of the deal: `{}` is the id, `*` is anything."""
    if text.count("{}") != 1:
        raise DealError(
            [
                Problem(
                    "operations.units.log_names",
                    repr(text),
                    "a pattern with {} in the place of the id",
                    "write one such as {}.cluster.example",
                )
            ]
        )
    parts = re.split(r"(\{\}|\*)", text.lower())
    turned = {"{}": r"(?P<unit>[^\s]+?)", "*": r".*"}
    return re.compile("".join(turned.get(part, re.escape(part)) for part in parts))


MOST_NAMES = 6
"""Names shown of many. [1]"""


def no_unit_named(found: Iterable[str], units: Iterable[str]) -> DealError:
    """Return the error that refuses records of which none belongs to a unit of the contract, to be raised.

    Parameters
    ----------
    found : names that the records have.
    units : ids of the units of the contract.
    """
    return DealError(
        [
            Problem(
                "operations.units",
                f"no record of the logs belongs to a unit of the contract: they name {_first_few(found)}",
                f"names of units of the contract: {_first_few(units)}",
                "add operations.units.log_names, such as {}.cluster.example or {}:9100, or name the units with --units",
            )
        ]
    )


def _first_few(names: Iterable[str]) -> str:
    every = sorted(set(names))
    more = f" and {len(every) - MOST_NAMES:,} more" if len(every) > MOST_NAMES else ""
    return ", ".join(every[:MOST_NAMES]) + more


def units_for(deal: Deal, listed: Sequence[UnitService] | None, what: str) -> Sequence[UnitService]:
    """Return the units of a statement: those of a file with units, else those that the deal names.

    Parameters
    ----------
    listed : units of the file; None without such a file.
    what : what they are for, in words.

    Raises
    ------
    DealError
        When the file lists none, or the names of the deal contradict each other.
    MissingTermError
        When there is no such file and the deal names none.
    """
    if listed is not None and not listed:
        raise DealError(
            [Problem("--units", "a file without a unit", "one row for each unit", "add the rows, or leave it out")]
        )
    units = listed or contracted_units(deal)
    if not units:
        raise MissingTermError("operations.units", what, "name the units there, or in a file with --units")
    return units


def check_known(deal: Deal, units: Sequence[UnitService], periods: Sequence[Period], as_of: datetime | None) -> None:
    """Refuse periods of which nothing can be stated.

    Raises
    ------
    DealError
        When no unit is in service in any of the periods, or all of them begin after the time of the statement.
    """
    zone = deal.measurement.zone
    start, end = min(p.start(zone) for p in periods), max(p.end(zone) for p in periods)
    named = " to ".join(dict.fromkeys((str(min(periods)), str(max(periods)))))
    if as_of is not None and as_of <= start:
        known = f"{named}, of which nothing is known at {as_of:%Y-%m-%d %H:%M} UTC"
        raise DealError([Problem("--as-of", known, "a time after the period begins", "name a later time or period")])
    if any(
        (unit.in_service_from is None or unit.in_service_from < end)
        and (unit.in_service_to is None or start < unit.in_service_to)
        for unit in units
    ):
        return
    first = min((u.in_service_from for u in units if u.in_service_from is not None), default=None)
    since = (
        ""
        if first is None or first < end
        else f": the first is in service from {first.astimezone(ZoneInfo(zone)):%Y-%m-%d}"
    )
    problem = Problem(
        "--period",
        f"{named}, in which no unit is in service{since}",
        "a period in which a unit is in service",
        "name another period, or correct the dates of service",
    )
    raise DealError([problem])


def contracted_units(deal: Deal) -> tuple[UnitService, ...]:
    """Return the units that the deal names, and a unit for each cluster and site that a service level measures.

    Raises
    ------
    DealError
        When the names contradict each other or the deal.
    MissingTermError
        When a fee is needed and the deal has no price.
    """
    groups = list(deal.operations.units)
    named = {name for group in groups for name in _names(group)}
    groups += [group for group in _whole_units(deal) if group.names not in named]
    problems: list[Problem] = []
    seen: dict[str, int] = {}
    for i, group in enumerate(groups):
        for name in _names(group):
            if name in seen and i < len(deal.operations.units):
                found, expected = f"{name!r}, which entry {seen[name]} names too", "one entry for one unit"
                problems.append(Problem(f"operations.units[{i}].names", found, expected, "remove one"))
            seen[name] = i
    if problems:
        raise DealError(problems)
    counts: Counter[tuple[str, str]] = Counter(
        (_service(deal, group), group.level) for group in groups for _ in _names(group) if not group.spare
    )
    return tuple(unit for group in groups for unit in _units(deal, group, counts))


def _whole_units(deal: Deal) -> Iterator[ContractedUnits]:
    """Yield a unit for each cluster and each site of the deal that some service level measures as a whole."""
    levels = {level.level for level in deal.service_levels.values()}
    tranches = deal.delivery.tranches if deal.delivery else {}
    for service, terms in deal.services.items():
        clusters = dict.fromkeys(c for t in terms.tranches if t in tranches and (c := tranches[t].cluster) is not None)
        for cluster in clusters if "cluster" in levels else ():
            yield ContractedUnits(names=cluster, level="cluster", service=service)
        sites = dict.fromkeys(site for c in clusters if (site := deal.clusters[c].site) is not None)
        for site in sites if "site" in levels else ():
            yield ContractedUnits(names=site, level="site", service=service)


def _names(group: ContractedUnits) -> tuple[str, ...]:
    try:
        return expanded(group.names)
    except TermsError as error:
        raise DealError([Problem("operations.units.names", error.found, error.expected, error.remedy)]) from None


def _service(deal: Deal, group: ContractedUnits) -> str:
    if group.service is not None:
        return group.service
    if len(deal.services) == 1:
        return next(iter(deal.services))
    raise MissingTermError("operations.units.service", "units of a deal with several services", "name their service")


def _units(deal: Deal, group: ContractedUnits, counts: Mapping[tuple[str, str], int]) -> Iterator[UnitService]:
    service = _service(deal, group)
    zone = deal.measurement.zone
    fee = Decimal(0) if group.spare else _monthly_fee(deal, group, service, counts)
    charge = deal.commercial.charges.get(service) if deal.commercial else None
    by_hour = bool(fee and group.monthly_fee is None and charge and charge.price.per == "gpu_hour")
    start = group.in_service_from or _ready(deal, service)
    for name in _names(group):
        yield UnitService(
            unit_id=name,
            level=group.level,
            service=service,
            monthly_fee=fee,
            hourly_price=(fee / HOURS_OF_A_MEAN_MONTH).quantize(PLACES) if by_hour else None,
            accrues_by_hour=by_hour,
            prepaid_fraction=deal.commercial.prepayment.fraction
            if deal.commercial and deal.commercial.prepayment
            else 0,
            in_service_from=_at(start, zone),
            in_service_to=_at(group.in_service_to, zone),
            parent_id=group.parent,
            spare=group.spare,
        )


def _at(day: date | None, zone: str) -> datetime | None:
    return midnight(day, zone) if day is not None else None


def _ready(deal: Deal, service: str) -> date | None:
    """Return the first Ready-for-Service Date of a service, None where it is not on the calendar."""
    if deal.delivery is None or service not in deal.services:
        return None
    dates = [deal.delivery.tranches[name].ready_for_service_date for name in deal.services[service].tranches]
    days = [day for day in dates if isinstance(day, date)]
    return min(days) if days else None


def _monthly_fee(deal: Deal, group: ContractedUnits, service: str, counts: Mapping[tuple[str, str], int]) -> Decimal:
    """Return the monthly fee of one unit: as typed, or an equal share of the fee of its service. [currency]"""
    if group.monthly_fee is not None:
        return group.monthly_fee
    if deal.commercial is None or service not in deal.commercial.charges:
        raise MissingTermError(
            "operations.units.monthly_fee", f"the fee of {group.names[:60]}", "add it, or commercial.charges"
        )
    price = deal.commercial.charges[service].price
    path = f"commercial.charges.{service}.price"
    count = (
        sum(getattr(deal.clusters[c].units, price.counted) or 0 for c in _clusters(deal, service))
        if price.counted
        else 0
    )
    if price.counted and not count:
        raise MissingTermError(f"clusters.*.units.{price.counted}", path, "add it, or operations.units.monthly_fee")
    whole = monthly_price.exact(price, Decimal(count), HOURS_OF_A_MEAN_MONTH, path).value
    share = whole / Fraction(counts[service, group.level])
    return (Decimal(share.numerator) / Decimal(share.denominator)).quantize(PLACES)


def _clusters(deal: Deal, service: str) -> Iterator[str]:
    tranches = deal.delivery.tranches if deal.delivery else {}
    yield from dict.fromkeys(c for t in deal.services[service].tranches if (c := tranches[t].cluster) is not None)
