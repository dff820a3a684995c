"""Monthly paths of spot rent per GPU-hour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from risk.core.protocol import Paths, Phase, StepFunction
from schemas.assumptions import MarketLaw
from schemas.errors import NotComputedError

FloatArray = NDArray[np.float64]
LARGEST_RENT = 1e15
"""A path that goes beyond is no market. [currency/GPU-hour]"""


@dataclass(frozen=True, slots=True)
class Rent:
    """S_m = S_0 exp(-decay m/12 + X_m - drop 1{m >= launch}).

    Notes
    -----
    X_m = persistence X_(m-1) + (1 - persistence) level(regime_m) + noise e_m, with X_0 = 0. With persistence 1 the
    walk keeps its mean: X_m = X_(m-1) + noise e_m - noise^2/2; with less than 1 nothing is corrected, so that the
    quoted rent is the start of a median path. The launch month is as likely in each month of its range.
    """

    months: int
    spot_rent: float
    decay_per_year: float
    persistence: float
    monthly_noise: float
    tight_to_loose: float
    loose_to_tight: float
    tight_level: float
    loose_level: float
    starts_tight: bool
    launch_earliest: float
    launch_latest: float
    log_drop: float

    streams = ("market", "generation")

    @classmethod
    def of(cls, law: MarketLaw, months: int) -> Rent:
        """Return the paths of a market law over `months` months."""
        regimes, launch = law.regimes, law.next_generation
        return cls(
            months=months,
            spot_rent=float(law.spot_rent),
            decay_per_year=float(law.decay_per_year),
            persistence=float(law.persistence),
            monthly_noise=float(law.monthly_noise),
            tight_to_loose=float(regimes.tight_to_loose) if regimes else 0.0,
            loose_to_tight=float(regimes.loose_to_tight) if regimes else 0.0,
            tight_level=float(regimes.tight_level) if regimes else 0.0,
            loose_level=float(regimes.loose_level) if regimes else 0.0,
            starts_tight=regimes is None or regimes.start == "tight",
            launch_earliest=float(launch.earliest) if launch else np.inf,
            launch_latest=float(launch.latest) if launch else np.inf,
            log_drop=float(launch.log_drop) if launch else 0.0,
        )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `spot_rent`, shape (draws, months). [currency/GPU-hour]

        Numbers are drawn month by month, so that a longer horizon leaves the months before it as they were.
        """
        market = rng["market"]
        launch_score = rng["generation"].random(draws)
        tight = np.full(draws, self.starts_tight)
        deviation = np.zeros(draws)
        log_rent = np.empty((draws, self.months))
        for m in range(self.months):
            shock, move = market.standard_normal(draws), market.random(draws)
            chance = np.where(tight, self.tight_to_loose, self.loose_to_tight)
            tight = tight ^ (move < chance)
            level = np.where(tight, self.tight_level, self.loose_level)
            deviation = self._next(deviation, level, shock)
            log_rent[:, m] = deviation
        if np.isfinite(self.launch_earliest):
            first, last = np.ceil(self.launch_earliest), np.floor(self.launch_latest)
            launch = first + np.floor(launch_score * max(last - first + 1, 1))
            log_rent -= self.log_drop * (np.arange(1, self.months + 1) >= launch[:, None])
        return {"spot_rent": self._aged(log_rent)}

    def base(self) -> Paths:
        """Return the path without noise: regimes at their expected level, the launch in the middle of its range."""
        tight, deviation = float(self.starts_tight), np.zeros(1)
        log_rent = np.empty((1, self.months))
        for m in range(self.months):
            tight = tight * (1 - self.tight_to_loose) + (1 - tight) * self.loose_to_tight
            level = np.array([tight * self.tight_level + (1 - tight) * self.loose_level])
            deviation = self.persistence * deviation + (1 - self.persistence) * level
            log_rent[:, m] = deviation
        if np.isfinite(self.launch_earliest):
            launch = (self.launch_earliest + self.launch_latest) / 2
            log_rent -= self.log_drop * (np.arange(1, self.months + 1) >= launch)
        return {"spot_rent": self._aged(log_rent)}

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return no steps: nothing in the deal changes the market."""
        return {}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return (
            "Market: one channel of rent; the deal's own capacity does not move it; rent and customer strength are "
            "not linked.",
        )

    def _next(self, deviation: FloatArray, level: FloatArray, shock: FloatArray) -> FloatArray:
        pulled = self.persistence * deviation + (1 - self.persistence) * level + self.monthly_noise * shock
        return pulled - self.monthly_noise**2 / 2 if self.persistence == 1 else pulled

    def _aged(self, log_deviation: FloatArray) -> FloatArray:
        age = np.arange(1, self.months + 1) / 12
        log_growth = log_deviation - self.decay_per_year * age
        if self.spot_rent > 0 and log_growth.max(initial=0.0) > math.log(LARGEST_RENT / self.spot_rent):
            raise NotComputedError(
                "assumptions.market",
                f"a rent above {LARGEST_RENT:.0e} for one GPU-hour, which these figures reach within "
                f"{self.months} months",
                "correct decay_per_year, monthly_noise, the levels or the unit",
            )
        return self.spot_rent * np.exp(log_growth)
