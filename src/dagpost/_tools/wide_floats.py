"""Positive numbers with a very wide exponent, for kernels that sum products over thousands of nats.

A wide float is an `int64`: the low 40 bits are the fraction of a number in [1, 2), the rest is its binary exponent.
Integers compare as the values do. Addition and multiplication go through doubles: a fraction, shifted up by 12
bits, *is* the fraction of a double, so one double addition or multiplication does the work and the exponents are
plain integer arithmetic. No call of `exp` or `log`, no branch: the loops of the callers become vector instructions.

Relative rounding error of one operation: at most 2^-41. Values lie between 2^-(2^22) and 2^(2^22), some 5.8 million
nats. Zero is everything at or below `ZERO_LIMIT`. It is absorbing in products with anything below 2^(2^20), and weights
here are at most one each, so that no sum of their products comes near; sums of zeros, which creep up by at most a
doubling each, stay far below. A product that would be below `ZERO` becomes it, which is too much by less than any
total above `ZERO_LIMIT` can notice: small parts of a sum may vanish, as long as `vanished` says that the total has not.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.kernels import inlined, kernel
from dagpost.errors import InputError

FRACTION_BITS = 40
_FRACTION = (1 << FRACTION_BITS) - 1
_DOUBLE_ONE = 1023 << 52
# A double has 12 fraction bits more than a wide float; half of the last wide bit, for rounding to nearest.
_ROUND = (1 << 11) - _DOUBLE_ONE
# An addend this much smaller cannot change a sum; the floor keeps its exponent a legal one of a double.
NEGLIGIBLE = -(64 << FRACTION_BITS)

ONE = np.int64(0)
ZERO = np.int64(-(1 << 62))
ZERO_LIMIT = np.int64(-(1 << 62) + (1 << 60))

#: Weights may span this many nats in all: from `ZERO_LIMIT` up to one.
RANGE_NATS = float((1 << 62) - (1 << 60)) / (1 << FRACTION_BITS) * math.log(2.0)
#: A total has to stay this far above `ZERO_LIMIT`, so that what is taken for zero is nothing beside it.
_MARGIN_NATS = 10_000.0
#: Below, a weight is zero: its exponent would leave the range altogether.
_LEAST_NATS = float(1 << 62) / (1 << FRACTION_BITS) * math.log(2.0)

_EXPONENT_MASK = np.int64(~_FRACTION)
_ROUND64 = np.int64(_ROUND)
_NEGLIGIBLE64 = np.int64(NEGLIGIBLE)
_DOUBLE_ONE64 = np.int64(_DOUBLE_ONE)


@inlined
def add(first: np.int64, second: np.int64) -> np.int64:
    """Sum of two wide floats, rounded to nearest."""
    large = max(first, second)
    small = min(first, second)
    exponent = large & _EXPONENT_MASK
    large_double = np.int64(((large - exponent) << 12) | _DOUBLE_ONE64).view(np.float64)
    small_double = np.int64((max(small - exponent, _NEGLIGIBLE64) << 12) + _DOUBLE_ONE64).view(np.float64)
    # Two numbers of one exponent often sum to exactly half of the last bit; which way such a tie goes depends on the
    # last bit of the larger number, so that ties do not all go up.
    rounding = _ROUND64 - (large & 1)
    return exponent + ((np.float64(large_double + small_double).view(np.int64) + rounding) >> 12)


@inlined
def multiply(first: np.int64, second: np.int64) -> np.int64:
    """Product of two wide floats, rounded to nearest; zero absorbs."""
    first_exponent = first & _EXPONENT_MASK
    second_exponent = second & _EXPONENT_MASK
    first_double = np.int64(((first - first_exponent) << 12) | _DOUBLE_ONE64).view(np.float64)
    second_double = np.int64(((second - second_exponent) << 12) | _DOUBLE_ONE64).view(np.float64)
    product = (np.float64(first_double * second_double).view(np.int64) + _ROUND64) >> 12
    return max(first_exponent + second_exponent + product, ZERO)


@inlined
def ratio(numerator: np.int64, denominator: np.int64) -> float:
    """Quotient of two wide floats as a double; what is smaller than 2^-1000 becomes 0."""
    exponent = (numerator >> FRACTION_BITS) - (denominator >> FRACTION_BITS)
    if exponent < -1000:
        return 0.0
    # The exponent goes into the bits of the double: a call of `ldexp` would take longer than all the rest.
    above = np.int64((((numerator & _FRACTION) << 12) | _DOUBLE_ONE64) + (exponent << 52)).view(np.float64)
    below = np.int64(((denominator & _FRACTION) << 12) | _DOUBLE_ONE64).view(np.float64)
    return above / below


@inlined
def from_log(log: float) -> np.int64:
    """The wide float with this natural log; minus infinity gives zero."""
    if log <= -_LEAST_NATS:
        return ZERO
    binary = log / math.log(2.0)
    exponent = math.floor(binary)
    fraction = 2.0 ** (binary - exponent) - 1.0
    # A fraction that rounds up to one carries into the exponent, as it should.
    return (np.int64(exponent) << FRACTION_BITS) + np.int64(round(fraction * (_FRACTION + 1)))


@kernel
def _from_logs(logs: NDArray[np.float64], result: NDArray[np.int64]) -> None:
    for position in range(len(logs)):
        result[position] = from_log(logs[position])


@inlined
def log_of(value: np.int64) -> float:
    """Natural log of a wide float; zero gives minus infinity."""
    if value <= ZERO_LIMIT:
        return -math.inf
    return (value >> FRACTION_BITS) * math.log(2.0) + math.log1p((value & _FRACTION) / (_FRACTION + 1))


@kernel
def _to_logs(values: NDArray[np.int64], result: NDArray[np.float64]) -> None:
    for position in range(len(values)):
        result[position] = log_of(values[position])


def from_logs(logs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Wide floats with these natural logs; minus infinity becomes zero, and so does what no wide float can hold.

    >>> round(float(to_logs(from_logs(np.array([-12345.678])))[0]), 9)
    -12345.678
    """
    result = np.empty(logs.shape, dtype=np.int64)
    _from_logs(np.ascontiguousarray(logs, dtype=np.float64).reshape(-1), result.reshape(-1))
    return result


def to_logs(values: NDArray[np.int64]) -> NDArray[np.float64]:
    """Natural logs of wide floats; zero becomes minus infinity."""
    result = np.empty(values.shape, dtype=np.float64)
    _to_logs(np.ascontiguousarray(values).reshape(-1), result.reshape(-1))
    return result


def check_range(spans: NDArray[np.float64]) -> None:
    """Refuse weights whose products could leave the range: `spans` are the nats that each node's weights span."""
    if not float(np.sum(spans)) < RANGE_NATS:
        raise too_wide(spans, float(np.sum(spans)))


def vanished(log_total: float) -> bool:
    """Whether a sum, in nats, is so small that parts of it may have been taken for zero that are not.

    >>> vanished(-1e6), vanished(-RANGE_NATS)
    (False, True)
    """
    return not log_total > _MARGIN_NATS - RANGE_NATS


def too_wide(spans: NDArray[np.float64], needed: float) -> InputError:
    """The error for weights that leave the range; `spans` are the nats that those of each node span.

    So many nats are `needed`, and fewer in proportion where there are fewer rows.
    """
    part = f"about 1 in {math.ceil(needed / (RANGE_NATS - _MARGIN_NATS)):,} fits" if math.isfinite(needed) else "few"
    return InputError(
        f"The log weights of the parent sets span {np.sum(spans):,.0f} nats over all nodes, the widest "
        f"{float(np.max(spans)):,.0f} at node {int(np.argmax(spans))}, and the sums hold {RANGE_NATS:,.0f}. So wide "
        "are those of very many rows of columns that determine each other, or of a prior that all but rules parent "
        f"sets in or out. Take a random part of the rows, or of their counts ({part}), leave out columns that others "
        "determine, or use a weaker prior."
    )
