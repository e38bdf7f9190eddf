"""Wide floats against exact fractions.

A wide float stands for `2^exponent * (1 + fraction)`, so every one of them is a rational number and sums and
products can be checked exactly. One operation may be off by half of the last of 40 fraction bits, that is, by
2^-41 of the result at most.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost._tools.kernels import inlined
from dagpost._tools.wide_floats import (
    FRACTION_BITS,
    ONE,
    RANGE_NATS,
    ZERO,
    ZERO_LIMIT,
    add,
    check_range,
    from_logs,
    multiply,
    to_logs,
)
from dagpost.errors import InputError

HALF_A_BIT = Fraction(1, 2 ** (FRACTION_BITS + 1))
# The rounding of a sum also bends ties, which costs 2^-53 on top.
ERROR = HALF_A_BIT + Fraction(1, 2**52)

fractions = st.one_of(
    st.integers(0, 2**FRACTION_BITS - 1),
    st.sampled_from([0, 1, 2, 3, 2**39, 2**40 - 1, 2**40 - 2]),
)
# Zero absorbs what lies below 2^(2^20), far above any sum of weights that are at most one each.
exponents = st.integers(-(2**20), 2**20 - 1)


def wide(exponent: int, fraction: int) -> np.int64:
    return np.int64((exponent << FRACTION_BITS) + fraction)


def exact(value: np.int64, origin: int) -> Fraction:
    """The number that a wide float stands for, divided by 2^origin."""
    exponent, fraction = int(value) >> FRACTION_BITS, int(value) & (2**FRACTION_BITS - 1)
    return Fraction(2) ** (exponent - origin) * (1 + Fraction(fraction, 2**FRACTION_BITS))


def relative_error(found: np.int64, expected: Fraction, origin: int) -> Fraction:
    return abs(exact(found, origin) / expected - 1)


@inlined
def _add_all(first: np.ndarray, second: np.ndarray, result: np.ndarray) -> None:
    for place in range(len(first)):
        result[place] = add(first[place], second[place])


@inlined
def _multiply_all(first: np.ndarray, second: np.ndarray, result: np.ndarray) -> None:
    for place in range(len(first)):
        result[place] = multiply(first[place], second[place])


@settings(max_examples=examples(2000))
@given(exponents, st.integers(0, 100), fractions, fractions)
def test_sums_are_right_for_every_gap_of_exponents(exponent: int, gap: int, first: int, second: int) -> None:
    large, small = wide(exponent, first), wide(exponent - gap, second)
    expected = exact(large, exponent) + exact(small, exponent)
    assert add(large, small) == add(small, large)
    assert relative_error(add(large, small), expected, exponent) <= ERROR


@settings(max_examples=examples(2000))
@given(exponents, exponents, fractions, fractions)
def test_products_are_right(first_exponent: int, second_exponent: int, first: int, second: int) -> None:
    one, other = wide(first_exponent, first), wide(second_exponent, second)
    origin = first_exponent + second_exponent
    expected = exact(one, first_exponent) * exact(other, second_exponent)
    assert multiply(one, other) == multiply(other, one)
    assert relative_error(multiply(one, other), expected, origin) <= ERROR


@given(exponents, exponents, fractions, fractions)
def test_integers_compare_as_the_values_do(a: int, b: int, first: int, second: int) -> None:
    one, other = wide(a, first), wide(b, second)
    assert (one < other) == (exact(one, a) < exact(other, a))


def test_compiled_loops_give_the_same_bits_as_single_calls() -> None:
    rng = np.random.default_rng(1)
    first = rng.integers(-(2**50), 2**50, size=999)
    second = first + rng.integers(-(2**46), 2**46, size=999)
    sums, products = np.empty_like(first), np.empty_like(first)
    _add_all(first, second, sums)
    _multiply_all(first, second, products)
    assert sums.tolist() == [add(*pair) for pair in zip(first, second, strict=True)]
    assert products.tolist() == [multiply(*pair) for pair in zip(first, second, strict=True)]


@given(exponents, fractions)
def test_zero_absorbs_in_products_and_vanishes_in_sums(exponent: int, fraction: int) -> None:
    value = wide(exponent, fraction)
    assert multiply(value, ZERO) <= ZERO_LIMIT
    assert multiply(ZERO, value) <= ZERO_LIMIT
    assert add(value, ZERO) == value
    assert multiply(value, ONE) == value


def test_zero_times_the_largest_number_there_can_be_stays_zero() -> None:
    # Weights are at most one each, so no sum over orders and graphs of 64 nodes comes near 2^10000.
    value = ZERO
    for _ in range(64):
        value = multiply(value, wide(10_000, 0))
    assert value <= ZERO_LIMIT
    assert multiply(ZERO, ZERO) == ZERO


def test_sums_of_zeros_stay_zero() -> None:
    value = ZERO
    for _ in range(100_000):
        value = add(value, value)
    assert value <= ZERO_LIMIT
    assert to_logs(np.array([value]))[0] == -np.inf


@pytest.mark.parametrize("operation", [_add_all, _multiply_all])
def test_rounding_is_unbiased(operation: object) -> None:
    # Errors are at most half a unit of the last place to either side, so the mean of 1e5 of them has a
    # standard deviation of at most 0.5 / sqrt(1e5) = 0.0016 units: a false alarm, beyond 5 of them, is rarer
    # than 1e-6. To truncate would give a mean of -0.25 to -0.5, and ties that all go up +0.25.
    count = 100_000
    rng = np.random.default_rng(7)
    first = rng.integers(0, 2**FRACTION_BITS, size=count)
    second = rng.integers(0, 2**FRACTION_BITS, size=count)
    found = np.empty_like(first)
    operation(first, second, found)
    errors = np.empty(count)
    for place, (a, b, c) in enumerate(zip(first.tolist(), second.tolist(), found.tolist(), strict=True)):
        one = 1 << FRACTION_BITS
        # In units of 2^-80, all integers.
        exactly = (a + b + 2 * one) * one if operation is _add_all else (a + one) * (b + one)
        exponent, fraction = c >> FRACTION_BITS, c & (one - 1)
        unit = one << exponent
        errors[place] = ((fraction + one) * unit - exactly) / unit
    assert np.abs(errors).max() <= 0.5 + 1e-3
    assert abs(errors.mean()) < 5 * 0.5 / np.sqrt(count)


def test_long_sums_do_not_drift() -> None:
    # A million equal terms: the sum loses less than a hundred roundings' worth because they cancel.
    terms = from_logs(np.full(1 << 20, -1234.5))
    while len(terms) > 1:
        half = len(terms) // 2
        summed = np.empty(half, dtype=np.int64)
        _add_all(terms[:half], terms[half:], summed)
        terms = summed
    assert to_logs(terms)[0] == pytest.approx(-1234.5 + 20 * np.log(2.0), abs=1e-10)


@given(st.floats(-2.1e6, 2.1e6))
def test_logs_go_to_wide_floats_and_back(log: float) -> None:
    # 40 bits of fraction are worth 5e-13; the division by log 2 and back costs a few units in the last place.
    back = to_logs(from_logs(np.array([log])))[0]
    assert back == pytest.approx(log, rel=4e-16 * 4, abs=1e-12)


def test_logs_keep_their_shape_and_minus_infinity_is_zero() -> None:
    logs = np.array([[0.0, -np.inf, -3.5], [1.0, -1e-13, 2e6]])
    values = from_logs(logs)
    assert values.shape == logs.shape
    assert values[0, 0] == ONE
    assert values[0, 1] == ZERO
    back = to_logs(values)
    assert back[0, 1] == -np.inf
    np.testing.assert_allclose(back[logs > -np.inf], logs[logs > -np.inf], rtol=1e-15, atol=1e-12)


def test_logs_of_arrays_that_are_not_contiguous_are_right() -> None:
    logs = np.arange(24.0).reshape(4, 6)[:, ::2]
    np.testing.assert_allclose(to_logs(from_logs(logs)), logs, rtol=1e-15, atol=1e-12)


def test_spans_that_fit_the_range_are_taken_and_others_refused(said: Said) -> None:
    check_range(np.array([RANGE_NATS / 2, RANGE_NATS / 2 - 1.0]))
    with said.raises(InputError):
        check_range(np.array([10.0, RANGE_NATS]))
    with pytest.raises(InputError):
        check_range(np.array([np.nan]))


def test_the_smallest_value_let_in_is_above_zero() -> None:
    assert from_logs(np.array([-RANGE_NATS + 1.0]))[0] > ZERO_LIMIT
