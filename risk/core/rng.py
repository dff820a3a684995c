"""Named random streams: adding a risk never moves the draws of another."""

from __future__ import annotations

from hashlib import blake2b

from numpy.random import Generator, Philox, SeedSequence

BLOCK = 8192
"""Draws of one block: a constant of the method, so figures depend on no number of workers."""


def generator(seed: int, stream: str, block: int) -> Generator:
    """Return the generator of one stream in one block, a function of these three alone."""
    name = int.from_bytes(blake2b(stream.encode(), digest_size=8).digest(), "big")
    return Generator(Philox(SeedSequence([seed, name, block])))
