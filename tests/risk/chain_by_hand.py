"""The whole chain of a deal, one draw of it month by month in plain Python.

Written from the method's text and the terms' own words: loops over months and tranches, nothing imported from the
rules that it is held against. It reads deals with one service, one service level, equal months and a loan.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from schemas.deal import Deal

HOURS = 730
MONTH_S = HOURS * 3600
DAYS = 365.25 / 12
HALF_A_CENT = 0.005
NEAR = 1e-9


def number(value: Any, absent: float = 0.0) -> float:
    return absent if value is None else float(value)


def months_of(duration: Any) -> float:
    return float(duration.months) if duration.months is not None else duration.days / DAYS


class Terms:
    """The terms of a deal as plain numbers."""

    def __init__(self, deal: Deal) -> None:
        self.deal, finance, loan = deal, deal.finance, deal.finance.loan
        (service,) = deal.services.values()
        self.tranches = [deal.delivery.tranches[name] for name in service.tranches]
        self.all = range(len(self.tranches))
        gpus = [deal.clusters[t.cluster].units.gpu for t in self.tranches]
        same = len({t.cluster for t in self.tranches}) == 1
        self.gpus = [n * float(t.share_of_service) if same else n for n, t in zip(gpus, self.tranches, strict=True)]
        self.planned = [float(t.ready_for_service_date.close_plus_months) for t in self.tranches]
        (charge,) = deal.commercial.charges.values()
        self.price = float(charge.price.amount)
        self.fee = [self.price * n * HOURS for n in self.gpus]
        self.term = deal.commercial.term.months
        ends_by = deal.commercial.term.ends_by
        self.ends_by = float(ends_by.close_plus_months) if ends_by else math.inf
        self.last = loan.first_payment_month + loan.payments - 1
        self.months = finance.horizon_months or self.last
        self.first = loan.first_payment_month
        ahead = deal.commercial.prepayment
        self.prepaid = [float(ahead.fraction) * self.term * fee if ahead else 0.0 for fee in self.fee]
        self.credited_from = ahead.credited_from_month if ahead else 1
        self.refund_after = deal.cancellation.refund_days / DAYS
        # what it costs
        power, operations, costs = deal.power, deal.operations, finance.operating_costs
        self.power = float(power.kw_per_gpu) * float(power.pue) * float(power.price_per_mwh) / 1000
        self.idle = float(power.idle_share)
        self.grows = float(power.kw_per_gpu) * float(power.site_rent_per_kw_month) + float(
            operations.staff_per_gpu_month
        )
        self.capex = float(finance.capital_expenditure)
        self.insured = self.capex / sum(self.gpus) * float(operations.property_insurance_rate) / 12
        self.growth = float(operations.cost_growth)
        self.project = float(costs.fixed.amount) if costs.fixed else 0.0
        self.project_from = float(costs.fixed.starts.close_plus_months) if costs.fixed else 0.0
        # what the lender holds
        self.rate = float(loan.annual_rate) / 12
        self.held = finance.reserve.months
        self.loan, self.lock, self.covenants = loan, finance.lock_up, finance.covenants
        self.look_back = self.lock.look_back_months if self.lock else 1
        self.payments: list[tuple[float, float]] = []
        self.balloon = 0.0
        self.amount = float(loan.amount)
        self.base_cash: list[float] = []
        self.sweep = 0.0

    def growth_of(self, month: int) -> float:
        return (1 + self.growth) ** ((month - 1) // 12)

    def schedule(self, cash: list[float] | None = None) -> None:
        """Set interest and principal of each payment, a balloon apart."""
        loan, i, n = self.loan, self.rate, self.loan.payments
        amount, balloon = float(loan.amount), 0.0
        wanted: list[float] = []
        if loan.profile == "sculpted":
            wanted = [max(c, 0.0) / float(loan.target_dscr) for c in (cash or [])]
            worth = sum(w / (1 + i) ** (k + 1) for k, w in enumerate(wanted))
            if worth > amount:
                wanted = [w * amount / worth for w in wanted]
            amount = min(worth, amount)
        elif loan.profile == "bullet":
            balloon = amount
        elif loan.profile == "balloon":
            balloon = float(loan.balloon)
        level = (amount - balloon * (1 + i) ** -n) * i / (1 - (1 + i) ** -n)
        left, self.payments = amount, []
        for k in range(n):
            interest = left * i
            if loan.profile == "straight":
                principal = amount / n
            elif wanted:  # a month without cash pays its interest, and no principal comes back
                principal = min(max(wanted[k] - interest, 0.0), left)
            else:
                principal = level - interest
            self.payments.append((interest, principal))
            left -= principal
        self.amount, self.balloon = amount, balloon

    def service(self, month: int) -> float:
        """Return interest and principal as scheduled, a balloon apart."""
        k = month - self.first
        return sum(self.payments[k]) if 0 <= k < len(self.payments) else 0.0

    def drawn(self, month: int) -> float:
        """Return the balance at the end of a month before the first payment."""
        return self.amount - sum(float(d.amount) for d in self.loan.drawings if d.month > month)

    def opening(self, month: int) -> float:
        """Return the balance as scheduled before the month's payment."""
        return self.amount - sum(principal for _, principal in self.payments[: max(month - self.first, 0)])


class Future:
    """One draw, month by month."""

    def __init__(self, terms: Terms, path: dict[str, Any]) -> None:
        self.t, self.path = terms, path
        self.ready = path["ready"]
        self.ends = [min(r + terms.term, terms.ends_by) for r in self.ready]
        self.down = [self._downtime(j) for j in terms.all]
        self.factor = [1.0 for _ in terms.all]
        self.billed: list[int | None] = [None for _ in terms.all]
        self.ended_by = ["" for _ in terms.all]
        self.first_cause, self.first_month = "", 0
        self.repriced = False
        self.refinanced = 0.0
        self.bad: list[set[int]] = [set() for _ in terms.all]
        self.open_until = [-1.0 for _ in terms.all]
        self.spent: set[int] = set()
        self.notice, self.notice_by = 0, ""
        self.left: list[int] = []
        self.carried = 0.0
        self.prepaid_left, self.waiting = list(terms.prepaid), [0.0 for _ in terms.all]
        self.held_rent = [(0.0, 0) for _ in terms.all]
        self.insured_in_year: dict[str, float] = {}
        self.paid = self.paid_in_year = 0.0
        self.commenced = math.inf
        self.losses = 0.0
        self.balance = terms.drawn(0)
        self.reserve, self.trapped, self.arrears = self._target(0, terms.amount), 0.0, 0.0
        self.services: list[float] = []
        self.looked_back: list[tuple[float, float]] = []
        self.breach_lasts: dict[str, int] = {}
        self.breach_month = {
            name: 0
            for name in ("minimum_dscr", "minimum_llcr", "maximum_ltv")
            if getattr(terms.covenants, name) is not None
        }
        self.default_month, self.cause = 0, ""
        self.exposure = self.loss = self.loss_sale_only = self.loss_cover = self.recovery = 0.0
        self.rows: list[dict[str, float]] = []
        self.customer_fails, self.provider_fails = self._defaults()

    def run(self) -> Future:
        for month in range(1, self.t.months + 1):
            self._month(month)
        return self

    # --- 7.2 and 8: what is known before the months run ---------------------------------------------------------------

    def _downtime(self, j: int) -> dict[int, int]:
        """Return the seconds down of each month while the tranche is in service."""
        low = round(self.ready[j] * MONTH_S)
        high = round(self.ends[j] * MONTH_S) if self.ends[j] <= self.t.months else math.inf
        found: dict[int, int] = {}
        for start, end in self.path["outages"][j]:
            start, end = max(start, low), min(end, high, self.t.months * MONTH_S)
            while start < end:
                month = start // MONTH_S + 1
                piece = min(end, month * MONTH_S) - start
                found[month] = found.get(month, 0) + piece
                start += piece
        return found

    def _defaults(self) -> tuple[int, float]:
        """Return the month of the customer's default, 0 if none, and the time of the provider's."""
        who = self.t.deal.assumptions.counterparties
        needs = {
            name: -math.log(0.5 * math.erfc(self.path[name] / math.sqrt(2))) if self.path[name] < 37 else math.inf
            for name in ("customer_score", "cover_provider_score")
        }
        month, hazard = 0, 0.0
        if who.customer is not None:
            link = number(who.customer.market_link)
            for m in range(1, self.t.months + 1):
                deviation = self.path["rent_deviation"][m - 1]
                hazard += float(who.customer.default_rate) / 12 * math.exp(-link * deviation)
                if hazard >= needs["customer_score"]:
                    month = m
                    break
        provider = math.inf
        if who.cover_provider is not None and float(who.cover_provider.default_rate):
            provider = needs["cover_provider_score"] / float(who.cover_provider.default_rate) * 12
        return month, provider

    # --- one month ----------------------------------------------------------------------------------------------------

    def _runs(self, j: int, month: int) -> bool:
        """Return whether the tranche is under contract in some part of the month, delivered or not."""
        return self.billed[j] is None and self.ends[j] > month - 1

    def _share(self, j: int, month: int) -> float:
        """Return the share of the month in which the tranche is ready and its term runs."""
        return max(0.0, min(month, self.ends[j]) - max(month - 1, self.ready[j]))

    def _month(self, month: int) -> None:
        t, spot = self.t, self.path["spot_rent"][month - 1]
        row: dict[str, float] = {}
        self.rows.append(row)
        alive = self.default_month == 0
        # 2 counterparties
        withheld = False
        credit = t.deal.assumptions.counterparties.customer
        if month == self.customer_fails:
            assert credit is not None
            withheld = self.path["assumed_score"] < number(credit.assumed_share)
            if not withheld:
                self._end([j for j in t.all if self.ends[j] > month - 1], "customer_default", month, month - 1)
        provider_alive = self.provider_fails > month
        # 3 damages
        cash = taxable = 0.0
        damages = 0.0
        for j, terms in enumerate(t.tranches):
            if terms.delay_damages is None or not self._runs(j, month):
                continue
            owed = self._damages_by(j, month) - self._damages_by(j, month - 1)
            damages += owed
            if terms.delay_damages.form == "cash":
                cash -= owed
            else:
                self.carried += owed
        row["damages"] = damages
        row["damages_recovered"] = damages * float(t.deal.operations.damages_recovered)
        cash += row["damages_recovered"]
        # 4 fees, and what was paid ahead
        share = [self._share(j, month) if self._runs(j, month) else 0.0 for j in t.all]
        fees = [share[j] * t.fee[j] * self.factor[j] for j in t.all]
        row["fees"] = sum(fees)
        used = refunded = 0.0
        for j in t.all:
            due = self.waiting[j] + (self._credited_by(j, month) - self._credited_by(j, month - 1)) * (
                self.billed[j] is None
            )
            now = min(due, fees[j])
            self.waiting[j] = due - now
            self.prepaid_left[j] -= now
            used += now
            if self.prepaid_left[j] > HALF_A_CENT and month >= self._refund_month(j):
                refunded += self.prepaid_left[j]
                self.prepaid_left[j] = 0.0
        cash += self._leaving_fee(month)
        # 5 outages
        credits = self._credits(month, share, fees)
        row["credits"] = credits
        set_off = min(self.carried, max(row["fees"] - used - credits, 0.0))
        self.carried -= set_off
        unpaid = max(row["fees"] - used - credits - set_off, 0.0) if withheld else 0.0
        recovered, premium = self._insurance(month)
        row["insurance_recovery"], row["insurance_premium"] = recovered, premium
        # 6 re-letting and costs
        let, income, out = self._relet(month, spot, share)
        row["relet_income"] = sum(income)
        row["operating_costs"] = self._costs(month, share, out, let)
        cash += row["fees"] - credits - set_off - unpaid + sum(income) - row["operating_costs"]
        cash += recovered - premium
        # 7 backstop
        contract = row["fees"] - credits - unpaid
        cash += self._backstop(month, row, share, out, let, income, contract, unpaid, fees, provider_alive, alive)
        # 8 tax
        taxable = cash
        cash -= used + refunded
        due = self._due(month)
        row["tax"] = self._tax(month, taxable, due["interest"], used + refunded)
        row["cfads"] = cash - row["tax"]
        # 9 to 11
        if alive:
            self._waterfall(month, row, due, provider_alive)
        self._rights(month, spot)

    def _end(self, which: list[int], cause: str, month: int, billed: int) -> None:
        ends = [j for j in which if self.billed[j] is None]
        for j in ends:
            self.billed[j], self.ended_by[j] = billed, cause
        if ends and not self.first_cause:
            self.first_cause, self.first_month = cause, month

    def _damages_by(self, j: int, time: float) -> float:
        terms = self.t.tranches[j].delay_damages
        grace, cap = months_of(terms.grace), months_of(terms.cap)
        late = min(max(min(self.ready[j], time) - self.t.planned[j] - grace, 0.0), cap)
        return float(terms.steps[0].fee_fraction) * late * self.t.fee[j]

    def _credited_by(self, j: int, time: float) -> float:
        parts = self.t.term - self.t.credited_from + 1
        done = min(time, self.ends[j]) - self.ready[j] - (self.t.credited_from - 1)
        return self.t.prepaid[j] * min(max(done, 0.0), parts) / parts

    def _refund_month(self, j: int) -> int:
        if self.billed[j] is None:
            return math.ceil(self.ends[j] + self.t.refund_after - NEAR)
        over = min(self.billed[j], self.ends[j])
        return max(math.ceil(over + self.t.refund_after - NEAR), self.billed[j] + 1)

    # --- outages ------------------------------------------------------------------------------------------------------

    def _measured(self, j: int, month: int) -> bool:
        ((_, level),) = self.t.deal.service_levels.items()
        if level.measured_from == "each_tranche":
            return self._runs(j, month)
        return self._runs(j, month) and all(self.ready[k] <= month - 1 for k in self.t.all if self._runs(k, month))

    def _below(self, j: int, month: int, share: float, level: str) -> bool:
        """Return whether availability of a measured month lies strictly below a level."""
        window = MONTH_S if share > 1 - NEAR else math.floor(share * MONTH_S + 1e-6)
        down = self.down[j].get(month, 0)
        if not window or not down:
            return False
        of = Fraction(level)
        return (window - min(down, window)) * of.denominator < of.numerator * window

    def _credits(self, month: int, share: list[float], fees: list[float]) -> float:
        ((_, level),) = self.t.deal.service_levels.items()
        total = 0.0
        for j in self.t.all:
            if self._measured(j, month) and share[j] > 0 and self.down[j].get(month):
                below = [b for b in level.credit.bands if self._below(j, month, share[j], str(b.below))]
                fraction = max((float(b.credit_fraction) for b in below), default=0.0)
                total += round(fraction * fees[j], 2)
        return total

    def _insurance(self, month: int) -> tuple[float, float]:
        t = self.t
        if t.deal.insurance is None:
            return 0.0, 0.0
        events = set()
        for j in t.all:
            if self._measured(j, month) and self.ready[j] <= month - 1:
                low, high = (month - 1) * MONTH_S, month * MONTH_S
                events |= {(a, b) for a, b in self.path["outages"][j] if low <= a < high}
        recovered = premium = 0.0
        for name, layer in t.deal.insurance.layers.items():
            if (month - 1) % 12 == 0:
                self.insured_in_year[name] = 0.0
            sum_of_layer = 0.0
            wait, cap = float(layer.wait_hours), number(layer.event_cap_hours, math.inf)
            for start, end in events:
                length = (end - start) / 3600
                if layer.trigger == "deductible":
                    hours = min(max(length - wait, 0.0), cap)
                elif layer.trigger == "qualifying":
                    hours = min(length, cap) if length > wait else 0.0
                else:
                    hours = math.floor(min(max(length - wait, 0.0), cap))
                sum_of_layer += float(layer.rate_per_hour) * hours
            sum_of_layer = min(sum_of_layer, number(layer.year_cap, math.inf) - self.insured_in_year[name])
            self.insured_in_year[name] += sum_of_layer
            recovered += sum_of_layer
            begins = float(layer.premium_from.close_plus_months) if layer.premium_from else t.first - 1
            premium += float(layer.premium_per_month) * min(max(month - begins, 0.0), 1.0)
        return recovered, premium

    # --- letting again, and costs -------------------------------------------------------------------------------------

    def _relet(self, month: int, spot: float, share: list[float]) -> tuple[list[float], list[float], list[float]]:
        """Return utilisation, income and the share of the month out of contract, of each tranche."""
        t, terms = self.t, self.t.deal.assumptions.reletting
        let, income = [0.0 for _ in t.all], [0.0 for _ in t.all]
        out = [min(max(month - self.ready[j], 0.0), 1.0) - share[j] for j in t.all]
        for j in t.all:
            if terms is None or out[j] <= 0:
                continue
            over = math.ceil(self.ends[j] - NEAR)
            billed = over if self.billed[j] is None else min(self.billed[j], over)
            first = max(billed, math.ceil(self.ready[j] - NEAR)) + math.ceil(float(terms.empty)) + 1
            k = month - first + 1
            if k < 1:
                continue
            rent = spot * (1 - float(terms.haircut))
            if terms.rent_fixed_months is not None:
                held, until = self.held_rent[j]
                if month > until:
                    held, until = (rent, month + terms.rent_fixed_months - 1) if rent > t.power else (0.0, 0)
                    self.held_rent[j] = held, until
                rent = held
            if rent > t.power:
                ramp = float(terms.first_utilisation) + (k - 1) * float(terms.utilisation_step)
                let[j] = min(float(terms.highest_utilisation), ramp)
                income[j] = let[j] * rent * t.gpus[j] * HOURS
        return let, income, out

    def _costs(self, month: int, share: list[float], out: list[float], let: list[float]) -> float:
        t = self.t
        cost = t.project * t.growth_of(month) * min(max(month - t.project_from, 0.0), 1.0)
        for j in t.all:
            running = share[j] + out[j] * (let[j] + t.idle * (1 - let[j]))
            cost += running * t.power * t.gpus[j] * HOURS
            begun = min(max(month - t.planned[j], 0.0), 1.0)
            cost += t.gpus[j] * (t.grows * t.growth_of(month) + t.insured) * begun
        return cost

    # --- 11: backstop -------------------------------------------------------------------------------------------------

    def _starts(self, j: int | None = None) -> float:
        """Return when cover starts, of the whole or of one tranche. [month]"""
        cover = self.t.deal.backstop
        match cover.starts:
            case "signing":
                return 0.0
            case "rfs_all":
                return max(self.ready)
            case "rfs_each_tranche":
                return float(math.floor(min(self.ready))) if j is None else self.ready[j]
            case "rent_commenced":
                return self.commenced
        return float(cover.start_date.close_plus_months)

    def _cover_ends(self) -> int:
        cover, at = self.t.deal.backstop, 0
        if cover.shape == "residual_guarantee":
            at = math.ceil(float(cover.at.close_plus_months) - NEAR)
        if cover.expires is not None:
            return math.floor(float(cover.expires.close_plus_months) + NEAR)
        return max(self.t.last, at)

    def _room(self, month: int) -> float:
        cover, room = self.t.deal.backstop, math.inf
        if cover.amount is not None:
            amount = float(cover.amount)
            if cover.amortisation_months is not None:
                gone = max(month - self._starts(), 0.0) / cover.amortisation_months
                amount *= max(1 - gone, 0.0)
            room = max(amount - self.paid, 0.0)
        if cover.amount_per_year is not None:
            room = min(room, max(float(cover.amount_per_year) - self.paid_in_year, 0.0))
        return room

    def _pay_cover(self, month: int, claim: float, provider_alive: bool) -> float:
        paid = min(claim, self._room(month)) if provider_alive else 0.0
        self.paid += paid
        self.paid_in_year += paid
        return paid

    def _backstop(
        self,
        month: int,
        row: dict[str, float],
        share: list[float],
        out: list[float],
        let: list[float],
        income: list[float],
        contract: float,
        unpaid: float,
        fees: list[float],
        provider_alive: bool,
        alive: bool,
    ) -> float:
        t, cover = self.t, self.t.deal.backstop
        row["cover_paid"] = row["backstop_fee"] = 0.0
        if cover is None:
            return 0.0
        if (month - 1) % 12 == 0:
            self.paid_in_year = 0.0
        if math.isinf(self.commenced) and row["fees"] > 0:
            self.commenced = month - 1.0
        if not alive or month > self._cover_ends():
            return 0.0
        started = self._starts() <= month - 1
        spot = self.path["spot_rent"][month - 1]
        everything = cover.shape == "leaseback" or getattr(cover, "covers", "all") == "all"
        hours = sold = revenue = 0.0
        for j in t.all:
            of = t.gpus[j] * HOURS
            hours += of * (out[j] + (share[j] if everything else 0.0))
            sold += of * (out[j] * let[j] + (share[j] if everything else 0.0))
            revenue += income[j]
        revenue += contract if everything else 0.0
        p, floor = number(getattr(cover, "floor_fraction", 1)), number(getattr(cover, "floor_rent", 0))
        claim = 0.0
        match cover.shape:
            case "unsold_hours_put":
                claim = floor * max(p * hours - sold, 0.0)
            case "utilisation_floor":
                claim = spot * max(p * hours - sold, 0.0)
            case "revenue_floor":
                claim = max(floor * p * hours - revenue, 0.0)
            case "index_price_floor":
                claim = p * hours * max(floor - spot, 0.0)
            case "leaseback":
                claim = floor * hours
            case "residual_guarantee":
                at = math.ceil(float(cover.at.close_plus_months) - NEAR)
                renewed = any(self.billed[j] is None and self.ends[j] > month for j in t.all)
                if month == at and not renewed:
                    claim = max(float(cover.threshold) - self._value(month), 0.0)
            case "payment_guarantee":
                claim, started = self._guaranteed(month, income, unpaid, fees), True
        paid = self._pay_cover(month, claim, provider_alive) if started else 0.0
        row["cover_paid"] = paid
        cash = paid
        if cover.shape == "leaseback" and claim > 0:
            cash -= revenue * paid / claim
        if month >= t.first:
            row["backstop_fee"] = float(cover.fee_rate) * number(cover.amount) / 12
            cash -= row["backstop_fee"]
        if started or cover.shape == "payment_guarantee":
            above = max(revenue - float(cover.revenue_share_above), 0.0)
            if self._starts() <= month - 1:
                cash -= float(cover.revenue_share) * above
        return cash

    def _answers(self, j: int) -> bool:
        """Return whether the guarantee answers for the way in which a contract ended."""
        triggers, cause = self.t.deal.backstop.triggers, self.ended_by[j]
        if cause == "customer_default":
            return "payment_default" in triggers or "insolvency" in triggers
        if cause == "convenience" and self.notice_by == "provider":
            return False
        return cause in triggers

    def _guaranteed(self, month: int, income: list[float], unpaid: float, fees: list[float]) -> float:
        t, cover, claim = self.t, self.t.deal.backstop, 0.0
        for j in t.all:
            if self.billed[j] is not None and self._answers(j) and self._starts(j) <= self.billed[j]:
                rent = self._share(j, month) * t.fee[j] * self.factor[j]
                claim += max(rent - (income[j] if cover.net_of_reletting else 0.0), 0.0)
        if unpaid and {"payment_default", "insolvency"} & set(cover.triggers):
            claim += unpaid * sum(fees[j] for j in t.all if self._starts(j) <= month - 1) / sum(fees)
        return claim

    def _for_the_lender(self, month: int, lost: float, provider_alive: bool) -> float:
        """Return what the cover gives the lender towards its loss."""
        t, cover = self.t, self.t.deal.backstop
        if cover is None or month > self._cover_ends() or not provider_alive:
            return 0.0
        if cover.shape == "first_loss":
            return self._pay_cover(month, float(cover.share) * lost, True) if self._starts() <= month - 1 else 0.0
        if cover.shape != "payment_guarantee" or cover.assignable is False:
            return 0.0
        credit = t.deal.assumptions.counterparties.cover_provider
        hazard = float(credit.default_rate) / 12 if credit is not None else 0.0
        kept, worth = (self.paid, self.paid_in_year), 0.0
        for later in range(month + 1, self._cover_ends() + 1):
            if (later - 1) % 12 == 0:
                self.paid_in_year = 0.0
            rent = 0.0
            for j in t.all:
                if self.billed[j] is not None and self._answers(j) and self._starts(j) <= self.billed[j]:
                    rent += self._share(j, later) * t.fee[j] * self.factor[j]
            paid = self._pay_cover(later, rent, True)
            worth += paid * (1 + t.rate) ** -(later - month) * math.exp(-hazard * (later - month))
        self.paid, self.paid_in_year = kept
        return worth

    # --- 13: tax, debt, waterfall -------------------------------------------------------------------------------------

    def _tax(self, month: int, taxable: float, interest: float, returned: float) -> float:
        terms = self.t.deal.finance.tax
        if terms is None:
            return 0.0
        k, at_once = month - self.t.first, float(terms.first_month_share)
        income = taxable - interest
        if 0 <= k < terms.depreciation_months:
            income -= (1 - at_once) * self.t.capex / terms.depreciation_months
        if k == 0:
            income -= at_once * self.t.capex
        if terms.prepayment == "on_receipt":
            income += (sum(self.t.prepaid) if month == 1 else 0.0) - returned
        if terms.losses == "refunded":
            return float(terms.rate) * income
        tax = float(terms.rate) * max(income - self.losses, 0.0)
        self.losses = max(self.losses - income, 0.0)
        return tax

    def _due(self, month: int) -> dict[str, float]:
        """Return what falls due this month, by what is owed in this draw."""
        t = self.t
        if not t.first <= month <= t.last:
            return {"interest": 0.0, "service": 0.0, "balloon": 0.0}
        interest = self.balance * t.rate if t.sweep else t.payments[month - t.first][0]
        service = t.service(month)
        balloon = t.balloon if month == t.last else 0.0
        if t.sweep:
            owed = self.balance + interest
            if t.loan.sweep_effect == "re_levels":
                part = self.balance / t.opening(month)
                service, balloon = service * part, balloon * part
            else:
                service = min(service, owed)
                balloon = min(balloon, owed - service)
        return {"interest": interest, "service": service, "balloon": balloon}

    def _target(self, month: int, owed: float) -> float:
        """Return the reserve's target at the end of a month: the next payments, or all that are left."""
        t = self.t
        later = range(max(month + 1, t.first), max(month + 1, t.first) + t.held)
        if not t.sweep or month < t.first:
            return sum(t.service(m) for m in later)
        if t.loan.sweep_effect == "re_levels":
            planned = t.opening(month + 1)
            return sum(t.service(m) for m in later) * (owed / planned if planned > NEAR else 0.0)
        total = 0.0
        for m in later:
            paid = min(t.service(m), owed * (1 + t.rate))
            owed = owed * (1 + t.rate) - paid
            total += paid
        return total

    def _take(self, need: float) -> float:
        """Return what reserve, then trapped cash, leave of a need."""
        for account in ("reserve", "trapped"):
            taken = min(need, getattr(self, account))
            setattr(self, account, getattr(self, account) - taken)
            need -= taken
        return need

    def _waterfall(self, month: int, row: dict[str, float], due: dict[str, float], provider_alive: bool) -> None:
        t, loan, cfads = self.t, self.t.loan, row["cfads"]
        brought = self.arrears * (1 + t.rate)
        called = due["balloon"]
        refinanced = 0.0
        if loan.refinancing_ltv is not None and due["balloon"] <= float(loan.refinancing_ltv) * self._value(month):
            called, refinanced = 0.0, due["balloon"]
        claim = due["service"] + brought + called
        owed_before = self.balance + due["interest"] + brought
        cover_service = due["service"] + (due["balloon"] if loan.refinancing_ltv is None else 0.0)
        if cover_service > 0:
            self.looked_back.append((cfads, cover_service))
        unpaid = self._take(max(claim - cfads, 0.0))
        applied = max(claim - unpaid, 0.0)
        surplus = max(cfads - claim, 0.0)
        row["debt_service"], row["interest"], row["unpaid"] = cover_service, due["interest"], unpaid
        closing = self.balance + due["interest"] - due["service"] - due["balloon"]
        if not t.first <= month <= t.last:
            closing = t.drawn(month) if month < t.first else 0.0
        paid_up = unpaid <= HALF_A_CENT
        swept = 0.0
        if paid_up:
            moved = min(surplus, self._target(month, closing) - self.reserve)
            self.reserve += moved
            surplus -= moved
            if due["service"] > 0:
                swept = min(t.sweep * surplus, closing)
                surplus -= swept
        self.balance = closing - swept
        row["balance"] = self.balance
        # arrears
        fails = unpaid > HALF_A_CENT and (month < t.first or owed_before > HALF_A_CENT)  # C13: debt service of a loan
        if loan.grace_months:
            self.services.append(due["service"])
            self.arrears = min(unpaid, claim)
            recent = self.services[-loan.grace_months :][::-1]
            oldest = sum(s * (1 + t.rate) ** k for k, s in enumerate(recent))
            in_grace = self.arrears <= oldest + HALF_A_CENT and unpaid - claim <= HALF_A_CENT
            if fails and month < t.last and in_grace:
                fails = False
        # covenants and lock-up
        stopped, breached = self._breaches(month, row, self.balance + self.arrears)
        fails = fails or breached
        window = self.looked_back[-t.look_back :]
        passes = True
        if t.lock is not None and (month < t.first or owed_before > HALF_A_CENT):  # it protects a loan
            covered = sum(c for c, _ in window) >= (float(t.lock.dscr) - NEAR) * sum(s for _, s in window)
            passes = bool(window) and covered and max(self.ready) <= month
        self.trapped += surplus
        row["distribution"] = 0.0
        if paid_up and passes and not stopped:
            row["distribution"], self.trapped = self.trapped, 0.0
        if fails:
            self._fail(month, owed_before - applied, provider_alive)
        row["reserve"], row["trapped"] = self.reserve, self.trapped
        self.refinanced += refinanced
        row["refinanced"] = self.refinanced

    def _breaches(self, month: int, row: dict[str, float], owed: float) -> tuple[bool, bool]:
        """Return whether a breach stops distributions, and whether one is a default."""
        t, terms = self.t, self.t.covenants
        if not t.first <= month <= t.last:
            return False, False
        window = self.looked_back[-t.look_back :]
        found = {}
        if terms.minimum_dscr is not None and window and row["debt_service"] > 0:
            cash, service = sum(c for c, _ in window), sum(s for _, s in window)
            found["minimum_dscr"] = cash < (float(terms.minimum_dscr) - NEAR) * service
        if terms.minimum_llcr is not None and owed > HALF_A_CENT and t.base_cash:
            worth = sum(t.base_cash[m - 1] / (1 + t.rate) ** (m - month) for m in range(month + 1, t.last + 1))
            found["minimum_llcr"] = worth < (float(terms.minimum_llcr) - NEAR) * owed
        if terms.maximum_ltv is not None and owed > HALF_A_CENT:
            value = self._value(month, terms.ltv_basis)
            found["maximum_ltv"] = owed > (float(terms.maximum_ltv) + NEAR) * value
        defaults = False
        for name in self.breach_month:
            breach = found.get(name, False)
            self.breach_lasts[name] = self.breach_lasts.get(name, 0) + 1 if breach else 0
            if breach and not self.breach_month[name]:
                self.breach_month[name] = month
            if terms.on_breach == "default" and self.breach_lasts[name] > terms.cure_months:
                defaults = True
        return terms.on_breach != "report" and any(found.values()), defaults

    # --- 15: default and recovery -------------------------------------------------------------------------------------

    def _each_value(self, month: int, basis: str = "market") -> list[float]:
        t, law = self.t, self.t.deal.assumptions.value
        bases = t.deal.residual_value
        values = []
        for j in t.all:
            since = max(month - (t.planned[j] if law.ages_from == "ready_for_service" else 0.0), 0.0)
            if basis == "book":
                at_cost = t.capex * t.gpus[j] / sum(t.gpus)
                age = max(month - t.planned[j], 0.0)
                values.append(at_cost * max(0.0, 1 - age / bases.book_life_months))
                continue
            left = max(float(law.life) - float(law.age_at_close) - since / 12, 0.0)
            rent = self.path["spot_rent"][month - 1] * (1 - float(law.haircut))
            rent *= float(bases.floor_rent_share) if basis == "floor" else 1.0
            cost = number(law.cash_cost, t.power + (t.grows + t.insured) / HOURS)
            if rent <= cost:
                values.append(0.0)
                continue
            decay, k = float(t.deal.assumptions.market.decay_per_year), float(law.discount_rate)
            stop = min(left, math.log(rent / cost) / decay)
            earned = rent * (1 - math.exp(-(decay + k) * stop)) / (decay + k)
            spent = cost * (1 - math.exp(-k * stop)) / k
            values.append(t.gpus[j] * 8760 * float(law.utilisation) * (earned - spent))
        return values

    def _value(self, month: int, basis: str = "market") -> float:
        return sum(self._each_value(month, basis))

    def _fail(self, month: int, exposure: float, provider_alive: bool) -> None:
        t, terms = self.t, self.t.deal.finance.recovery
        late = any(r > p + NEAR for r, p in zip(self.ready, t.planned, strict=True))
        self.default_month = month
        otherwise = "repricing" if self.repriced else "late_delivery" if late else "credits_and_market"
        self.cause = self.first_cause or otherwise
        self.exposure = max(exposure, 0.0)
        values = self._each_value(month)
        undelivered = number(terms.undelivered_share, 1.0)
        worth = sum(v * (1.0 if self.ready[j] <= month else undelivered) for j, v in enumerate(values))
        proceeds = float(terms.sale_stress) * worth * (1 - number(terms.sale_cost_share)) - number(terms.sale_cost)
        sale = max(proceeds, 0.0) / (1 + t.rate) ** float(terms.lag_months)
        novation = 0.0
        if not 0 < self.customer_fails <= month:
            for j in t.all:
                if self.billed[j] is not None:
                    continue
                until = min(self.ends[j], t.last if terms.novation_until == "loan_maturity" else math.inf)
                left = min(max(until - month, 0.0), t.term)
                annuity = (1 - (1 + t.rate) ** -left) / t.rate
                fixed = t.gpus[j] * (t.grows * t.growth_of(month) + t.insured)
                fixed += t.project * t.growth_of(month) * t.fee[j] / sum(t.fee)
                rent = t.gpus[j] * HOURS * (t.price * self.factor[j] - t.power)
                ahead = max(rent - fixed, 0.0) * annuity - self.prepaid_left[j]
                novation += max(ahead, 0.0)
        held = self.reserve + self.trapped
        self.reserve = self.trapped = 0.0
        best = max(sale, number(terms.novation_share) * novation) + held
        self.recovery = min(max(best, 0.0), self.exposure)
        back = min(max(sale + held, 0.0), self.exposure)
        paid, in_year = self.paid, self.paid_in_year  # what a sale alone would leave is the same month lived otherwise
        cover_of_a_sale = self._for_the_lender(month, self.exposure - back, provider_alive)
        self.paid, self.paid_in_year = paid, in_year
        self.loss_cover = self._for_the_lender(month, self.exposure - self.recovery, provider_alive)
        if t.deal.backstop is not None and t.deal.backstop.shape == "first_loss":
            self.rows[-1]["cover_paid"] = self.loss_cover
        self.loss = max(self.exposure - self.recovery - self.loss_cover, 0.0)
        self.loss_sale_only = max(self.exposure - back - cover_of_a_sale, 0.0)

    # --- 9: rights ----------------------------------------------------------------------------------------------------

    def _gains(self, j: int, spot: float) -> bool:
        moving = number(self.t.deal.assumptions.exercise.switching_cost)
        return spot < (1 - moving) * self.t.price * self.factor[j]

    def _rights(self, month: int, spot: float) -> None:
        t, chronic = self.t, self.t.deal.cancellation.chronic_failure
        late, failing = [], []
        for j in t.all:
            stop = t.tranches[j].long_stop
            if stop is not None and j not in self.spent and self.billed[j] is None:
                limit = t.planned[j] + months_of(stop.after)
                first = math.ceil(limit - NEAR)
                lapses = limit + months_of(stop.exercise)
                if (month == first or first < month <= lapses + NEAR) and self.ready[j] > max(limit, month):
                    late.append(j)
            if chronic is None:
                continue
            (limb,) = chronic.limbs
            share = self._share(j, month) if self._runs(j, month) else 0.0
            if share > 0 and self._measured(j, month) and self._below(j, month, share, str(limb.below)):
                self.bad[j].add(month)
                if sum(m > month - limb.m for m in self.bad[j]) >= limb.k:
                    self.open_until[j] = month + months_of(chronic.exercise)
            if self.open_until[j] >= month and self.billed[j] is None and self.ends[j] > month:
                failing.append(j)
        if self.path["may_leave"]:
            self._use("long_stop", late, month, spot)
            self._use("chronic_failure", failing, month, spot)
        self._give_notice(month, spot)

    def _reach(self, cause: str, wants: list[int]) -> list[int]:
        t, whole = self.t, False
        if cause == "chronic_failure":
            whole = t.deal.cancellation.chronic_failure.scope == "order"
        else:
            earliest = t.planned.index(min(t.planned))
            for j in wants:
                scope = t.tranches[j].long_stop.scope
                whole = whole or scope == "order" or (scope == "order_if_first" and j == earliest)
        return list(t.all) if whole else wants

    def _use(self, cause: str, rights: list[int], month: int, spot: float) -> None:
        exercise = self.t.deal.assumptions.exercise
        mode = getattr(exercise, cause)
        wants = [j for j in rights if self.billed[j] is None]
        if mode == "never" or not wants:
            return
        if mode != "always":
            wants = [j for j in wants if self._gains(j, spot)]
            if not wants or self.path["exercise_score"][0] < number(exercise.waiver):
                return
            takes = self.path["exercise_score"][1] < number(exercise.reprice_probability)
            if mode == "rational_or_reprice" and takes and not self.repriced:
                self.repriced = True
                for j in self._reach(cause, wants):
                    rent = max(spot / self.t.price, number(exercise.reprice_floor) * self.factor[j])
                    self.factor[j] = min(self.factor[j], rent)
                    self.bad[j], self.open_until[j] = set(), -1.0
                    if cause == "long_stop":
                        self.spent.add(j)
                return
        self._end(self._reach(cause, wants), cause, month, month)

    def _notice_months(self) -> int:
        return math.ceil(months_of(self.t.deal.cancellation.convenience.notice) - NEAR)

    def _give_notice(self, month: int, spot: float) -> None:
        t, terms, exercise = self.t, self.t.deal.cancellation.convenience, self.t.deal.assumptions.exercise
        if terms is None or not self.path["may_leave"] or month < float(terms.first_exercise.close_plus_months):
            return
        bound = [j for j in t.all if self.billed[j] is None and self.ends[j] > month]
        if bound and not self.notice:
            moving = number(exercise.switching_cost)
            again = 1 - (number(t.deal.assumptions.reletting.haircut) if t.deal.assumptions.reletting else 0.0)
            contract = sum(t.gpus[j] * t.price * self.factor[j] for j in bound)
            market = sum(t.gpus[j] * spot for j in bound)
            stays = self.path["exercise_score"][0] < number(exercise.waiver)
            if exercise.convenience == "rational" and market < (1 - moving) * contract and not stays:
                self.notice, self.notice_by = month, "customer"
            elif (
                exercise.provider == "rational" and terms.party == "either" and market * again > (1 + moving) * contract
            ):
                self.notice, self.notice_by = month, "provider"
        if self.notice and self.notice + self._notice_months() == month:
            self.left = bound
            self._end(bound, "convenience", month, month)

    def _leaving_fee(self, month: int) -> float:
        terms = self.t.deal.cancellation.convenience
        if terms is None or not terms.fee or not self.notice:
            return 0.0
        if self.notice + max(self._notice_months(), 1) != month:
            return 0.0
        left = [j for j in self.t.all if self.billed[j] is None and self.ends[j] > month]
        left = left if self._notice_months() else self.left  # cash of the month of notice has moved
        fee = float(terms.fee) * sum(self.t.fee[j] for j in left) / sum(self.t.fee)
        return fee if self.notice_by == "customer" else -fee


# --- where a draw comes from -----------------------------------------------------------------------------------------


def terms_of(deal: Deal, base_paths: dict[str, Any]) -> Terms:
    """Return the terms with the loan scheduled, sculpted to the base case's cash where it is."""
    terms = Terms(deal)
    base = plain(base_paths, 0, len(terms.all))
    if terms.loan.profile == "sculpted":
        cash = [0.0] * terms.loan.payments
        for _ in range(60):
            terms.schedule(cash)
            rows = Future(terms, base).run().rows
            again = [row["cfads"] for row in rows[terms.first - 1 : terms.last]]
            moved = max(abs(a - b) for a, b in zip(again, cash, strict=True))
            cash = again
            if moved < 1e-6:
                break
    terms.schedule(cash if terms.loan.profile == "sculpted" else None)
    terms.sweep = float(terms.loan.sweep)
    terms.base_cash = [row["cfads"] for row in Future(terms, base).run().rows]
    return terms


def plain(paths: dict[str, Any], i: int, tranches: int) -> dict[str, Any]:
    """Return the path of one draw in lists and numbers."""
    draw = {name: paths[name][i].tolist() for name in paths if not name.startswith("outage_")}
    mine = paths["outage_draw"] == i
    draw["outages"] = [
        list(
            zip(
                paths["outage_start_s"][mine & (paths["outage_tranche"] == j)].tolist(),
                paths["outage_end_s"][mine & (paths["outage_tranche"] == j)].tolist(),
                strict=True,
            )
        )
        for j in range(tranches)
    ]
    for name in ("customer_score", "cover_provider_score", "assumed_score"):
        draw.setdefault(name, math.inf)
    return draw
