"""One joint simulation: all risks, month by month, over one block of draws at a time.

The same loop runs sampled draws, the base case (one draw, every risk switched off) and weighted blocks (enumerated or
quadrature nodes, whose weighted sums are exact).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

import risk
from risk.core.processes import in_processes
from risk.core.protocol import Paths, Phase, Risk, State, StepFunction
from risk.core.rng import BLOCK, generator
from risk.core.setting import Setting, setting
from risk.result import Result, observe
from schemas.deal import Deal

Progress = Callable[[int, int], None]
"""(draws done, draws asked for)."""


@runtime_checkable
class SettledOnBase(Protocol):
    """A risk that reads the base case before the first draw, as a loan sculpted to its cash does."""

    def settle(self, base: Callable[[], Mapping[str, NDArray[np.float64]]]) -> None:
        """Take what the base case decides; `base` runs it and returns its figures by month, each (1, months)."""
        ...


def discover() -> dict[str, Callable[[Deal, Setting], Risk | None]]:
    """Return every risk found in the package `risk`: a folder that exports `from_deal`, by its name."""
    found: dict[str, Callable[[Deal, Setting], Risk | None]] = {}
    for info in sorted(pkgutil.iter_modules(risk.__path__), key=lambda module: module.name):
        if info.ispkg and info.name != "score":  # which sums up what the engine gives
            package = importlib.import_module(f"risk.{info.name}")
            if hasattr(package, "from_deal"):
                found[info.name] = package.from_deal
    return found


@dataclass(frozen=True, slots=True)
class Model:
    """A deal made ready to simulate."""

    setting: Setting
    risks: dict[str, Risk]

    @classmethod
    def of(cls, deal: Deal) -> Model:
        """Return the model of `deal`, with every risk that the deal speaks of.

        Raises
        ------
        DealError, MissingTermError, NotComputedError
            When the deal lacks what the simulation needs, or says what it cannot compute.
        """
        frame = setting(deal)
        made = {name: from_deal(deal, frame) for name, from_deal in discover().items()}
        model = cls(frame, {name: one for name, one in made.items() if one is not None})
        for one in model.risks.values():
            if isinstance(one, SettledOnBase):
                one.settle(lambda: model.base().monthly)
        return model

    def sample(self, seed: int, block: int, draws: int = BLOCK) -> Paths:
        """Return the sampled paths of one block; each array has one writer."""
        paths: Paths = {}
        for one in self.risks.values():
            new = one.sample({name: generator(seed, name, block) for name in one.streams}, draws)
            _single_writer(paths, new)
            paths |= new
        return paths

    def base_paths(self) -> Paths:
        """Return the paths of the base case: one draw, every risk switched off."""
        paths: Paths = {}
        for one in self.risks.values():
            new = one.base()
            _single_writer(paths, new)
            paths |= new
        return paths

    def run(self, paths: Paths, draws: int) -> Result:
        """Return the outcome of `draws` draws along `paths`, all months run."""
        tranches, months = len(self.setting.tranches), self.setting.months
        state = State(
            path=paths,
            under_contract=np.ones((draws, tranches), dtype=bool),
            last_billed=np.zeros((draws, tranches), dtype=np.int64),
            first_cause=np.full(draws, "", dtype="U24"),
            first_month=np.zeros(draws, dtype=np.int64),
        )
        plan = self._plan()
        result = Result.empty(draws, months)
        for month in range(1, months + 1):
            state.cash, state.rights = {}, {}
            for step in plan:
                step(month, state)
            observe(result, month, state)
        result.finish(state)
        return result

    def base(self) -> Result:
        """Return the base case: no default, outage or delay, the market without noise, the contract in force."""
        return self.run(self.base_paths(), 1)

    def simulate(self, draws: int, seed: int, workers: int = 1, progress: Progress | None = None) -> Result:
        """Return `draws` sampled futures; figures depend on the seed and not on the number of workers."""
        sizes = [min(BLOCK, draws - start) for start in range(0, draws, BLOCK)]
        parts: list[Result] = []
        for part in self._parts(seed, sizes, workers):
            parts.append(part)
            if progress:
                progress(sum(done.draws for done in parts), draws)
        return Result.join(parts)

    def block(self, seed: int, block: int, draws: int) -> Result:
        """Return the first `draws` draws of one block, which is always sampled whole."""
        return self.run(first_draws(self.sample(seed, block), draws), draws)

    def ignores(self) -> tuple[str, ...]:
        """Return what the models of this deal leave out, in words."""
        return tuple(words for one in self.risks.values() for words in one.ignores())

    def _parts(self, seed: int, sizes: list[int], workers: int) -> Iterator[Result]:
        return in_processes(
            _block,
            [(seed, block, draws) for block, draws in enumerate(sizes)],
            workers,
            here=lambda job: self.block(*job),
            prepare=_prepare,
            given=(self.setting.deal,),
        )

    def _plan(self) -> list[StepFunction]:
        steps = [one.steps() for one in self.risks.values()]
        return [mine[phase] for phase in Phase for mine in steps if phase in mine]


def first_draws(paths: Paths, draws: int) -> Paths:
    """Return the paths of the first `draws` draws; arrays named `outage_*` hold one row an outage, not a draw."""
    early = paths["outage_draw"] < draws if "outage_draw" in paths else None
    return {
        name: array[early] if early is not None and name.startswith("outage_") else array[:draws]
        for name, array in paths.items()
    }


_model: Model | None = None
"""The model of a process that works for another."""


def _prepare(deal: Deal) -> None:
    """Make the model of this process anew from the deal, once."""
    global _model
    _model = Model.of(deal)


def _block(job: tuple[int, int, int]) -> Result:
    """Return one block in a process that works for another."""
    assert _model is not None
    return _model.block(*job)


def _single_writer(paths: Paths, new: dict[str, NDArray[np.generic]]) -> None:
    twice = paths.keys() & new.keys()
    if twice:
        raise ValueError(f"two risks write {', '.join(sorted(twice))}")
