"""Causal effects: what is shown, what is refused, and cases whose answer is known."""

from __future__ import annotations

import json
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from dagpost.causal.groups import Groups, groups_of, share_out
from dagpost.causal.mixture import mixed_effect

from dagpost import DagPosterior, datasets
from dagpost.causal import CausalEffect, causal_effect, causal_effects, discrete, interventional_probabilities
from dagpost.data import Table, as_table
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError, ResourceError
from dagpost.families.masks import mask_type
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.scores import BDeu, BGe, DirichletPrior


def sample_of(names: tuple[str, ...], graphs: list[list[int]], weights: list[float] | None = None) -> DagSample:
    nan = np.full(len(graphs), np.nan)
    shares = np.full(len(graphs), 1.0 / len(graphs)) if weights is None else np.array(weights)
    parents = np.array(graphs, dtype=mask_type(len(names)))
    return DagSample(names, parents, nan, nan, nan, shares, STRUCTURE, "exact-layers", "independent", "given weights")


@pytest.fixture(scope="module")
def coronary() -> Table:
    return datasets.load("coronary")


@pytest.fixture(scope="module")
def coronary_sample(coronary: Table) -> DagSample:
    return DagPosterior(score="bdeu").fit(coronary).sample(2_000, seed=1)


@pytest.fixture(scope="module")
def effect(coronary: Table, coronary_sample: DagSample) -> CausalEffect:
    return causal_effect(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", seed=3)


def three_levels(rows: int = 30) -> Table:
    generator = np.random.default_rng(0)
    columns = tuple(generator.integers(0, arity, rows).astype(np.uint8) for arity in (3, 2, 3))
    return Table(("A", "B", "C"), columns, (("low", "mid", "high"), (False, True), (0, 1, 2)))


def linear(rows: int, generator: np.random.Generator) -> Table:
    """C causes A and B, and A causes B by 2."""
    third = generator.normal(size=rows)
    first = third + generator.normal(size=rows)
    second = 2.0 * first - 3.0 * third + generator.normal(size=rows)
    return Table(("A", "B", "C"), (first, second, third), (None,) * 3)


# Cases whose answer is known


def test_adjusting_for_a_common_cause_gives_least_squares_when_the_prior_is_flat() -> None:
    table = linear(5_000, np.random.default_rng(1))
    sample = sample_of(table.names, [[4, 5, 0]])
    effect = causal_effect(sample, table, BGe(mean_weight=1e-9), "A", "B", seed=1)
    data = table.values()
    design = np.column_stack([data[:, 0], data[:, 2], np.ones(len(data))])
    coefficients, residual, *_ = np.linalg.lstsq(design, data[:, 1])
    assert effect.mean == pytest.approx(coefficients[0], abs=1e-8)
    error = np.sqrt(residual[0] / (len(data) - 3) * np.linalg.inv(design.T @ design)[0, 0])
    assert effect.samples.std() == pytest.approx(error, rel=0.05)
    assert effect.mean == pytest.approx(2.0, abs=5 * error)


def test_without_the_common_cause_the_effect_is_confounded() -> None:
    table = linear(5_000, np.random.default_rng(1))
    effect = causal_effect(sample_of(table.names, [[0, 1, 0]]), table, "bge", "A", "B", seed=1)
    # The covariance of A and B, 2 * 2 - 3, by the variance of A, 2.
    assert effect.mean == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize("share", [0.0, 5e-324])
def test_a_value_of_no_probability_counts_for_nothing_in_a_mixture(coronary: Table, share: float) -> None:
    names = coronary.names
    # Without parents of the treatment; and with one, in graphs of which the mixture has none.
    plain, other = sample_of(names, [[0, 1, 0, 0, 0, 0]]), sample_of(names, [[4, 1, 0, 0, 0, 0], [0] * 6], [0.5, 0.5])

    def effect_of(value: int, draws: int, seed: int) -> CausalEffect:
        return causal_effect((plain, other)[value], coronary, "bdeu", names[0], names[1], draws=draws, seed=seed)

    mixed = mixed_effect([1.0, share], effect_of, 50, 1)
    alone = effect_of(0, 50, 1)
    assert mixed.adjustment_sets == alone.adjustment_sets == ((),)
    np.testing.assert_array_equal(mixed.set_probabilities, [1.0])
    np.testing.assert_allclose(mixed.set_means, alone.set_means)
    assert mixed.set_of_sample.tolist() == [0] * 50
    assert mixed.zero_probability < 1e-300
    for array in (mixed.samples, mixed.set_probabilities, mixed.set_means, mixed.set_of_sample):
        assert not array.flags.writeable

    both = mixed_effect([0.5, 0.5], effect_of, 50, 1)
    assert both.adjustment_sets == ((), (names[2],))
    np.testing.assert_allclose(both.set_probabilities, [0.5, 0.25])
    assert set(both.set_of_sample.tolist()) == {-1, 0, 1}


def test_an_edge_without_direction_gives_a_mixture_of_zero_and_the_effect() -> None:
    generator = np.random.default_rng(2)
    cause = generator.normal(size=300)
    table = as_table(np.column_stack([cause, cause + generator.normal(size=300)]))
    sample = DagPosterior("bge").fit(table).sample(2_000, seed=1)
    effect = causal_effect(sample, table, "bge", "V0", "V1", seed=1)
    assert effect.zero_probability == pytest.approx(0.5, abs=1e-9)
    assert effect.positive_probability == pytest.approx(0.5, abs=0.01)
    assert effect.interval()[0] == 0.0
    assert effect.mean == pytest.approx(0.5 * np.polyfit(table.values()[:, 0], table.values()[:, 1], 1)[0], rel=0.02)


def test_no_path_is_no_effect_at_all() -> None:
    table = three_levels()
    sample = sample_of(table.names, [[0, 0, 0], [2, 0, 0], [0, 4, 1], [6, 0, 0]])
    effect = causal_effect(sample, table, "bdeu", "B", "C", outcome_level=1, seed=1)
    assert (effect.samples == 0.0).all()
    assert (effect.mean, effect.median, effect.interval()) == (0.0, 0.0, (0.0, 0.0))
    assert effect.zero_probability == 1.0
    assert effect.adjustment_sets == ()
    assert effect.adjustment_table()["adjusted for"].to_list() == ["(no path)"]
    assert "not at all with probability 1.000" in repr(effect)


def test_a_path_through_other_variables_is_an_effect() -> None:
    table = three_levels()
    effect = causal_effect(sample_of(table.names, [[0, 4, 1]]), table, "bdeu", "A", "B", do=("high", "low"), seed=1)
    assert effect.zero_probability == 0.0
    assert (effect.samples != 0.0).all()


@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_rows_in_which_a_mediator_was_set_do_not_dilute_the_effect(score: str) -> None:
    """A causes B and B causes C; in half of the rows B was set by lot, so that C does not follow A there."""
    generator = np.random.default_rng(3)
    rows = 4_000
    was_set = np.arange(rows) % 2 == 1
    if score == "bge":
        first = generator.normal(size=rows)
        second = np.where(was_set, generator.normal(size=rows), first + 0.5 * generator.normal(size=rows))
        third = second + 0.5 * generator.normal(size=rows)
        columns: tuple = (first, second, third)
        levels: tuple = (None,) * 3
    else:
        first = generator.integers(0, 2, rows).astype(np.uint8)
        second = np.where(was_set, generator.integers(0, 2, rows), first).astype(np.uint8)
        columns, levels = (first, second, second), ((0, 1),) * 3
    masks = np.where(was_set, np.uint64(2), np.uint64(0))
    table = Table(("A", "B", "C"), columns, levels, interventions=masks)
    effect = causal_effect(sample_of(table.names, [[0, 1, 2]]), table, score, "A", "C", seed=1)
    assert effect.mean == pytest.approx(1.0, abs=0.05)
    assert effect.observations == rows // 2


def test_rows_in_which_the_treatment_was_set_count() -> None:
    table = three_levels()
    set_treatment = replace(table, interventions=np.full(table.rows, 2, dtype=np.uint64))
    sample = sample_of(table.names, [[0, 1, 2]])
    effects = [causal_effect(sample, one, "bdeu", "B", "C", outcome_level=1, seed=1) for one in (table, set_treatment)]
    assert effects[0].mean == effects[1].mean
    assert effects[1].observations == table.rows


def test_effects_come_from_the_prior_with_a_warning_where_no_row_speaks() -> None:
    table = three_levels()
    blind = replace(table, interventions=np.full(table.rows, 4, dtype=np.uint64))
    sample = sample_of(table.names, [[0, 0, 2]])
    with pytest.warns(DagpostWarning, match="something other than 'B' was set"):
        effect = causal_effect(sample, blind, BDeu(10.0), "B", "C", outcome_level=1, seed=1)
    assert effect.mean == 0.0
    # Ten imagined rows in six cells: the difference of two variates of the Beta(5/3, 10/3) distribution.
    assert effect.samples.var() == pytest.approx(2 * (2 / 9) / 6, rel=0.1)
    continuous = linear(10, np.random.default_rng(1))
    blind = replace(continuous, interventions=np.full(10, 4, dtype=np.uint64))
    with pytest.warns(DagpostWarning, match="something other than 'A' was set"):
        assert causal_effect(sample_of(blind.names, [[0, 1, 0]]), blind, "bge", "A", "B", seed=1).mean == 0.0


def test_counts_are_repeated_rows() -> None:
    table = three_levels()
    counts = np.random.default_rng(4).integers(0, 4, table.rows)
    repeated = replace(table, columns=tuple(np.repeat(column, counts) for column in table.columns))
    sample = sample_of(table.names, [[4, 1, 0], [0, 1, 0]])
    first, second = (
        causal_effect(sample, one, "k2", "A", "B", do=("high", "low"), seed=1)
        for one in (replace(table, counts=counts), repeated)
    )
    assert first.mean == pytest.approx(second.mean, abs=1e-12)
    assert first.observations == second.observations == counts.sum()


def test_the_two_levels_compared_change_sign_when_swapped() -> None:
    table = three_levels()
    sample = sample_of(table.names, [[4, 1, 0]])
    up, down, rest = (
        causal_effect(sample, table, "bdeu", "A", "B", do=do, seed=1).mean
        for do in (("high", "low"), ("low", "high"), ("mid", "low"))
    )
    assert up == pytest.approx(-down, abs=1e-15)
    assert up != pytest.approx(rest, abs=1e-3)


def test_the_second_level_is_compared_with_the_first_where_there_are_two(effect: CausalEffect) -> None:
    assert (effect.do, effect.outcome_level) == (("yes", "no"), ">140")


def test_probabilities_under_interventions_differ_by_the_mean_effect(
    coronary: Table, coronary_sample: DagSample, effect: CausalEffect
) -> None:
    found = interventional_probabilities(coronary_sample, coronary, "bdeu", "Smoking", "Pressure")
    assert found.loc["yes", ">140"] - found.loc["no", ">140"] == pytest.approx(effect.mean, abs=1e-12)
    assert (found.index.name, found.columns.name) == ("Smoking", "Pressure")


def test_many_levels_and_parents_are_pooled_and_worked_on_in_blocks() -> None:
    generator = np.random.default_rng(5)
    names = tuple(f"v{node}" for node in range(14))
    columns = tuple(generator.integers(0, 9, 200).astype(np.uint8) for _ in names)
    table = Table(names, columns, (tuple(range(9)),) * 14)
    graphs = []
    for first in range(2, 8):
        # Up to 12 parents of 9 levels: 9^12 configurations, of which at most 200 occur.
        graph = [0] * 14
        graph[0] = sum(1 << node for node in range(first, 14))
        graph[1] = 1
        graphs.append(graph)
    sample = sample_of(names, graphs)
    settings = {"do": (3, 4), "outcome_level": 5, "draws": 500, "seed": 1}
    whole = causal_effect(sample, table, "bdeu", "v0", "v1", **settings)
    assert np.isfinite(whole.samples).all()
    assert np.abs(whole.samples).max() <= 1.0
    generator = np.random.default_rng(1)
    groups = groups_of(sample, 0, 1)
    parts = discrete.discrete_effects(
        table,
        DirichletPrior(1.0, shared=True),
        discrete.Contrast(0, 1, (3, 4), 5),
        groups,
        share_out(groups, 500, generator),
        generator,
        ThreadEngine(),
        block_cells=300,
    )
    assert parts.means == pytest.approx(whole.set_means, abs=1e-15)
    assert parts.draws.mean() == pytest.approx(whole.mean, abs=6 * whole.samples.std() / np.sqrt(500))


def test_very_small_pseudocounts_give_draws_between_minus_one_and_one() -> None:
    table = three_levels(3)
    sample = sample_of(table.names, [[4, 1, 0]])
    effect = causal_effect(sample, table, BDeu(1e-100), "A", "B", do=("high", "low"), draws=200, seed=1)
    assert np.isfinite(effect.samples).all()
    assert np.abs(effect.samples).max() <= 1.0


def test_all_pairs_agree_with_one_pair_at_a_time() -> None:
    table = linear(50, np.random.default_rng(6))
    sample = sample_of(table.names, [[4, 5, 0], [0, 1, 2], [0, 0, 0]], [0.5, 0.3, 0.2])
    found = causal_effects(sample, table, "bge")
    assert (found.index.name, found.columns.name) == ("from", "to")
    for treatment in "ABC":
        for outcome in set("ABC") - {treatment}:
            one = causal_effect(sample, table, "bge", treatment, outcome, draws=5, seed=1)
            assert found.loc[treatment, outcome] == pytest.approx(one.mean, abs=1e-12)


class Largest:
    """A generator whose uniform variate is as near to 1 as can be."""

    def random(self) -> float:
        return float(np.nextafter(1.0, 0.0))


@pytest.mark.parametrize(("no_path", "last"), [(0.0, 1), (0.25, 2)])
def test_rounding_gives_no_draw_to_graphs_that_are_not_there(no_path: float, last: int) -> None:
    groups = Groups(np.arange(2, dtype=np.uint64), np.array([0.5, 0.5 - no_path]), no_path)
    for draws in range(1, 20):
        assert share_out(groups, draws, Largest()).max() == last


# What is shown


def test_more_draws_than_fit_are_refused(coronary: Table, coronary_sample: DagSample) -> None:
    with pytest.raises(ResourceError, match=r"Drawing 1,000,000,000,000 times .* Ask for fewer draws"):
        causal_effect(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", draws=10**12, seed=1)


def test_draws_repeat_with_the_seed_and_differ_without(coronary: Table, coronary_sample: DagSample) -> None:
    draws = [
        causal_effect(coronary_sample, coronary, "bdeu", "Smoking", "Pressure", draws=100, seed=seed).samples
        for seed in (3, 3, 4)
    ]
    assert (draws[0] == draws[1]).all()
    assert (draws[0] != draws[2]).any()


def test_draws_stand_in_no_particular_order(effect: CausalEffect) -> None:
    half = len(effect.samples) // 2
    shares = [(part == 0.0).mean() for part in (effect.samples[:half], effect.samples[half:])]
    assert shares[0] == pytest.approx(shares[1], abs=0.05)


def test_results_cannot_be_written_to(effect: CausalEffect) -> None:
    for array in (effect.samples, effect.set_probabilities, effect.set_means, effect.set_of_sample):
        assert not array.flags.writeable


def test_the_numbers_of_an_effect_belong_together(effect: CausalEffect) -> None:
    samples = effect.samples
    assert effect.mean == pytest.approx(samples.mean(), abs=5 * samples.std() / np.sqrt(len(samples)))
    assert effect.zero_probability + effect.set_probabilities.sum() == pytest.approx(1.0, abs=1e-12)
    assert (samples == 0.0).mean() == pytest.approx(effect.zero_probability, abs=1 / len(samples))
    assert effect.positive_probability + effect.negative_probability == pytest.approx((samples != 0.0).mean())
    lower, upper = effect.interval(0.5)
    assert ((lower <= samples) & (samples <= upper)).mean() >= 0.5
    assert effect.interval(0.5)[0] >= effect.interval()[0]
    assert effect.median == np.median(samples)


def test_an_effect_reads_as_one_sentence(effect: CausalEffect) -> None:
    assert repr(effect).startswith("Setting Smoking to yes rather than no changes P(Pressure = >140) by -0.0")
    assert repr(effect).endswith("(2,000 graphs; each graph counted once).")
    table = linear(50, np.random.default_rng(6))
    slope = causal_effect(sample_of(table.names, [[4, 5, 0]]), table, "bge", "A", "B", seed=1)
    assert repr(slope).startswith("One unit more of A changes B by ")


def test_names_are_never_obeyed_as_markup() -> None:
    table = three_levels()
    odd = replace(table, names=("<script>a</script>", "B\x1b[31m", "C"), levels=(("<b>", "y", "z"), *table.levels[1:]))
    effect = causal_effect(
        sample_of(odd.names, [[4, 1, 0]]), odd, "bdeu", odd.names[0], odd.names[1], do=("<b>", "y"), seed=1
    )
    assert "<script>" not in effect._repr_html_()
    assert "&lt;script&gt;" in effect._repr_html_()
    assert "<b>" not in effect._repr_html_()
    assert "\x1b" not in repr(effect)
    other_way = causal_effect(sample_of(odd.names, [[0, 1, 2]]), odd, "bdeu", "B\x1b[31m", "C", outcome_level=1, seed=1)
    assert "<script>" not in other_way._repr_html_()


def test_the_summary_survives_json(effect: CausalEffect) -> None:
    summary = json.loads(json.dumps(effect.summary(), allow_nan=False))
    assert summary == effect.summary()
    assert summary["interval"] == list(effect.interval())
    assert summary["do"] == ["yes", "no"]
    table = three_levels()
    of_numbers = causal_effect(sample_of(table.names, [[0, 1, 2]]), table, "bdeu", "B", "C", outcome_level=1, seed=1)
    assert json.loads(json.dumps(of_numbers.summary()))["do"] == [True, False]


def test_the_frame_says_where_each_draw_comes_from(effect: CausalEffect) -> None:
    frame = effect.to_frame()
    assert (frame["effect"].to_numpy() == effect.samples).all()
    assert ((frame["effect"] == 0.0) == ~frame["path"]).all()
    assert set(frame.loc[~frame["path"], "adjusted for"]) == {"(no path)"}
    means = frame.groupby("adjusted for")["effect"].mean()
    table = effect.adjustment_table()
    assert table["probability"].is_monotonic_decreasing
    assert table["probability"].sum() == pytest.approx(1.0)
    largest = table.iloc[0]
    assert means[largest["adjusted for"]] == pytest.approx(largest["mean effect"], abs=0.005)


@pytest.mark.parametrize("zero", [0.0, 0.3, 1.0])
def test_the_plot_shows_the_histogram_and_the_spike_with_its_number(zero: float) -> None:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    table = replace(linear(50, np.random.default_rng(6)), names=("A$", "B", "C"))
    graphs, weights = [[4, 5, 0], [2, 0, 0]], [1.0 - zero, zero]
    effect = causal_effect(sample_of(table.names, graphs, weights), table, "bge", "A$", "B", seed=1)
    axes = effect.plot()
    texts = [text.get_text() for other in axes.figure.axes for text in other.texts]
    assert texts == ([f"exactly 0: {zero:.3f}"] if zero else [])
    assert len(axes.patches) == (0 if zero == 1.0 else 1)
    assert axes.get_xlabel() == r"change of B for one unit more of A\$"
    axes.figure.canvas.draw()
    plt.close(axes.figure)


def test_the_plot_is_drawn_where_it_is_told_to(effect: CausalEffect) -> None:
    import matplotlib.pyplot as plt

    mpl.use("Agg")
    figure, axes = plt.subplots()
    assert effect.plot(axes) is axes
    plt.close(figure)


# What is refused


def test_names_must_be_known_and_different(coronary: Table, coronary_sample: DagSample) -> None:
    with pytest.raises(InputError, match=r"There is no variable 'Smokin'\. Did you mean 'Smoking'"):
        causal_effect(coronary_sample, coronary, "bdeu", "Smokin", "Pressure")
    with pytest.raises(InputError, match="There is no variable 'Pressur'"):
        interventional_probabilities(coronary_sample, coronary, "bdeu", "Smoking", "Pressur")
    with pytest.raises(InputError, match="both 'Smoking'"):
        causal_effect(coronary_sample, coronary, "bdeu", "Smoking", "Smoking")


def test_graphs_and_table_must_have_the_same_variables(coronary: Table, coronary_sample: DagSample) -> None:
    with pytest.raises(InputError, match="same variables in the same order"):
        causal_effect(coronary_sample, three_levels(), "bdeu", "Smoking", "Pressure")
    with pytest.raises(InputError, match="same variables in the same order"):
        causal_effects(coronary_sample, linear(9, np.random.default_rng(1)), "bge")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"do": ("high", "huge")}, "'A' has no level 'huge'. There are: 'low', 'mid', 'high'"),
        ({"do": ("high", ["low"])}, "'A' has no level \\['low'\\]"),
        ({"do": ("high", "low"), "outcome_level": "maybe"}, "'B' has no level 'maybe'. There are: False, True"),
        ({"do": ("high", "high")}, "two different levels of 'A'. Got 'high' and 'high', which are both 'high'"),
        ({"do": "high"}, "'do' must be two levels of 'A', such as \\('low', 'mid'\\). Got 'high'"),
        ({"do": ("low", "mid", "high")}, "'do' must be two levels"),
        ({}, "'A' has 3 levels, so 'do' must say which are meant"),
        ({"do": ("high", "low"), "draws": -5}, "'draws' must be an int of at least 1. Got -5"),
        ({"do": ("high", "low"), "draws": True}, "'draws' must be an int"),
        ({"do": ("high", "low"), "draws": 2.5}, "'draws' must be an int"),
        ({"do": ("high", "low"), "confidence": 95}, "'confidence' must be a float between 0 and 1. Got 95"),
        ({"do": ("high", "low"), "seed": -1}, "'seed' must be an int of at least 0"),
    ],
)
def test_wrong_settings_are_refused_with_what_is_allowed(settings: dict, message: str) -> None:
    table = three_levels()
    with pytest.raises(InputError, match=message):
        causal_effect(sample_of(table.names, [[4, 1, 0]]), table, "bdeu", "A", "B", **settings)


def test_an_outcome_of_three_levels_needs_one_to_be_named() -> None:
    table = three_levels()
    with pytest.raises(InputError, match="'C' has 3 levels, so 'outcome_level' must say which"):
        causal_effect(sample_of(table.names, [[0, 0, 2]]), table, "bdeu", "B", "C")


def test_a_variable_of_one_level_cannot_change() -> None:
    table = replace(three_levels(), columns=(np.zeros(30, np.uint8),) * 3, levels=((0,), (0, 1), (0, 1)))
    sample = sample_of(table.names, [[0, 1, 0]])
    for pair in (("A", "B"), ("B", "A")):
        with pytest.raises(InputError, match="'A' has only one level"):
            causal_effect(sample, table, "bdeu", *pair)


def test_discrete_and_continuous_are_not_mixed_up() -> None:
    table, numbers = three_levels(), linear(9, np.random.default_rng(1))
    sample = sample_of(table.names, [[4, 1, 0]])
    with pytest.raises(InputError, match="are not made of numbers, and a score for continuous data"):
        causal_effect(sample, table, "bge", "A", "B")
    with pytest.warns(DagpostWarning, match="Cut into levels for a discrete score: 'A' at"):
        cut = interventional_probabilities(sample, numbers, "bdeu", "A", "B")
    assert cut.shape == (3, 3)
    with pytest.raises(InputError, match="'do' is about levels"):
        causal_effect(sample, numbers, "bge", "A", "B", do=(1.0, 0.0))
    with pytest.raises(InputError, match="'outcome_level' is about levels"):
        causal_effect(sample, numbers, "bge", "A", "B", outcome_level=1.0)
    with pytest.raises(InputError, match="for continuous columns, and the score 'bdeu' is for discrete ones"):
        causal_effects(sample, table, "bdeu")
    with pytest.raises(InputError, match="Probabilities of levels are for discrete columns"):
        interventional_probabilities(sample, numbers, "bge", "A", "B")


def test_scores_without_known_parameters_are_refused() -> None:
    class Mine:
        def fill(self, *arguments: object) -> None: ...

    table = three_levels()
    with pytest.raises(
        InputError, match=r"does not say which it is\. Fit with a score that does: BDeu, BDe, K2, BIC, BGe"
    ):
        causal_effect(sample_of(table.names, [[4, 1, 0]]), table, Mine(), "A", "B")


@pytest.mark.parametrize("score", ["bdeu", "bge"])
def test_negative_counts_are_refused(score: str) -> None:
    table = three_levels() if score == "bdeu" else linear(30, np.random.default_rng(1))
    counts = np.ones(30, dtype=np.int64)
    counts[4] = -2
    sample = sample_of(table.names, [[4, 1, 0]])
    with pytest.raises(InputError, match=r"counts of a table must be at least 0\. Got -2 in row 5"):
        causal_effect(
            sample,
            replace(table, counts=counts),
            score,
            "A",
            "B",
            **({"do": ("high", "low")} if score == "bdeu" else {}),
        )
