"""The plots beside the graph: heat maps, edges, chains, effects, comparisons."""

from __future__ import annotations

import io
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from tests.tools.pictures import ALARM, arrows, caption, frame, legend_words, sparse
from tests.tools.wording import Said

from dagpost import Bootstrap, DagPosterior, DagSample, datasets, plots
from dagpost.causal import Effect
from dagpost.errors import InputError
from dagpost.mcmc.diagnostics import LARGEST_R_HAT

mpl.use("Agg")
import matplotlib.pyplot as plt


def test_a_heat_map_has_names_numbers_and_a_bar(model: DagPosterior) -> None:
    ax = plots.heat_map(model, "~>")
    assert [label.get_text() for label in ax.get_yticklabels()] == list(model.names_)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("to", "from")
    paths = model.probability_matrix("~>").to_numpy()
    shown = np.asarray(ax.images[0].get_array())
    off = ~np.eye(6, dtype=bool)
    np.testing.assert_allclose(shown[off], paths[off])
    assert len(ax.texts) == 30
    assert {text.get_text() for text in ax.texts} == {f"{value:.2f}" for value in paths[off]}
    assert ax.figure.axes[1].get_ylabel() == "P(from ~> to)"
    assert "Exact" in ax.get_title()
    assert len(plots.heat_map(model, colour_bar=False).figure.axes) == 1


def test_a_heat_map_takes_an_order_of_names(said: Said) -> None:
    names = list("ABCD")
    chain = np.zeros((4, 4))
    for parent, child in [(3, 1), (1, 0), (0, 2)]:
        chain[parent, child], chain[child, parent] = 0.8, 0.1
    given = plots.heat_map(frame(chain, names), order=["C", "A", "B", "D"])
    assert [label.get_text() for label in given.get_xticklabels()] == ["C", "A", "B", "D"]
    # From D to B, which are the last and the third here.
    assert np.asarray(given.images[0].get_array())[3, 2] == pytest.approx(0.8)
    with said.raises(InputError):
        plots.heat_map(frame(chain, names), order=["A", "B"])
    with said.raises(InputError):
        plots.heat_map(DagPosterior(score="bdeu").fit(datasets.load("coronary")), "=>")


def test_a_heat_map_of_many_has_no_numbers_but_marks_what_is_not_known() -> None:
    table = sparse(ALARM, 3)
    table.iloc[0, 1] = np.nan
    ax = plots.heat_map(table)
    assert [text.get_text() for text in ax.texts] == ["?"]
    ax.figure.canvas.draw()
    labels = [label.get_window_extent() for label in ax.get_xticklabels()]
    assert not any(one.overlaps(two) for one, two in combinations(labels, 2))


def test_a_tight_frame_holds_the_whole_graph(model: DagPosterior) -> None:
    ax = plots.graph(model)
    written = io.BytesIO()
    ax.figure.savefig(written, bbox_inches="tight", dpi=100)
    written.seek(0)
    height, width = plt.imread(written).shape[:2]
    whole = ax.figure.get_size_inches() * 100
    assert 0.7 * whole[0] < width < 1.1 * whole[0]
    assert 0.7 * whole[1] < height < 1.1 * whole[1]


def test_a_model_from_a_file_is_drawn_without_drawing_graphs(tmp_path: Path) -> None:
    fitted = DagPosterior(score="bdeu", method=Bootstrap(replicates=10), seed=1).fit(datasets.load("coronary"))
    assert caption(fitted.plot()).startswith("Share of 10 bootstrap replicates, not a posterior probability.")
    fitted.save(tmp_path / "model.dagpost")
    loaded = DagPosterior.load(tmp_path / "model.dagpost")
    loaded.fitted_.remember("sample", None)
    assert caption(loaded.plot()).startswith("Share of bootstrap replicates, not a posterior probability.")
    assert loaded.fitted_.drawn is None


def test_traces_have_a_line_for_each_chain(chains: DagSample) -> None:
    ax = plots.traces(chains)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["chain 1", "chain 2", "chain 3", "chain 4"]
    np.testing.assert_allclose(ax.lines[0].get_ydata(), chains.log_joint[:1_000])
    assert ax.lines[1].get_ydata().std() < ax.lines[0].get_ydata().std()
    assert ax.get_ylabel() == "log p(graph, data)"


def test_the_trace_of_a_statement_is_its_share_so_far(chains: DagSample, said: Said) -> None:
    ax = plots.traces(chains, statement="Smoking -> Pressure")
    last = [line.get_ydata()[-1] for line in ax.lines]
    assert len(last) == 4
    assert np.mean(last) == pytest.approx(float(chains.probability("Smoking -> Pressure")))
    assert len({line.get_linestyle() for line in ax.lines}) == 4
    with said.raises(InputError):
        plots.traces(chains, statement="P(Smoking -> Pressure | Smoking -> Family)")
    with said.raises(InputError):
        plots.traces(chains, statement="Smokin -> Pressure")


def test_r_hat_lists_the_edges_that_are_worst_and_says_the_verdict(chains: DagSample) -> None:
    ax = plots.r_hat(chains, count=5)
    table = chains.diagnostics().edges
    uncertain = table[table["frequency"].between(0.05, 0.95)]
    uncertain = uncertain.sort_values("r_hat", ascending=False, kind="stable").head(5)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        f"{parent} → {child}" for parent, child in zip(uncertain["parent"], uncertain["child"], strict=True)
    ]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), uncertain["r_hat"])
    assert ax.lines[-1].get_xdata()[0] == LARGEST_R_HAT
    assert ax.get_title().replace("\n", " ") == chains.diagnostics().verdict


def test_r_hat_without_end_has_a_mark_of_its_own_at_the_border(chains: DagSample) -> None:
    stuck = replace(chains, parents=np.repeat(chains.parents[[0, 1_000, 2_000, 3_000]], 1_000, axis=0))
    stuck.parents[:1_000, 0], stuck.parents[1_000:, 0] = 0, 0
    stuck.parents[:2_000, 5], stuck.parents[2_000:, 5] = 0, 1
    ax = plots.r_hat(stuck)
    markers = {line.get_marker(): line.get_xdata() for line in ax.lines}
    assert ">" in markers
    assert np.all(np.asarray(markers[">"]) <= ax.get_xlim()[1])
    ax.figure.canvas.draw()


@pytest.mark.parametrize("draw", [plots.traces, plots.r_hat])
def test_only_chains_have_traces_and_r_hat(draw: Any, model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        draw(model.sample(100, seed=1))
    with said.raises(InputError):
        draw(model)
    with said.raises(InputError):
        draw([model])


def test_edges_are_listed_by_probability_with_intervals_of_estimates(model: DagPosterior) -> None:
    sample = model.sample(precision=0.05, seed=1)
    ax = plots.edges(sample, count=4)
    values = ax.lines[-1].get_xdata()
    falling = np.sort(sample.edge_frequencies().to_numpy().ravel())[::-1]
    np.testing.assert_allclose(values, falling[:4])
    lines: Any = ax.collections[0]
    assert len(ax.collections) == 1
    for value, segment in zip(values, lines.get_segments(), strict=True):
        assert segment[0, 0] <= value <= segment[1, 0]
    assert "95% intervals" in ax.get_title()
    exact = plots.edges(model)
    assert not exact.collections
    assert "Exact" in exact.get_title()
    assert len(exact.lines[0].get_xdata()) == 20
    assert "→" in exact.get_yticklabels()[0].get_text()


def test_no_edge_at_all_is_told() -> None:
    ax = plots.edges(frame(np.zeros((3, 3))))
    assert [text.get_text() for text in ax.texts] == ["no edge has a probability above 0"]


def test_two_posteriors_are_compared(model: DagPosterior) -> None:
    other = DagPosterior(score="bic").fit(datasets.load("coronary"))
    ax = plots.comparison(model, other, labels=("BDeu", "$BIC$"), count=7)
    assert len(ax.lines) == 2
    assert len({line.get_marker() for line in ax.lines}) == 2
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["BDeu", r"\$BIC\$"]
    edges, of_other = (own.edge_probabilities_.to_numpy() for own in (model, other))
    moved = np.argsort(-np.abs(edges - of_other), axis=None, kind="stable")[:7]
    np.testing.assert_allclose(ax.lines[0].get_xdata(), edges.ravel()[moved])
    np.testing.assert_allclose(ax.lines[1].get_xdata(), of_other.ravel()[moved])
    paths = plots.comparison(model, other.sample(500, seed=1), relation="~>", count=3)
    assert "~>" in paths.get_yticklabels()[0].get_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda model: ((model, frame(np.zeros((2, 2)))), {}),
        lambda model: ((model, model), {"labels": ("a", "a")}),
        lambda model: ((model, model), {"relation": "--"}),
        lambda model: ((model, 3), {}),
        lambda model: ((model, model), {"count": 0}),
    ],
)
def test_what_cannot_be_compared_is_refused(model: DagPosterior, change: Any, said: Said) -> None:
    arguments, options = change(model)
    with said.raises(InputError):
        plots.comparison(*arguments, **options)


def test_a_comparison_says_what_each_of_its_numbers_is(model: DagPosterior) -> None:
    names = [*list(map("a_very_long_name_of_variable_{}".format, range(2))), "$c$"]
    matrix = np.array([[0.0, 0.9, 0.2], [0.0, 0.0, 0.0], [0.1, 0.3, 0.0]])
    ax = plots.comparison(frame(matrix, names), frame(matrix.T, names), count=3)
    labels = [text.get_text() for text in ax.get_yticklabels()]
    # Both names of a line, however long.
    assert all(label.count("→") == 1 and not label.endswith("→") for label in labels)
    assert r"\$c\$" in " ".join(labels)
    assert ax.get_title() == "Both: Probabilities as given."
    said = plots.comparison(model, model.sample(500, seed=1), labels=("all", "some")).get_title().replace("\n", " ")
    assert said == (
        "all: Exact (each graph counted once). some: Estimated from 500 graphs by exact-layers (each graph counted "
        "once)."
    )


def test_a_list_of_best_graphs_is_not_called_an_estimate(model: DagPosterior) -> None:
    best = model.best(50)
    assert "Lines: certain bounds." in plots.edges(best).get_title().replace("\n", " ")
    promised = model.sample(precision=0.1, confidence=0.9, seed=1)
    assert "Lines: 90% intervals." in plots.edges(promised).get_title().replace("\n", " ")
    words = plots.heat_map(best).get_title().replace("\n", " ")
    assert words.startswith(f"Among 50 of the most probable graphs only, {100 * best.covered:.1f}% of the posterior (")


@pytest.fixture(scope="module")
def effect(model: DagPosterior) -> Effect:
    return model.effect("Smoking", "Pressure", seed=1, draws=1000)


def test_an_effect_says_what_it_assumes_and_how_probably_there_is_none(effect: Effect) -> None:
    ax = plots.effect_density(effect)
    words = ax.get_title().replace("\n", " ")
    assert "95% interval" in words
    assert "only if no common cause" in words
    shares = {text.get_gid(): text.get_text() for text in ax.texts}
    assert shares == {
        "lowers": f"lowers: {effect.negative_probability:.3f}",
        "raises": f"raises: {effect.positive_probability:.3f}",
    }
    (spike,) = (other for other in ax.figure.axes if other is not ax)
    assert [text.get_text() for text in spike.texts] == [f"no effect at all: {effect.zero_probability:.3f}"]
    assert spike.get_ylim() == (0.0, 1.0)
    left, right = ax.get_xlim()
    assert left < effect.interval()[0] <= effect.mean <= 0.0 < right


def test_the_parts_of_an_effect_have_a_row_each(effect: Effect) -> None:
    ax = plots.effect_parts(effect, count=2)
    assert [label.get_text() for label in ax.get_yticklabels()] == [
        "total",
        "direct",
        *(f"through {part.through}" for part in effect.through[:2]),
    ]
    there = [text.get_text() for text in ax.texts if text.get_gid() == "there"]
    assert there[0] == f"{1.0 - effect.zero_probability:.3f}"
    assert f"Not shown: {len(effect.through) - 2} more." in ax.get_title().replace("\n", " ")
    marks = sorted(float(x) for line in ax.lines for x in np.atleast_1d(line.get_xdata()) if line.get_marker() in "Do")
    assert marks == pytest.approx(sorted(effect.parts_table()["mean"].head(4)))


def test_the_outcome_is_drawn_under_every_value_of_the_cause(effect: Effect, model: DagPosterior, said: Said) -> None:
    ax = plots.effect_outcomes(effect)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["do(Smoking = no)", "do(Smoking = yes)"]
    assert ax.get_xlabel() == "P(Pressure = >140)"
    (marks,) = (line.get_xdata() for line in ax.lines)
    assert list(marks) == [own.mean for own in effect.outcomes if own.level == ">140"]
    both = model.effect({"Smoking": ("yes", "no"), "Family": "pos"}, "Pressure", seed=1, draws=100)
    labels = [label.get_text() for label in plots.effect_outcomes(both).get_yticklabels()]
    assert labels == ["do(Smoking = yes, Family = pos)", "do(Smoking = no, Family = pos)"]
    with said.raises(InputError):
        plots.effect_parts(both)


def curved() -> DagPosterior:
    """An odd name acts on odd levels; two rows lie far from all others."""
    rng = np.random.default_rng(1)
    dose = np.append(rng.uniform(0.0, 1.0, 100), [3.0, 3.1])
    sort = np.select([dose + 0.2 * rng.normal(size=102) < 0.4, rng.random(102) > 0.5], ["$low", "mid_<b>"], "high")
    frame = pd.DataFrame({"dose in $ <b>": dose, "y": 2.0 * dose + rng.normal(size=102), "sort": sort})
    return DagPosterior("additive", tiers=[["dose in $ <b>"], ["y", "sort"]], seed=1).fit(frame)


def test_a_curve_has_its_band_the_rows_and_grey_where_there_are_none(said: Said) -> None:
    found = curved().effect("dose in $ <b>", "y", draws=200)
    ax = plots.effect_curve(found)
    frame = found.curve()
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_xydata(), frame[["value", "mean"]])
    band, ticks = ax.collections
    heights = band.get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == pytest.approx((frame["lower"].min(), frame["upper"].max()))
    assert ticks.get_gid() == "rows"
    assert len(ticks.get_paths()) == 102
    zones = [patch.get_window_extent().transformed(ax.transData.inverted()) for patch in ax.patches]
    assert len(zones) == 3
    assert (zones[1].x0 < 1.01, zones[1].x1) == (True, pytest.approx(3.0))
    assert ax.get_xlabel() == r"dose in \$ <b>"
    assert ax.get_ylabel() == "the mean of y"
    said(ax.get_title().replace("\n", " "))


def test_every_level_has_a_curve_of_its_own_and_names_are_no_formulas(tmp_path: Path) -> None:
    ax = plots.effect_curve(curved().effect("dose in $ <b>", "sort", draws=200))
    assert [line.get_label() for line in ax.lines] == [r"\$low", "high", "mid_<b>"]
    assert len({line.get_linestyle() for line in ax.lines}) == 3
    assert ax.get_ylabel() == "P(sort)"
    legend = ax.get_legend()
    assert legend is not None
    assert legend.get_title().get_text() == "sort"
    ax.figure.savefig(tmp_path / "a.svg")
    assert "<b>" not in (tmp_path / "a.svg").read_text(encoding="utf-8")


def test_without_rows_a_curve_has_no_ticks_and_no_grey(tmp_path: Path) -> None:
    frame = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])
    DagPosterior("bge", seed=1).fit(frame).save(tmp_path / "m")
    ax = plots.effect_curve(DagPosterior.load(tmp_path / "m").effect("a", "b", draws=100))
    assert len(ax.collections) == 1
    assert not ax.patches


def test_a_curve_needs_a_cause_of_numbers(effect: Effect, said: Said) -> None:
    with said.raises(InputError):
        plots.effect_curve(effect)


@pytest.mark.parametrize("draw", [plots.effect_density, plots.effect_parts, plots.effect_outcomes, plots.effect_curve])
def test_only_effects_are_drawn_as_effects(draw: Any, model: DagPosterior, said: Said) -> None:
    with said.raises(InputError):
        draw(model)


def test_so_little_that_nobody_misses_it_is_not_counted_in_edges() -> None:
    matrix = np.zeros((3, 3))
    matrix[0, 1], matrix[1, 2] = 0.9, 1e-15
    assert caption(plots.graph(frame(matrix))).endswith("Not drawn: 1 pair joined with a probability below 0.1.")


def test_long_labels_of_a_comparison_stand_one_below_the_other_inside_the_figure() -> None:
    names = ["diastolic_blood_pressure_mmHg", "systolic_blood_pressure_mmHg"]
    matrix = np.array([[0.0, 0.7], [0.2, 0.0]])
    labels = ["BDeu, equivalent sample size 1", "BDeu, equivalent sample size 10"]
    ax = plots.comparison(frame(matrix, names), frame(matrix.T, names), labels=labels)
    figure = ax.figure
    figure.canvas.draw()
    entries = [text.get_window_extent() for text in ax.get_legend().get_texts()]
    assert len(entries) == 2
    assert not entries[0].overlaps(entries[1])
    for box in [*entries, ax.title.get_window_extent()]:
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert box.y1 <= figure.bbox.y1
    assert not ax.title.get_window_extent().overlaps(ax.get_legend().get_window_extent())


def test_shares_of_a_bootstrap_are_not_called_probabilities(model: DagPosterior, said: Said) -> None:
    shares = DagPosterior(score="bdeu", method=Bootstrap(replicates=10), seed=1).fit(datasets.load("coronary"))
    assert plots.edges(shares).get_xlabel() == "share of replicates"
    assert plots.edges(model).get_xlabel() == "posterior probability"
    assert plots.heat_map(shares).figure.axes[1].get_ylabel() == "share of replicates: from -> to"
    assert plots.comparison(model, shares).get_xlabel() == "posterior probability or share of replicates"
    ax = plots.graph(shares)
    words = legend_words(ax)
    assert "share with an edge:" in words
    assert "probability of an edge:" not in words
    # A direction counts only where it is compelled in a replicate; what the search picked is told where that counts.
    assert {arrow.line.word for arrow in arrows(ax)} <= {"clear", "leaning", "open"}
    assert shares.target_.directions not in caption(ax)
    assert shares.target_.directions in plots.edges(shares).get_title().replace("\n", " ")
    assert not any(text.get_text().startswith("≥") for text in ax.texts)
    few = plots.graph(shares, threshold=0.9)
    said(caption(few))
    drawn = shares.own_sample()
    none = plots.edges(replace(drawn, parents=np.zeros_like(drawn.parents)))
    assert [text.get_text() for text in none.texts] == ["no edge has a share of replicates above 0"]
