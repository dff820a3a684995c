"""One deal month by month in plain Python, straight from the method's text, against the engine draw by draw.

Three tranches in two services, late delivery, damages paid and set off, outages, levels of credits with caps, chronic
failure, re-pricing, notice with a fee, prepayment, tax, reserve, lock-up, sale and novation; terms that end before the
loan's last payment, and months after it. Nothing here is imported from the rules that it checks.
"""

import math
from datetime import UTC, datetime
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from risk.engine import Model
from schemas.deal import Deal

MONTHS, FIRST, PAYMENTS, TERM, RATE, LOAN = 44, 6, 32, 36, 0.09, 10_600_000
GPUS, PLANNED = (100, 200, 40), (2, 4, 3)
SERVICE = ("compute", "compute", "inference")
PRICE, LUMP = 2.5, 95_000.0
POWER, OTHER, FIXED, FIXED_FROM = 0.15, 0.25, 38_000.0, 3
CAPEX, TAX, DEPRECIATION = 14_000_000, 0.2, 48
PREPAID, CREDITED_FROM = 0.1, 7
GRACE, STEPS, DAMAGES_CAP, CASH = 1, ((2, 0.2), (math.inf, 0.4)), 5, (True, False, False)
LONG_STOP, LONG_STOP_OPEN, REACH = (4, 3, None), (2, 1, 0), ((0, 1, 2), (1,), ())
SWITCHING, WAIVER, REPRICE, FLOOR = 0.05, 0.1, 0.5, 0.8
K, M, BAD, LONG_HOURS, CHRONIC_OPEN = 2, 6, "0.99", 40, 60 / (365.25 / 12)
FIRST_NOTICE, NOTICE, LEAVING_FEE = 26, 3, 60_000.0
LEVELS = {  # service, shortest outage [min], bands
    "first": ("compute", 1, (("0.999", 0.05), ("0.99", 0.2), ("0.95", 1.0))),
    "second": ("compute", 120, (("0.995", 0.3),)),
    "third": ("inference", 1, (("0.99", 0.25),)),
}
UNIT_CAP, MONTH_CAP, YEAR_CAP, CLAIMED = 0.8, 0.5, 0.04, 0.9
RESERVE, LOCK_UP, LOOK_BACK = 2, 1.2, 3
STRESS, SELLING, LAG, NOVATION, UNDELIVERED = 0.7, 0.06, 6, 0.5, 0.6
LIFE, DISCOUNT, COST, USED, HAIRCUT, AGE, DECAY = 5.0, 0.15, 0.45, 0.85, 0.1, 0.25, 0.15


def sourced(value, unit="1"):
    return {"value": str(value), "unit": unit, "kind": "judgement", "as_of": "2026-11-30", "rationale": "worked here"}


def level(name):
    service, minimum, bands = LEVELS[name]
    return {
        "level": "cluster",
        "service": service,
        "target": "0.999",
        "nodes_needed_share": "1",
        "measurement": {"minimum_outage_minutes": minimum},
        "credit": {"bands": [{"below": below, "credit_fraction": str(share)} for below, share in bands]},
    }


def tranche(j):
    terms = {
        "cluster": f"c{j}",
        "ready_for_service_date": {"close_plus_months": PLANNED[j]},
        "share_of_service": ("0.4", "0.6", "1")[j],
        "delay_damages": {
            "grace": {"months": GRACE},
            "steps": [{"until": {"months": 2}, "fee_fraction": "0.2"}, {"fee_fraction": "0.4"}],
            "cap": {"months": DAMAGES_CAP},
            "form": "cash" if CASH[j] else "fee_credit",
        },
    }
    if LONG_STOP[j]:
        terms["long_stop"] = {
            "after": {"months": LONG_STOP[j]},
            "scope": ("order_if_first", "tranche")[j],
            "exercise": {"months": LONG_STOP_OPEN[j]},
        }
    return terms


def deal(calendar):
    return Deal.model_validate(
        {
            "schema_version": 1,
            "measurement": {"zone": "America/New_York"},
            "clusters": {f"c{j}": {"units": {"gpu": gpus}} for j, gpus in enumerate(GPUS)},
            "services": {"compute": {"tranches": ["t0", "t1"]}, "inference": {"tranches": ["t2"]}},
            "service_levels": {name: level(name) for name in LEVELS},
            "credits": {
                "caps": {"unit": UNIT_CAP, "month": MONTH_CAP, "year": YEAR_CAP},
                "between_levels": "highest_level",
                "process": {"mode": "claimed"},
            },
            "delivery": {"tranches": {f"t{j}": tranche(j) for j in range(3)}},
            "cancellation": {
                "chronic_failure": {
                    "limbs": [
                        {"form": "bad_months", "service_level": "first", "below": BAD, "k": K, "m": M},
                        {"form": "single_outage", "service_level": "third", "hours": LONG_HOURS},
                    ],
                    "scope": "tranche",
                    "exercise": {"days": 60},
                },
                "convenience": {
                    "first_exercise": {"close_plus_months": FIRST_NOTICE},
                    "notice": {"days": 90},
                    "fee": LEAVING_FEE,
                },
            },
            "commercial": {
                "currency": "USD",
                "charges": {
                    "compute": {"price": {"per": "gpu_hour", "amount": PRICE}},
                    "inference": {"price": {"per": "lump_month", "amount": LUMP}},
                },
                "term": {"months": TERM},
                "prepayment": {"fraction": PREPAID, "credited_from_month": CREDITED_FROM},
            },
            "finance": {
                "close": "2026-02-10",
                "currency": "USD",
                "horizon_months": MONTHS,
                "capital_expenditure": CAPEX,
                "loan": {"amount": LOAN, "annual_rate": RATE, "first_payment_month": FIRST, "payments": PAYMENTS},
                "reserve": {"months": RESERVE},
                "lock_up": {"dscr": LOCK_UP, "look_back_months": LOOK_BACK},
                "operating_costs": {
                    "fixed": {"amount": FIXED, "starts": {"close_plus_months": FIXED_FROM}},
                    "power": {"amount": POWER},
                    "other": {"amount": OTHER},
                },
                "tax": {"rate": TAX, "depreciation_months": DEPRECIATION},
                "recovery": {
                    "sale_stress": sourced(STRESS),
                    "sale_cost_share": sourced(SELLING),
                    "lag_months": sourced(LAG, "month"),
                    "novation_share": sourced(NOVATION),
                    "undelivered_share": sourced(UNDELIVERED),
                },
            },
            "assumptions": {
                "calendar": calendar,
                "claimed_share": sourced(CLAIMED),
                "delay": {
                    "share_late": sourced(0.6),
                    "median": sourced(2, "month"),
                    "sigma": sourced(0.8),
                    "shared_share": sourced(0.4),
                },
                "market": {
                    "spot_rent": sourced(2.6, "USD/GPU-hour"),
                    "decay_per_year": sourced(DECAY, "1/year"),
                    "persistence": sourced(0.9),
                    "monthly_noise": sourced(0.06),
                    "regimes": {
                        "start": "tight",
                        "tight_to_loose": sourced(0.05),
                        "loose_to_tight": sourced(0.05),
                        "tight_level": sourced(0.1),
                        "loose_level": sourced(-0.2),
                    },
                    "next_generation": {
                        "earliest": sourced(12, "month"),
                        "latest": sourced(30, "month"),
                        "log_drop": sourced(0.15),
                    },
                },
                "value": {
                    "life": sourced(LIFE, "year"),
                    "discount_rate": sourced(DISCOUNT, "1/year"),
                    "cash_cost": sourced(COST, "USD/GPU-hour"),
                    "utilisation": sourced(USED),
                    "haircut": sourced(HAIRCUT),
                    "age_at_close": sourced(AGE, "year"),
                },
                "exercise": {
                    "long_stop": "rational_or_reprice",
                    "chronic_failure": "rational_or_reprice",
                    "convenience": "rational",
                    "switching_cost": sourced(SWITCHING),
                    "waiver": sourced(WAIVER),
                    "reprice_probability": sourced(REPRICE),
                    "reprice_floor": sourced(FLOOR),
                },
                "prescribed": {
                    "outages": {
                        "outages_per_year": sourced(5, "1/year"),
                        "median_hours": sourced(3, "h"),
                        "sigma": sourced(1.5),
                        "repeat_share": sourced(0.25),
                        "repeat_mean_hours": sourced(200, "h"),
                    }
                },
            },
        }
    )


# --- the same deal by hand -----------------------------------------------------------------------------------------


def month_edges(calendar):
    """Return seconds from close to the start of each month and the end of the last."""
    if calendar == "equal_730":
        return [m * 730 * 3600 for m in range(MONTHS + 1)]
    zone = ZoneInfo("America/New_York")
    starts = [
        datetime(2026 + (1 + m) // 12, (1 + m) % 12 + 1, 1, tzinfo=zone).astimezone(UTC) for m in range(MONTHS + 1)
    ]
    return [int((start - starts[0]).total_seconds()) for start in starts]


class Draw:
    """One draw, run month by month."""

    def __init__(self, edges, ready, spot, outages, scores):
        self.edges, self.ready, self.spot, self.outages = edges, ready, spot, outages
        self.waives, self.takes_new_rent = scores[0] < WAIVER, scores[1] < REPRICE
        self.hours = [(b - a) / 3600 for a, b in pairwise(edges)]
        self.payment = LOAN * (RATE / 12) / (1 - (1 + RATE / 12) ** -PAYMENTS)
        fees = [[self.list_fee(j, m) for m in range(1, MONTHS + 1)] for j in range(3)]
        self.prepaid = [PREPAID * TERM * sum(row) / MONTHS for row in fees]
        self.of_tranche = [self.joined(j) for j in range(3)]
        self.under = [True] * 3
        self.rent = [1.0] * 3
        self.not_credited = [0.0] * 3
        self.prepaid_left = list(self.prepaid)
        self.ended = [None] * 3
        self.carried = 0.0
        self.paid_in_year = {}
        self.bad = [[] for _ in range(3)]
        self.chronic_until = [-1.0] * 3
        self.long_stop_spent = [False] * 3
        self.notice = None
        self.repriced = False
        self.first_cause, self.first_month = "", 0
        self.losses = 0.0
        self.balance, self.reserve, self.trapped = float(LOAN), RESERVE * self.payment, 0.0
        self.looked_back = []
        self.default_month, self.cause = 0, ""
        self.exposure = self.loss = self.loss_sale_only = 0.0
        self.rows = []

    def list_fee(self, j, month):
        return LUMP if SERVICE[j] == "inference" else PRICE * GPUS[j] * self.hours[month - 1]

    def second(self, months):
        """Return the second at which a moment in months after close falls."""
        whole = min(int(months), MONTHS)
        if whole == MONTHS:
            return self.edges[MONTHS]
        return round(self.edges[whole] + (months - whole) * (self.edges[whole + 1] - self.edges[whole]))

    def share(self, j, month):
        """Return the share of the month in which the tranche is ready and its term runs."""
        return max(0.0, min(month, self.ready[j] + TERM) - max(month - 1, self.ready[j]))

    def damages_until(self, j, time):
        late = min(max(min(self.ready[j], time) - PLANNED[j] - GRACE, 0.0), DAMAGES_CAP)
        first = min(late, STEPS[0][0])
        return STEPS[0][1] * first + STEPS[1][1] * (late - first)

    def joined(self, j):
        """Return the outages of a tranche in service as lists of pieces, joined over gaps under five minutes."""
        low, high = self.second(self.ready[j]), self.second(self.ready[j] + TERM)
        pieces = [(max(start, low), min(end, high)) for start, end in self.outages[j]]
        joined = []
        for piece in (piece for piece in pieces if piece[1] > piece[0]):
            if joined and piece[0] - joined[-1][-1][1] < 300:
                joined[-1].append(piece)
            else:
                joined.append([piece])
        return joined

    def minutes(self, j, month, shortest):
        """Return the counted minutes of the month, short outages dropped."""
        total = 0
        for outage in self.of_tranche[j]:
            if sum(end - start for start, end in outage) < shortest * 60:
                continue
            for start, end in outage:
                inside = min(end, self.edges[month]) - max(start, self.edges[month - 1])
                total += max(inside, 0) // 60
        return total

    def availability(self, name, j, month):
        """Return the availability of a measured month, None of one that is not."""
        if not self.under[j] or LEVELS[name][0] != SERVICE[j]:
            return None
        window = math.floor(self.share(j, month) * round(self.hours[month - 1] * 60) + 1e-6)
        if window == 0:
            return None
        return 1 - Fraction(min(self.minutes(j, month, LEVELS[name][1]), window), window)

    def credits(self, month, fees):
        given = 0.0
        for service in ("compute", "inference"):
            mine = [j for j in range(3) if SERVICE[j] == service]
            sums = []
            for name, (of, _, bands) in LEVELS.items():
                if of != service:
                    continue
                total = 0.0
                for j in mine:
                    value = self.availability(name, j, month)
                    share = max((s for below, s in bands if value is not None and value < Fraction(below)), default=0.0)
                    total += round(min(share, UNIT_CAP) * fees[j], 2)
                sums.append(total)
            first_month = math.floor(min(self.ready[j] for j in mine)) + 1
            year = (month - first_month) // 12 if month >= first_month else 0
            there = [j for j in mine if self.ready[j] < first_month - 1 + 12 * (year + 1)]
            back = range(max(1, month - 11), month + 1)
            planned = 12 * sum(sum(self.list_fee(j, k) for k in back) / len(back) for j in there)
            room = YEAR_CAP * planned - self.paid_in_year.get((service, year), 0.0)
            paid = min(max(sums) * CLAIMED, MONTH_CAP * sum(fees[j] for j in mine), max(room, 0.0))
            self.paid_in_year[service, year] = self.paid_in_year.get((service, year), 0.0) + paid
            given += paid
        return given

    def run(self):
        for month in range(1, MONTHS + 1):
            self.month(month)
        return self

    def month(self, month):
        spot = self.spot[month - 1]
        billed = [self.share(j, month) * self.under[j] for j in range(3)]
        fees = [billed[j] * self.list_fee(j, month) * self.rent[j] for j in range(3)]
        owed = [
            (self.damages_until(j, month) - self.damages_until(j, month - 1)) * self.list_fee(j, month) * self.under[j]
            for j in range(3)
        ]
        cash_damages = sum(owed[j] for j in range(3) if CASH[j])
        self.carried += sum(owed[j] for j in range(3) if not CASH[j])
        credited = 0.0
        for j in range(3):
            due = self.not_credited[j] + self.prepaid_part(j, month) * self.under[j]
            used = min(due, fees[j])
            self.not_credited[j] = due - used
            self.prepaid_left[j] -= used
            credited += used
        refunded = 0.0
        for j in range(3):
            if self.refund_month(j) == month and self.prepaid_left[j] > 0.005:
                refunded += self.prepaid_left[j]
                self.prepaid_left[j] = 0.0
        credits = self.credits(month, fees)
        set_off = min(self.carried, max(sum(fees) - credited - credits, 0.0))
        self.carried -= set_off
        running = sum(billed[j] * POWER * GPUS[j] * self.hours[month - 1] for j in range(3))
        on_site = [min(max(month - self.ready[j], 0.0), 1.0) for j in range(3)]
        running += sum(on_site[j] * OTHER * GPUS[j] * self.hours[month - 1] for j in range(3))
        running += FIXED * min(max(month - FIXED_FROM, 0), 1)
        leaving = 0.0
        if self.notice is not None and self.notice + NOTICE == month:
            bound = [j for j in range(3) if self.under[j] and self.ready[j] + TERM > month]
            whole = sum(self.list_fee(j, month) for j in range(3))
            leaving = LEAVING_FEE * sum(self.list_fee(j, month) for j in bound) / whole
        taxable = sum(fees) - credits - cash_damages - set_off - running + leaving
        self.pay(month, taxable - credited - refunded, taxable, fees, credits, sum(owed))
        self.rights(month, spot)

    def prepaid_part(self, j, month):
        start, parts = CREDITED_FROM - 1, TERM - CREDITED_FROM + 1

        def by(moment):
            return min(max(moment - self.ready[j] - start, 0.0), parts) / parts

        return (by(month) - by(month - 1)) * self.prepaid[j]

    def refund_month(self, j):
        """Return the month in which the balance of a tranche's prepayment is paid back, thirty days after its end."""
        over, days = self.ready[j] + TERM, 30 / (365.25 / 12)
        if self.ended[j] is None:
            return math.ceil(over + days)
        return max(math.ceil(min(over, self.ended[j]) + days), self.ended[j] + 1)

    def pay(self, month, cash, taxable, fees, credits, damages):
        paying = FIRST <= month < FIRST + PAYMENTS
        interest = self.balance * RATE / 12 if paying else 0.0
        service = self.payment if paying else 0.0
        written_off = CAPEX / DEPRECIATION if FIRST <= month < FIRST + DEPRECIATION else 0.0
        income = taxable - written_off - interest
        tax = TAX * max(income - self.losses, 0.0)
        self.losses = max(self.losses - income, 0.0)
        cfads = cash - tax
        row = {"cfads": cfads, "fees": sum(fees), "credits": credits, "damages": damages, "tax": tax}
        row["distribution"] = 0.0
        self.rows.append(row)
        if paying:
            self.looked_back.append((cfads, service))
        if not self.default_month:
            need = max(service - cfads, 0.0)
            for account in ("reserve", "trapped"):
                taken = min(need, getattr(self, account))
                setattr(self, account, getattr(self, account) - taken)
                need -= taken
            if need > 0.005 and month < FIRST + PAYMENTS:
                self.fail(month, interest, max(service - need, 0.0))
            elif need <= 0.005:
                row["distribution"] = self.share_out(month, max(cfads - service, 0.0))
        self.balance -= service - interest

    def share_out(self, month, surplus):
        left = min(max(FIRST + PAYMENTS - 1 - month, 0), PAYMENTS)
        target = min(RESERVE, left) * self.payment
        top_up = min(surplus, max(target - self.reserve, 0.0))
        released = max(self.reserve - target, 0.0)
        self.reserve += top_up - released
        self.trapped += surplus - top_up + released
        window = self.looked_back[-LOOK_BACK:]
        covered = bool(window) and sum(c for c, _ in window) >= LOCK_UP * sum(s for _, s in window)
        repaid = month >= FIRST + PAYMENTS
        if not (repaid or (covered and max(self.ready) <= month)):
            return 0.0
        paid, self.trapped = self.trapped, 0.0
        return paid

    def fail(self, month, interest, applied):
        self.default_month = month
        late = any(ready > planned for ready, planned in zip(self.ready, PLANNED, strict=True))
        otherwise = "repricing" if self.repriced else "late_delivery" if late else "credits_and_market"
        self.cause = self.first_cause or otherwise
        self.exposure = self.balance + interest - applied
        i = RATE / 12
        worth = sum(GPUS[j] * self.value(month) * (1 if self.ready[j] <= month else UNDELIVERED) for j in range(3))
        sale = STRESS * worth * (1 - SELLING) / (1 + i) ** LAG
        novation = 0.0
        all_fees = sum(self.list_fee(j, month) for j in range(3))
        for j in range(3):
            if self.under[j]:
                left = min(max(self.ready[j] + TERM - month, 0.0), TERM)
                cost = (POWER + OTHER) * GPUS[j] * self.hours[month - 1] + FIXED * self.list_fee(j, month) / all_fees
                margin = max(self.rent[j] * self.list_fee(j, month) - cost, 0.0)
                not_yet = self.prepaid[j] - sum(self.prepaid_part(j, k) for k in range(1, month + 1))
                ahead = margin * (1 - (1 + i) ** -left) / i - not_yet - self.not_credited[j]
                novation += max(ahead, 0.0)
        best = max(sale, NOVATION * novation)
        self.loss = min(max(self.exposure - best, 0.0), self.exposure)
        self.loss_sale_only = min(max(self.exposure - sale, 0.0), self.exposure)

    def value(self, month):
        rent, left = self.spot[month - 1] * (1 - HAIRCUT), max(LIFE - AGE - month / 12, 0.0)
        if rent <= COST:
            return 0.0
        stop, k = min(left, math.log(rent / COST) / DECAY), DECAY + DISCOUNT
        costs = COST * (1 - math.exp(-DISCOUNT * stop)) / DISCOUNT
        return 8760 * USED * (rent * (1 - math.exp(-k * stop)) / k - costs)

    def gain(self, j, month, spot):
        rent = self.list_fee(j, month) / GPUS[j] / self.hours[month - 1] * self.rent[j]
        return (1 - SWITCHING) * rent - spot

    def end(self, tranches, cause, month):
        ended = [j for j in tranches if self.under[j]]
        if ended and not self.first_cause:
            self.first_cause, self.first_month = cause, month
        for j in ended:
            self.under[j] = False
            self.ended[j] = month

    def rights(self, month, spot):
        in_term = [self.ready[j] + TERM > month for j in range(3)]
        long_stop, chronic = [], []
        for j in range(3):
            if LONG_STOP[j] and not self.long_stop_spent[j]:
                limit = PLANNED[j] + LONG_STOP[j]
                if limit <= month <= limit + LONG_STOP_OPEN[j] and self.ready[j] > month:
                    long_stop.append(j)
            value = self.availability("first", j, month)
            self.bad[j].append(value is not None and value < Fraction(BAD))
            arises = self.bad[j][-1] and sum(self.bad[j][-M:]) >= K
            if SERVICE[j] == LEVELS["third"][0]:
                for start, end in self.outages[j]:
                    reached = start + LONG_HOURS * 3600
                    inside = self.edges[month - 1] <= reached < self.edges[month]
                    arises |= end > reached and inside and start >= self.second(self.ready[j])
            if arises:
                self.chronic_until[j] = month + CHRONIC_OPEN
            if self.chronic_until[j] >= month and in_term[j]:
                chronic.append(j)
        self.use(long_stop, "long_stop", month, spot, REACH)
        self.use(chronic, "chronic_failure", month, spot, ((0,), (1,), (2,)))
        bound = [j for j in range(3) if self.under[j] and in_term[j]]  # all of them are left together
        gain = sum(GPUS[j] * self.gain(j, month, spot) for j in bound)
        if self.notice is None and month >= FIRST_NOTICE and gain > 0 and not self.waives:
            self.notice = month
        if self.notice is not None and self.notice + NOTICE == month:
            self.end([j for j in range(3) if in_term[j]], "convenience", month)

    def use(self, rights, cause, month, spot, reach):
        wants = [j for j in rights if self.under[j] and self.gain(j, month, spot) > 0 and not self.waives]
        reached = sorted({other for j in wants for other in reach[j]})
        if not wants:
            return
        if self.takes_new_rent and not self.repriced:
            self.repriced = True
            for j in reached:
                rent = self.list_fee(j, month) / GPUS[j] / self.hours[month - 1]
                self.rent[j] = min(self.rent[j], max(spot / rent, FLOOR * self.rent[j]))
                self.bad[j] = []
                self.chronic_until[j] = -1.0
                if cause == "long_stop":
                    self.long_stop_spent[j] = True
        else:
            self.end(reached, cause, month)


DRAWS = 64  # up to here the engine keeps every month of every draw


@pytest.mark.parametrize("calendar", ["equal_730", "real"])
def test_every_draw_is_that_of_the_deal_worked_by_hand(calendar):
    model, edges = Model.of(deal(calendar)), month_edges(calendar)
    assert model.setting.timeline.edges_seconds.tolist() == edges
    seen = {"cause": set(), "first_cause": set(), "repriced": 0}
    for seed in range(4):
        paths = model.sample(seed, 0, DRAWS)
        result = model.run(paths, DRAWS)
        for i in range(DRAWS):
            outages = [
                list(zip(paths["outage_start_s"][mine].tolist(), paths["outage_end_s"][mine].tolist(), strict=True))
                for mine in ((paths["outage_draw"] == i) & (paths["outage_tranche"] == j) for j in range(3))
            ]
            hand = Draw(
                edges, paths["ready"][i].tolist(), paths["spot_rent"][i].tolist(), outages, paths["exercise_score"][i]
            ).run()
            where = (calendar, seed, i)
            column = {name: result.column[name][i] for name in (*result.column, "first_cause", "default_cause")}
            assert (column["first_cause"], column["first_month"]) == (hand.first_cause, hand.first_month), where
            for name in ("fees", "damages", "credits", "tax", "cfads", "distribution"):
                by_hand = np.array([row[name] for row in hand.rows])
                np.testing.assert_allclose(
                    result.monthly[name][i], by_hand, rtol=1e-9, atol=0.02, err_msg=f"{name} of {where}"
                )
            assert column["repriced"] == hand.repriced, where
            assert (column["default_month"], column["default_cause"]) == (hand.default_month, hand.cause), where
            for name in ("exposure", "loss", "loss_sale_only"):
                assert column[name] == pytest.approx(getattr(hand, name), rel=1e-9, abs=0.05), (name, where)
            seen["cause"].add(hand.cause)
            seen["first_cause"].add(hand.first_cause)
            seen["repriced"] += hand.repriced
    assert seen["first_cause"] == {"", "long_stop", "chronic_failure", "convenience"}
    assert len(seen["cause"]) >= 5, seen["cause"]
    assert seen["repriced"] > 10


def test_neither_the_order_of_risks_nor_the_run_itself_moves_anything():
    model = Model.of(deal("real"))
    turned = Model(model.setting, dict(reversed(model.risks.items())))
    paths = model.sample(5, 0, 256)
    kept = {name: array.copy() for name, array in paths.items()}
    one, two = model.run(paths, 256), turned.run(turned.sample(5, 0, 256), 256)
    for name, array in paths.items():
        np.testing.assert_array_equal(array, kept[name], err_msg=f"the run writes into the sampled {name}")
    for name, column in one.column.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(column, two.column[name], rtol=1e-9, atol=0.01, err_msg=name)
        else:
            np.testing.assert_array_equal(column, two.column[name], err_msg=name)
