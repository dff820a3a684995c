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
    X_m = persistence X_(m-1) + (1 - persistence) level(regime_m) + noise e_m - c_m, with X_0 = 0 and the regime of
    month m drawn before X_m. The launch month is as likely in each whole month of its range.

    c_m = 0 by default, so that without regimes the quoted path S_0 exp(-decay m/12) is a median path. With
    `mean_preserving` it is the mean path: with v_m = persistence^2 v_(m-1) + noise^2, v_0 = 0, the variance of what the
    noise has added up to, c_m = (v_m - persistence v_(m-1))/2; for a random walk that is noise^2/2.
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
    mean_preserving: bool = False

    streams = ("market", "generation")

    @classmethod
    def of(cls, law: MarketLaw, months: int) -> Rent:
        """Return the paths of a market law over `months` months."""
        regimes, launch = law.regimes, law.next_generation
        persistence = float(law.persistence)
        keeps_mean = persistence == 1 if law.mean_preserving is None else law.mean_preserving
        return cls(
            months=months,
            spot_rent=float(law.spot_rent),
            decay_per_year=float(law.decay_per_year),
            persistence=persistence,
            monthly_noise=float(law.monthly_noise),
            tight_to_loose=float(regimes.tight_to_loose) if regimes else 0.0,
            loose_to_tight=float(regimes.loose_to_tight) if regimes else 0.0,
            tight_level=float(regimes.tight_level) if regimes else 0.0,
            loose_level=float(regimes.loose_level) if regimes else 0.0,
            starts_tight=regimes is None or regimes.start == "tight",
            launch_earliest=float(launch.earliest) if launch else np.inf,
            launch_latest=float(launch.latest) if launch else np.inf,
            log_drop=float(launch.log_drop) if launch else 0.0,
            mean_preserving=keeps_mean,
        )

    def sample(self, rng: Mapping[str, Generator], draws: int) -> Paths:
        """Return `spot_rent` [currency/GPU-hour] and `rent_deviation`, its X_m [1], each of shape (draws, months).

        Numbers are drawn month by month, so that a longer horizon leaves the months before it as they were.
        """
        market = rng["market"]
        launch_score = rng["generation"].random(draws)
        tight = np.full(draws, self.starts_tight)
        deviation = np.empty((self.months, draws))  # by month: the steps read one month of all draws at a time
        before = np.zeros(draws)
        for m, correction in enumerate(self._corrections()):
            shock, move = market.standard_normal(draws), market.random(draws)
            tight = tight ^ (move < np.where(tight, self.tight_to_loose, self.loose_to_tight))
            level = np.where(tight, self.tight_level, self.loose_level)
            pulled = self.persistence * before + (1 - self.persistence) * level
            before = deviation[m] = pulled + self.monthly_noise * shock - correction
        log_rent = deviation.copy()
        if np.isfinite(self.launch_earliest):
            first, count = self._launches()
            launch = first + np.floor(launch_score * count)
            log_rent -= self.log_drop * (self._month_numbers()[:, None] >= launch)
        return {"spot_rent": self._aged(log_rent).T, "rent_deviation": deviation.T}

    def base(self) -> Paths:
        """Return the quoted path: no deviation, and the launch in the middle of its range.

        Regimes and noise are risks and are off: X_m = 0.
        """
        log_rent = np.zeros((self.months, 1))
        if np.isfinite(self.launch_earliest):
            launch = (self.launch_earliest + self.launch_latest) / 2
            log_rent -= self.log_drop * (self._month_numbers()[:, None] >= launch)
        return {"spot_rent": self._aged(log_rent).T, "rent_deviation": np.zeros((1, self.months))}

    def mean(self) -> FloatArray:
        """Return the expected spot rent of each month over all draws, shape (months,). [currency/GPU-hour]

        Notes
        -----
        Exact. Noise and launch are independent of the regimes; E[exp(sum of pulls)] comes from carrying the weights of
        both regimes forward through all months up to the one asked for.
        """
        numbers = self._month_numbers()
        move = np.array(
            [[1 - self.tight_to_loose, self.tight_to_loose], [self.loose_to_tight, 1 - self.loose_to_tight]]
        )
        levels = np.array([self.tight_level, self.loose_level])
        start = np.array([float(self.starts_tight), float(not self.starts_tight)])
        pull = np.empty(self.months)
        for m in range(self.months):
            weight = start
            for k in range(m + 1):
                weight = weight @ move * np.exp((1 - self.persistence) * self.persistence ** (m - k) * levels)
            pull[m] = weight.sum()
        noise = np.zeros(self.months) if self.mean_preserving else self._variances()[1:] / 2
        dropped = np.ones(self.months)
        if np.isfinite(self.launch_earliest):
            first, count = self._launches()
            launched = np.clip((numbers - first + 1) / count, 0.0, 1.0)
            dropped = 1 + launched * np.expm1(-self.log_drop)
        return np.asarray(self.spot_rent * np.exp(noise - self.decay_per_year * numbers / 12) * pull * dropped)

    def steps(self) -> Mapping[Phase, StepFunction]:
        """Return no steps: nothing in the deal changes the market."""
        return {}

    def ignores(self) -> tuple[str, ...]:
        """Return what this model leaves out."""
        return ("Market: one channel of rent; the deal's own capacity does not move it.",)

    def _variances(self) -> FloatArray:
        """Return the variance of what the noise has added up to by each month, from 0, shape (months + 1,)."""
        variance = np.zeros(self.months + 1)
        for m in range(self.months):
            variance[m + 1] = self.persistence**2 * variance[m] + self.monthly_noise**2
        return variance

    def _corrections(self) -> FloatArray:
        """Return c_m, shape (months,)."""
        variance = self._variances()
        return (variance[1:] - self.persistence * variance[:-1]) / 2 * self.mean_preserving

    def _launches(self) -> tuple[float, float]:
        """Return the first whole month of the launch and how many there are."""
        first, last = np.ceil(self.launch_earliest), np.floor(self.launch_latest)
        return float(first), float(max(last - first + 1, 1))

    def _month_numbers(self) -> FloatArray:
        return np.arange(1.0, self.months + 1)

    def _aged(self, log_deviation: FloatArray) -> FloatArray:
        """Return the rent of a log deviation, both of shape (months, draws)."""
        log_growth = log_deviation - self.decay_per_year * self._month_numbers()[:, None] / 12
        if self.spot_rent > 0 and log_growth.max(initial=0.0) > math.log(LARGEST_RENT / self.spot_rent):
            raise NotComputedError(
                "assumptions.market",
                f"a rent above {LARGEST_RENT:.0e} for one GPU-hour, which these figures reach within "
                f"{self.months} months",
                "correct decay_per_year, monthly_noise, the levels or the unit",
            )
        return self.spot_rent * np.exp(log_growth)
