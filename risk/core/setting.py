"""What the engine hands each risk: the deal and the few things read off it that all of them need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from risk.core.calendar import Timeline, timeline
from schemas.capacity import Cluster
from schemas.commercial import Charge
from schemas.deal import Deal
from schemas.delivery import Tranche
from schemas.errors import DealError, MissingTermError, NotComputedError, Problem

MOST_TRANCHE_MONTHS = 8_192
"""Tranches times months of the largest simulation: beyond it one block of draws takes minutes and gigabytes. [month]"""


@dataclass(frozen=True, slots=True)
class Setting:
    """The deal, its months and its tranches in the order that all arrays follow."""

    deal: Deal
    timeline: Timeline
    tranches: tuple[str, ...]
    """Ids, in the order of the deal file."""
    service_of: tuple[str, ...]
    """Service of each tranche."""
    planned_ready: NDArray[np.float64]
    """Ready-for-Service Date of each tranche, shape (tranches,). [month]"""
    gpus: NDArray[np.float64]
    """GPUs of each tranche, 0 where its cluster is not given; tranches of one cluster have parts of it by their shares
    of the service; shape (tranches,). [1]"""
    fees: NDArray[np.float64]
    """Fee of each tranche for each whole month at the contract price, shape (tranches, months). [currency]"""
    prepaid: NDArray[np.float64]
    """Fees paid ahead at close for each tranche: a share of the mean monthly fee over the firm term, of the least that
    is due where fees follow use, shape (tranches,). [currency]"""
    term_months: int
    """Firm term of each tranche from its readiness. [month]"""
    latest_end: float
    """End of every tranche's term at the latest; infinite where the contract names none. [month]"""

    @property
    def months(self) -> int:
        """Return how many months are simulated."""
        return self.timeline.months

    def term_ends(self, ready: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return when the term of each tranche ends, shape as `ready`. [month]"""
        return np.minimum(ready + self.term_months, self.latest_end)

    def of_service(self, service: str | None) -> NDArray[np.bool_]:
        """Return whether each tranche belongs to a service; all do to None, the only one there is."""
        return np.array([service is None or service == of for of in self.service_of])

    def cluster_of(self, tranche: int) -> Cluster | None:
        """Return the cluster of one tranche, by its position."""
        assert self.deal.delivery is not None
        name = self.deal.delivery.tranches[self.tranches[tranche]].cluster
        return self.deal.clusters[name] if name else None


def share_in_term(ready: NDArray[np.float64], month: int, ends: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the share of month `month` in which each tranche is ready and its term runs, shape as `ready`. [1]

    Parameters
    ----------
    ends : when the term of each tranche ends, shape as `ready`. [month]
    """
    began = np.clip(month - ready, 0.0, 1.0)
    over = np.clip(month - np.maximum(ends, ready), 0.0, 1.0)
    return np.asarray(np.maximum(began - over, 0.0))


def horizon(deal: Deal) -> int:
    """Return the months to simulate: `finance.horizon_months`, or to the loan's maturity. [month]"""
    finance = deal.finance
    assert finance is not None
    if finance.horizon_months is not None:
        return finance.horizon_months
    if finance.loan is not None:
        return finance.loan.first_payment_month + finance.loan.payments - 1
    raise MissingTermError("finance.horizon_months", "slakit score", "give it, or give finance.loan")


def _refuse_measurement(deal: Deal) -> None:
    """Refuse ways of measuring that a simulation month by month does not follow."""
    measurement = deal.measurement
    refused: list[tuple[str, str, str]] = []
    if measurement.period != "calendar_month":
        words = f"measurement periods of kind {measurement.period!r} in the simulation"
        refused.append(("measurement.period", words, "simulate the deal with calendar_month"))
    if measurement.first_partial == "merge_next" or measurement.min_window_days:
        path = "first_partial" if measurement.first_partial == "merge_next" else "min_window_days"
        words = "a first part of a month that is measured with the next one in the simulation"
        refused.append((f"measurement.{path}", words, "simulate the deal with own_period and min_window_days 0"))
    for name, level in deal.service_levels.items():
        if level.down_when != "too_few_up":
            words = f"a unit that is down by {level.down_when!r} in the simulation"
            refused.append((f"service_levels.{name}.down_when", words, "give the number of nodes that must be up"))
    if refused:
        raise NotComputedError(*refused[0])


def setting(deal: Deal) -> Setting:
    """Return the setting of `deal`.

    Raises
    ------
    DealError
        With every section that the simulation needs and the deal does not have.
    NotComputedError
        When months and tranches are too many to be simulated.
    """
    missing = [
        Problem(path, "nothing", f"the section, because the simulation reads {reads}", f"add {path}")
        for path, there, reads in (
            ("finance", deal.finance, "the dates, costs and debt"),
            ("services", deal.services, "what is sold"),
            ("delivery", deal.delivery, "the Ready-for-Service Dates"),
            ("commercial", deal.commercial, "fees and term"),
        )
        if not there
    ]
    if missing:
        raise DealError(missing)
    assert deal.finance
    assert deal.delivery
    assert deal.commercial
    _refuse_measurement(deal)
    months = horizon(deal)
    pairs = [(name, tranche) for name, service in deal.services.items() for tranche in service.tranches]
    if months * len(pairs) > MOST_TRANCHE_MONTHS:
        raise NotComputedError(
            f"finance.{'loan.payments' if deal.finance.horizon_months is None else 'horizon_months'}",
            f"{months:,} months of {len(pairs)} tranches, more than {MOST_TRANCHE_MONTHS:,} months of one tranche,",
            "simulate fewer months, or merge tranches that are alike",
        )
    line = timeline(deal.finance.close, months, deal.assumptions.calendar, deal.measurement.zone)
    terms = [deal.delivery.tranches[tranche] for _, tranche in pairs]
    clusters = [deal.clusters[t.cluster] if t.cluster else None for t in terms]
    part, part_of_service = _parts_of_clusters(pairs, terms)
    gpus = np.array([cluster.units.gpu if cluster else 0 for cluster in clusters]) * part
    fees = np.zeros((len(pairs), months))
    least = np.ones(len(pairs))
    for j, (service, tranche) in enumerate(pairs):
        charge = deal.commercial.charges.get(service)
        if charge is None:
            raise MissingTermError(f"commercial.charges.{service}", "slakit score", "give the service a price")
        paid, share = paid_share(deal, service), float(terms[j].share_of_service)
        price = float(charge.price.amount) * paid
        least[j] = least_share(charge) / paid if paid else 0.0
        cluster = clusters[j]
        name = charge.price.counted
        if name is None:
            fees[j] = price * share
        elif cluster is None:
            raise MissingTermError(
                f"delivery.tranches.{tranche}.cluster",
                f"a price per {charge.price.per}",
                "name the cluster, whose units are counted",
            )
        elif charge.price.per == "gpu_hour":
            fees[j] = price * cluster.units.gpu * part_of_service[j] * line.hours
        else:
            units = getattr(cluster.units, name)
            if units is None:
                raise MissingTermError(
                    f"clusters.{terms[j].cluster}.units.{name}",
                    f"a price per {charge.price.per}",
                    f"give the number of {'nodes' if name == 'node' else 'contracted kW'}",
                )
            fees[j] = price * float(units) * part_of_service[j]
    prepayment, term_months = deal.commercial.prepayment, deal.commercial.term.months
    paid_ahead = float(prepayment.fraction) if prepayment else 0.0
    return Setting(
        deal=deal,
        timeline=line,
        tranches=tuple(tranche for _, tranche in pairs),
        service_of=tuple(service for service, _ in pairs),
        planned_ready=np.array([line.at(t.ready_for_service_date) for t in terms]),
        gpus=gpus,
        fees=fees,
        prepaid=paid_ahead * term_months * fees.mean(axis=1) * least,
        term_months=term_months,
        latest_end=line.at(deal.commercial.term.ends_by) if deal.commercial.term.ends_by else np.inf,
    )


def paid_share(deal: Deal, service: str) -> float:
    """Return the share of a service's reserved capacity that is paid for: its use, or what must be paid for anyway. [1]

    Raises
    ------
    MissingTermError
        When less than all must be paid for and the deal does not say what is used.
    """
    assert deal.commercial is not None
    least = least_share(deal.commercial.charges[service])
    if least == 1:
        return 1.0
    usage = deal.assumptions.usage
    if usage is None:
        raise MissingTermError(
            "assumptions.usage",
            f"commercial.charges.{service}.take_or_pay below 1",
            "give the share of reserved capacity that is used",
        )
    return float(share_paid(float(usage), least))


def least_share(charge: Charge) -> float:
    """Return the least share of reserved capacity that is paid for. [1]"""
    return 1.0 if charge.take_or_pay is None else float(charge.take_or_pay)


def share_paid(used: NDArray[np.float64] | float, least: float) -> NDArray[np.float64]:
    """Return the share of reserved capacity that is paid for where a share is used, shape as `used`. [1]"""
    return np.maximum(used, least)


def _parts_of_clusters(
    pairs: list[tuple[str, str]], terms: list[Tranche]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the part of its cluster that each tranche is, among all tranches and among those of its service. [1]"""
    share = np.array([float(t.share_of_service) for t in terms])

    def part(keys: Sequence[object]) -> NDArray[np.float64]:
        whole = np.array([sum(share[k] for k, other in enumerate(keys) if other == key) for key in keys])
        return np.asarray(np.divide(share, whole, out=np.ones(len(share)), where=whole > 0))

    of_service = [(t.cluster, service) for t, (service, _) in zip(terms, pairs, strict=True)]
    return part([t.cluster for t in terms]), part(of_service)
