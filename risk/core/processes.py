"""Work shared among processes of this machine, this one among them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from typing import Any, TypeVar

Job = TypeVar("Job")
Done = TypeVar("Done")
WAITING = 2
"""Jobs given to each other process at a time: one it works on, one that waits for it."""


def in_processes(
    work: Callable[[Job], Done],
    jobs: Sequence[Job],
    workers: int,
    *,
    here: Callable[[Job], Done] | None = None,
    prepare: Callable[..., None] | None = None,
    given: tuple[Any, ...] = (),
) -> Iterator[Done]:
    """Yield what became of each job, in the order of the jobs; how many processes work changes nothing in it.

    Parameters
    ----------
    work : what another process does with a job; it and the jobs must be picklable.
    workers : processes that work, this one included.
    here : the same work in this process; `work` when not given.
    prepare, given : what each other process does first, and with what.
    """
    here = here or work
    others = min(workers, len(jobs)) - 1
    if others < 1:
        yield from map(here, jobs)
        return
    waiting, done, turn = deque(range(len(jobs))), dict[int, Done](), 0
    given_away: dict[Future[Done], int] = {}
    with ProcessPoolExecutor(others, get_context("spawn"), prepare, given) as pool:
        while waiting or given_away:
            while len(given_away) < others * WAITING and len(waiting) > 1:
                job = waiting.popleft()
                given_away[pool.submit(work, jobs[job])] = job
            if waiting:
                own = waiting.popleft()
                done[own] = here(jobs[own])
            else:
                wait(given_away, return_when=FIRST_COMPLETED)
            for future in [future for future in given_away if future.done()]:
                done[given_away.pop(future)] = future.result()
            while turn in done:
                yield done.pop(turn)
                turn += 1
