"""Nodes of conditional Gaussian networks against what the score says of one more row, and draws against that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import mixed as naive_mixed
from tests.property.test_prediction import extra_of
from tests.tools.wording import Said

from dagpost.data.table import Table
from dagpost.errors import InputError, PrecisionError
from dagpost.local.base import LevelModel, LocalModel, NumberModel, fitter_of
from dagpost.local.conditional import kept, restorer
from dagpost.scores import ConditionalGaussian, LocalPrior


def prior_of(score: ConditionalGaussian | None = None) -> LocalPrior:
    return (score or ConditionalGaussian()).parameter_prior()


@st.composite
def mixed_tables(draw: st.DrawFn) -> Table:
    """Up to four columns of levels and numbers in any order."""
    kinds = draw(st.lists(st.booleans(), min_size=2, max_size=4))
    count = draw(st.integers(1, 12))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    arities = [0 if number else int(generator.integers(1, 4)) for number in kinds]
    columns = tuple(
        generator.integers(0, generator.integers(1, arity + 1), count).astype(np.uint8)
        if arity
        else generator.normal(size=count) * 2 + 1
        for arity in arities
    )
    levels = tuple(tuple(range(arity)) if arity else None for arity in arities)
    extra = extra_of(draw, generator, len(kinds), count)
    return Table(tuple(f"v{node}" for node in range(len(kinds))), columns, levels, **extra)


def families_of(table: Table) -> Iterator[tuple[int, tuple[int, ...]]]:
    """All families in which no number leads to a level."""
    nodes = len(table.names)
    for child in range(nodes):
        for mask in range(1 << nodes):
            parents = tuple(node for node in range(nodes) if mask >> node & 1)
            if child not in parents and (not table.arities[child] or all(table.arities[node] for node in parents)):
                yield child, parents


def new_rows(table: Table, count: int, generator: np.random.Generator) -> np.ndarray:
    return np.array(
        [generator.integers(0, arity, count) if arity else generator.normal(size=count) * 3 for arity in table.arities],
        dtype=np.float64,
    )


def log_predictive(model: LocalModel, values: np.ndarray, own: np.ndarray) -> np.ndarray:
    if isinstance(model, LevelModel):
        return np.log(model.predictive(values)[np.arange(len(own)), own.astype(int)])
    assert isinstance(model, NumberModel)
    return model.log_predictive(values, own)


@settings(max_examples=25)
@given(mixed_tables(), st.integers(0, 2**32 - 1), st.sampled_from([5.0, 0.5]))
def test_a_new_row_is_as_probable_as_the_score_says(table: Table, seed: int, size: float) -> None:
    rows = new_rows(table, 4, np.random.default_rng(seed))
    fit = fitter_of(table, prior_of(ConditionalGaussian(size)))
    family = naive_mixed.family_of(table, naive_mixed.prior_of(table, size))
    expected_with = {}
    for child, parents in families_of(table):
        expected = [family(child, list(parents), row.tolist()) for row in rows.T]
        model = fit(child, parents)
        np.testing.assert_allclose(
            log_predictive(model, rows[list(parents)], rows[child]), expected, rtol=1e-9, atol=1e-9
        )
        expected_with[child, parents] = expected
    again = restorer(table.levels, kept(fit))
    for (child, parents), expected in expected_with.items():
        arrays = {name: np.atleast_2d(array) for name, array in fit(child, parents).arrays().items()}
        model = again(child, parents, arrays)
        np.testing.assert_allclose(
            log_predictive(model, rows[list(parents)], rows[child]), expected, rtol=1e-9, atol=1e-9
        )


def clinic(rows: int = 40, seed: int = 1) -> Table:
    """A group, a rare level, and numbers far from zero that depend on these and on each other."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 2, rows)
    rare = (rng.random(rows) < 0.1).astype(int) * 2
    first = 1_000.0 + group + rng.normal(size=rows)
    second = 50.0 + (1.0 + group) * (first - 1_000.0) + rng.normal(size=rows)
    columns = group.astype(np.uint8), rare.astype(np.uint8), first, second
    return Table(("group", "rare", "first", "second"), columns, (("a", "b"), ("u", "v", "w"), None, None))


FAMILIES = [(3, (0, 1, 2)), (3, (2,)), (2, ()), (3, (0, 1)), (1, (0,)), (0, ())]


@pytest.mark.parametrize("family", FAMILIES)
def test_draws_average_to_what_is_predicted(family: tuple[int, tuple[int, ...]]) -> None:
    """Of each of 12 rows the mean density over 20,000 draws, within five standard errors: 4e-5 in all."""
    table, generator = clinic(), np.random.default_rng(2)
    child, parents = family
    model = fitter_of(table, prior_of())(child, parents)
    rows = np.stack([np.repeat(column[:2].astype(float), 6) for column in table.columns])
    # The second level of `rare` was never seen; what stands for it has the prior.
    rows[0], rows[1] = np.tile([0, 1], 6), np.tile([0, 0, 1, 1, 2, 2], 2)
    values, own = rows[list(parents)], rows[child]
    theta = model.drawn(generator, 20_000)
    if isinstance(model, LevelModel):
        chances = model.chances(values[:, np.newaxis], theta)
        assert chances.sum(axis=2) == pytest.approx(1.0)
        each = chances[:, np.arange(12), own.astype(int)]
    else:
        assert isinstance(model, NumberModel)
        each = np.exp(model.log_density(values[:, np.newaxis], theta, own[np.newaxis]))
    error = each.std(axis=0) / np.sqrt(len(each))
    wanted = np.exp(log_predictive(model, values, own))
    assert (np.abs(each.mean(axis=0) - wanted) < 5.0 * error + 1e-12).all()


@pytest.mark.parametrize("drawn", [False, True])
def test_numbers_have_the_shares_of_their_density(drawn: bool) -> None:
    table = clinic()
    model = fitter_of(table, prior_of())(3, (0, 1, 2))
    assert isinstance(model, NumberModel)
    theta = model.drawn(np.random.default_rng(1), 3) if drawn else model.likeliest[np.newaxis]
    values = np.stack([column[:5].astype(float) for column in table.columns[:3]])[:, np.newaxis]
    shares = np.broadcast_to(np.linspace(0.01, 0.99, 5), (len(theta), 5))
    numbers = model.with_share(values, theta, shares)
    np.testing.assert_allclose(model.below(values, theta, numbers), shares, atol=1e-10)
    step = 1e-5
    slope = (model.below(values, theta, numbers + step) - model.below(values, theta, numbers - step)) / (2.0 * step)
    np.testing.assert_allclose(np.exp(model.log_density(values, theta, numbers)), slope, rtol=1e-6)
    ends = np.full((1, 5), np.inf)
    assert (model.below(values, theta, ends) == 1.0).all()
    assert (model.below(values, theta, -ends) == 0.0).all()
    assert np.isfinite(model.with_share(values, theta, np.zeros((1, 5)))).all()


def test_numbers_keep_their_place_when_parents_change() -> None:
    table = clinic()
    model = fitter_of(table, prior_of())(3, (0, 2))
    assert isinstance(model, NumberModel)
    theta = model.drawn(np.random.default_rng(1), 4)
    before = np.stack([table.columns[node][:5].astype(float) for node in (0, 2)])[:, np.newaxis]
    after = before + np.array([0.0, 1.5])[:, np.newaxis, np.newaxis]
    after[0] = 1.0 - after[0]
    numbers = table.columns[3][np.newaxis, :5]
    standing = model.standing(before, theta, numbers)
    moved = model.moved(standing, after, theta, numbers)
    np.testing.assert_allclose(model.below(after, theta, moved), model.below(before, theta, numbers), atol=1e-9)
    np.testing.assert_array_equal(model.moved(standing, before, theta, numbers), np.broadcast_to(numbers, (4, 5)))


def test_combinations_without_rows_have_draws_of_their_own() -> None:
    model = fitter_of(clinic(), prior_of())(2, (0, 1))
    assert isinstance(model, NumberModel)
    theta = model.drawn(np.random.default_rng(1), 2_000)
    unseen = np.array([[0.0, 1.0], [1.0, 1.0]])[:, np.newaxis]
    first, second = model.expected(unseen, theta).T
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.15
    assert first.mean() == pytest.approx(float(np.mean(clinic().columns[2])), abs=5.0 * first.std() / np.sqrt(2_000))


def test_what_the_model_rules_out_and_cannot_compute_is_refused(said: Said) -> None:
    table = clinic()
    with said.raises(InputError):
        fitter_of(table, prior_of())(0, (2,))
    far = replace(table, columns=(*table.columns[:2], table.columns[2] + 1e13, table.columns[3]))
    with said.raises(PrecisionError):
        fitter_of(far, prior_of())
