"""Random numbers that are found again by a key: the same parameter of the same draw is the same number whenever asked.

What setting a column does is asked of one draw of the parameters in several ways: with the one value and the other, for
one mediator and the next. A family may have more parameters than memory holds, of which a question needs a few. So the
numbers behind a parameter are made when it is needed, from a stream that begins at a hash of the draw, the node and the
configuration of its parents. Streams are those of SplitMix64 (Steele, Lea & Flood, Fast splittable pseudorandom number
generators, OOPSLA 2014); gamma variates are made as by Marsaglia & Tsang (A simple method for generating gamma
variables, ACM TOMS 26, 2000).
"""

from __future__ import annotations

import math

import numpy as np

from dagpost._tools.arrays import Masks
from dagpost._tools.kernels import inline_no_refcount

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
#: A double has 53 bits.
_UNIT = 2.0**-53


@inline_no_refcount
def _scrambled(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> np.uint64(30))) * _FIRST
    word = (word ^ (word >> np.uint64(27))) * _SECOND
    return word ^ (word >> np.uint64(31))


@inline_no_refcount
def restart(state: Masks, seed: np.uint64, draw: int, node: int, configuration: int) -> None:
    """Begin the stream of one parameter; `state` has one entry."""
    word = _scrambled(seed + np.uint64(draw) * _STEP)
    word = _scrambled(word + np.uint64(node + 1) * _STEP)
    state[0] = _scrambled(word + np.uint64(configuration + 1) * _STEP)


@inline_no_refcount
def uniform(state: Masks) -> float:
    """A number between 0 and 1, and never one of these."""
    state[0] += _STEP
    return (float(_scrambled(state[0]) >> np.uint64(11)) + 0.5) * _UNIT


@inline_no_refcount
def normal(state: Masks) -> float:
    """A standard normal number."""
    radius = math.sqrt(-2.0 * math.log(uniform(state)))
    return radius * math.cos(2.0 * math.pi * uniform(state))


@inline_no_refcount
def log_gamma(shape: float, state: Masks) -> float:
    """The log of a number with a gamma distribution of scale 1: of a tiny shape, the number itself may underflow."""
    raised = shape + 1.0 if shape < 1.0 else shape
    third = raised - 1.0 / 3.0
    narrow = 1.0 / math.sqrt(9.0 * third)
    while True:
        value = normal(state)
        cube = 1.0 + narrow * value
        if cube <= 0.0:
            continue
        log_cube = 3.0 * math.log(cube)
        cube = cube * cube * cube
        if math.log(uniform(state)) < 0.5 * value * value + third * (1.0 - cube + log_cube):
            break
    result = math.log(third) + log_cube
    return result + math.log(uniform(state)) / shape if shape < 1.0 else result
