"""Scores on chosen tables: hard cases, refusals, interruption."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.naive import scores as naive_scores
from tests.tools.wording import Said

from dagpost._tools import memory
from dagpost._tools.progress import reporter_for
from dagpost.data import Table, discretise, read_table
from dagpost.engines import ThreadEngine
from dagpost.errors import DagpostWarning, InputError, ResourceError
from dagpost.families.numbering import family_count
from dagpost.scores import BIC, K2, BDe, BDeu, BGe, LocalScores, cells, counting, local_scores, resolve_score
from dagpost.scores.determinants import determinant_sets
from dagpost.scores.set_functions import subtract_base, tasks_of


def random_table(arities: list[int], rows: int, seed: int = 0, noise: float = 0.3, **extra: Any) -> Table:
    """Each column copies the one before it, but for some noise, so that rows repeat and edges are there."""
    generator = np.random.default_rng(seed)
    columns: list[Any] = []
    for arity in arities:
        fresh = generator.integers(0, arity, rows)
        if columns:
            fresh = np.where(generator.random(rows) < noise, fresh, columns[-1] % arity)
        columns.append(fresh)
    kind = np.uint8 if max(arities) <= 256 else np.uint16
    return Table(
        tuple(f"v{node}" for node in range(len(arities))),
        tuple(column.astype(kind) for column in columns),
        tuple(tuple(range(arity)) for arity in arities),
        **extra,
    )


def continuous_table(data: np.ndarray) -> Table:
    names = tuple(f"v{node}" for node in range(data.shape[1]))
    return Table(names, tuple(np.ascontiguousarray(column) for column in data.T), (None,) * data.shape[1])


def assert_some_families_agree(table: Table, score: Any, twin: Any, max_parents: int, families: int) -> None:
    scores = local_scores(table, score, max_parents)
    generator = np.random.default_rng(1)
    for _ in range(families):
        child, *others = (int(node) for node in generator.permutation(len(table.names)))
        parents = others[: generator.integers(0, max_parents + 1)]
        assert scores.score(child, parents) == pytest.approx(twin(table, child, sorted(parents)), rel=1e-10, abs=1e-8)


@pytest.mark.parametrize(
    ("score", "twin"),
    [
        (BDeu(2.0), lambda table, child, parents: naive_scores.bdeu(table, child, parents, 2.0)),
        (K2(), lambda table, child, parents: naive_scores.dirichlet(table, child, parents, 1.0)),
        (BIC(), naive_scores.bic),
    ],
)
def test_scores_of_a_larger_table_match_their_definition(score: Any, twin: Any) -> None:
    generator = np.random.default_rng(5)
    table = random_table(
        [2, 3, 2, 5, 1, 2, 4, 2, 3, 2, 2, 7],
        900,
        counts=generator.integers(0, 4, 900),
        interventions=np.where(generator.random(900) < 0.2, generator.integers(0, 64, 900), 0).astype(np.uint64),
    )
    assert_some_families_agree(table, score, twin, 5, 150)


@pytest.mark.parametrize("case", ["child_m500", "letter_m1000", "insur19_m200"])
def test_scores_of_real_data_match_their_definition(shared_data: Any, case: str) -> None:
    table = read_table(shared_data / "paper" / f"{case}.csv")
    assert_some_families_agree(
        table, BDeu(), lambda table, child, parents: naive_scores.bdeu(table, child, parents, 1.0), 5, 60
    )
    assert_some_families_agree(
        table, K2(), lambda table, child, parents: naive_scores.dirichlet(table, child, parents, 1.0), 5, 60
    )


def test_a_column_of_many_levels_is_counted() -> None:
    table = random_table([300, 2, 700, 3], 500)
    assert_some_families_agree(
        table, BDeu(), lambda table, child, parents: naive_scores.bdeu(table, child, parents, 1.0), 3, 40
    )


def test_counts_far_beyond_the_tables_are_scored() -> None:
    table = random_table([2, 3, 2], 12, noise=1.0, counts=np.arange(12) * 50_000_000)
    assert_some_families_agree(
        table, BDeu(), lambda table, child, parents: naive_scores.bdeu(table, child, parents, 1.0), 2, 20
    )
    assert_some_families_agree(table, BIC(), naive_scores.bic, 2, 20)


@pytest.mark.parametrize("strength", [1e-90, 1e-3, 1e3, 1e8, 1e15, 1e90])
def test_terms_beyond_the_tables_agree_with_tabulated_ones(strength: float) -> None:
    table = random_table([2, 3, 4], 300)
    tabulated = local_scores(table, BDeu(strength)).values

    class Untabulated(BDeu):
        def terms(
            self, arities: tuple[int, ...], max_size: int, variants: list[int], observations: int
        ) -> cells.CellFunction:
            del variants
            return cells.shared_terms(strength, arities, max_size, observations, most_tabulated=0)

    values = local_scores(table, Untabulated(strength)).values
    np.testing.assert_allclose(values, tabulated, rtol=1e-10, atol=1e-9)


def test_a_table_of_one_row_and_a_table_of_one_column_are_scored() -> None:
    one_row = local_scores(random_table([2, 3, 1], 1), BDeu())
    assert one_row.score(1, [0]) == pytest.approx(-np.log(3))
    one_column = local_scores(random_table([4], 10), K2(), 5)
    assert one_column.values.shape == (1, 1)
    assert one_column.max_parents == 0


def test_parents_that_say_nothing_leave_the_likelihood_alone() -> None:
    table = random_table([2, 1, 3], 40)
    scores = local_scores(table, K2())
    assert scores.score("v0", ["v1", "v2"]) == pytest.approx(scores.score("v0", ["v2"]), abs=1e-10)
    assert scores.score("v1", ["v0", "v2"]) == pytest.approx(0.0, abs=1e-10)


def test_a_node_that_was_set_in_every_row_has_score_zero() -> None:
    table = random_table([2, 2, 2], 20, interventions=np.full(20, 2, dtype=np.uint64))
    for score in ("bdeu", "bde", "k2", "bic"):
        scores = local_scores(table, score)
        assert (scores.values[1] == 0).all()
        assert (scores.values[0] < 0).all()


def test_max_parents_is_cut_to_the_other_columns() -> None:
    scores = local_scores(random_table([2, 2, 2], 10), max_parents=12)
    assert scores.max_parents == 2
    assert scores.values.shape == (3, 4)


@pytest.mark.parametrize(("nodes", "max_size"), [(1, 1), (2, 1), (2, 2), (7, 3), (12, 6), (64, 6), (5, 5)])
def test_tasks_cover_every_pair_once(nodes: int, max_size: int) -> None:
    tasks = tasks_of(nodes, max_size)
    pairs = [(top, second) for top, first, last in tasks for second in range(first, last - 1, -1)]
    expected = {(top, second) for top in range(nodes) for second in range(top)} if max_size > 1 else set()
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected
    assert sorted(top for top, first, _ in tasks if first == top - 1) == list(range(nodes))


def test_every_kernel_is_compiled_for_one_signature() -> None:
    table = random_table([2, 3, 2], 30)
    for score in ("bdeu", "k2", "bic"):
        local_scores(table, score)
    local_scores(continuous_table(np.random.default_rng(0).normal(size=(20, 3))), "bge")
    for kernel in (counting.count_sets, determinant_sets, subtract_base, cells._fill_tables):
        assert len(kernel.signatures) == 1


def test_bge_of_duplicate_columns_on_a_large_scale_is_finite() -> None:
    column = np.random.default_rng(0).normal(size=200) * 1e9
    data = np.stack([column, column, 2 * column + 1, np.zeros(200)], axis=1)
    scores = local_scores(continuous_table(data), BGe())
    assert np.isfinite(scores.values).all()
    assert scores.score("v1", ["v0"]) > scores.score("v1", [])


def test_bge_does_not_depend_on_where_the_columns_are_centred() -> None:
    data = np.random.default_rng(0).normal(size=(50, 4))
    shifted = data + np.array([0, 10, -30, 5])
    before, after = (local_scores(continuous_table(values), "bge").values for values in (data, shifted))
    np.testing.assert_allclose(after, before, rtol=1e-10)


def test_bge_refuses_values_whose_squares_overflow(said: Said) -> None:
    with said.raises(InputError):
        local_scores(continuous_table(np.array([[1e200, 1.0], [-1e200, 2.0]])), BGe(prior_scale=1.0))
    with said.raises(InputError):
        local_scores(continuous_table(np.array([[1.0, 0.0], [2.0, 1e-170], [3.0, 2e-170]])), "bge")


def test_bge_refuses_too_few_degrees_of_freedom_and_a_mean_of_the_wrong_length(said: Said) -> None:
    table = continuous_table(np.zeros((3, 4)))
    with said.raises(InputError):
        local_scores(table, BGe(degrees_of_freedom=5))
    with said.raises(InputError):
        local_scores(table, BGe(prior_mean=(1.0, 2.0)))
    with said.raises(InputError):
        local_scores(table, BGe(prior_scale=(1.0, 2.0)))


def test_scores_refuse_columns_of_the_wrong_kind(said: Said) -> None:
    table = random_table([2, 2], 5)
    words = replace(table, levels=(("no", "yes"), *table.levels[1:]))
    with said.raises(InputError):
        local_scores(words, "bge")


def test_discrete_scores_take_numbers_as_their_recipe_cuts_them(said: Said) -> None:
    table = continuous_table(np.random.default_rng(1).normal(size=(60, 2)))
    with said.warns(DagpostWarning):
        found = local_scores(table, "bdeu")
    np.testing.assert_array_equal(found.values, local_scores(discretise(table), "bdeu").values)


@pytest.mark.parametrize(
    "make",
    [
        lambda: BDeu(0),
        lambda: BDeu(float("nan")),
        lambda: BDeu("1"),
        lambda: BDeu(True),
        lambda: BDe(-1.0),
        lambda: BGe(mean_weight=float("inf")),
        lambda: BGe(degrees_of_freedom="many"),
        lambda: BGe(prior_mean=(0.0, float("nan"))),
        lambda: BGe(prior_mean="zero"),
        lambda: BGe(prior_scale="metres"),
        lambda: BGe(prior_scale=(1.0, 0.0)),
        lambda: resolve_score("bdue"),
        lambda: resolve_score(BDeu),
        lambda: resolve_score(3),
    ],
)
def test_bad_settings_of_scores_are_refused(make: Any, said: Said) -> None:
    with said.raises(InputError):
        make()


@pytest.mark.parametrize("value", ["five", -1, 13, 2.0, True, None])
def test_a_bad_number_of_parents_is_refused(value: Any) -> None:
    message = r"'max_parents' parameter of local_scores must be an int in \[0, 12\]"
    with pytest.raises(InputError, match=message):
        local_scores(random_table([2, 2], 5), "bdeu", value)


def test_more_levels_or_observations_than_can_be_counted_are_refused(said: Said) -> None:
    many = Table(("a", "b"), (np.zeros(2, np.uint32),) * 2, ((0, 1), tuple(range(70_000))))
    with said.raises(InputError):
        local_scores(many)
    with pytest.raises(InputError, match="10,000,000,000 observations"):
        local_scores(random_table([2, 2], 2, counts=np.array([5 * 10**9] * 2)))


def test_a_result_that_does_not_fit_is_refused_before_it_is_made(monkeypatch: pytest.MonkeyPatch, said: Said) -> None:
    monkeypatch.setattr(memory, "available_bytes", lambda: 5_000_000)
    message = r"Scoring 20 nodes with up to 5 parents needs 2\.8 MB"
    local_scores(random_table([2] * 20, 5), "bdeu", 4)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(ResourceError, match=message) as raised:
        local_scores(random_table([2] * 20, 5), "bdeu", 5)
    said(str(raised.value))
    said(str(raised.value))


def test_an_interrupt_stops_scoring() -> None:
    table = random_table([3] * 40, 20_000, noise=0.9)
    local_scores(random_table([2] * 4, 20))  # so that nothing is left to compile
    sent = []

    def interrupt() -> None:
        sent.append(time.process_time())
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    # A shell that starts the tests in the background has them ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(1.0, interrupt)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            local_scores(table, "bdeu", 5)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    # CPU time, since the clock says little on a busy machine. Left alone, it would go on for a minute.
    assert time.process_time() - sent[0] < 15.0


def test_an_error_in_a_progress_callback_comes_through(said: Said) -> None:
    def fail(title: str, done: int, total: int) -> None:
        raise RuntimeError(f"{title}: {done} of {total}")

    with said.raises(RuntimeError):
        local_scores(random_table([2] * 6, 50), reporter=reporter_for(fail))


def test_progress_ends_at_the_total() -> None:
    masks = np.array([0, 1, 2, 2, 0] * 4, dtype=np.uint64)
    discrete = random_table([2] * 6, 20, interventions=masks)
    values = continuous_table(np.random.default_rng(0).normal(size=(20, 6)))
    continuous = Table(values.names, values.columns, values.levels, None, masks)
    for table, score in ((discrete, "k2"), (continuous, "bge")):
        calls: list[tuple[int, int]] = []

        def note(title: str, done: int, total: int, calls: list = calls) -> None:
            calls.append((done, total))

        local_scores(table, score, reporter=reporter_for(note))
        assert calls[-1][0] == calls[-1][1]


def test_local_scores_find_families_by_name_and_number() -> None:
    scores = local_scores(random_table([2] * 5, 30), "bdeu", 3)
    for node, child in enumerate(scores.names):
        for number in range(family_count(4, 3)):
            parents = scores.parent_names(child, number)
            assert scores.score(child, parents) == scores.values[node, number]
    html = LocalScores(("<a>", "b"), 1, np.array([[0.0, 1.0], [0.0, -1.0]]))._repr_html_()
    assert "&lt;a&gt;</th><td>b</td><td>1.00" in html
    assert "<td>none</td><td>0.00" in html


@pytest.mark.parametrize(
    "ask",
    [
        lambda scores: scores.score("w0", []),
        lambda scores: scores.score("v0", ["v0"]),
        lambda scores: scores.score("v0", ["v1", "v2"]),
        lambda scores: scores.score(9, []),
        lambda scores: scores.parent_names("v0", 3),
    ],
)
def test_local_scores_refuse_families_they_do_not_have(ask: Any, said: Said) -> None:
    scores = local_scores(random_table([2] * 3, 30), "bdeu", 1)
    with said.raises(InputError):
        ask(scores)


def test_thread_count_does_not_matter_on_a_larger_table() -> None:
    table = random_table([2, 3, 2, 4, 2, 3, 2, 2, 3, 2, 2, 5], 400)
    one, two, five = (local_scores(table, "bde", engine=ThreadEngine(count)).values for count in (1, 2, 5))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, five)


def test_importing_scores_and_priors_does_not_import_numba() -> None:
    code = (
        "import sys, dagpost.scores, dagpost.priors;"
        "dagpost.scores.SCORES.names(), dagpost.priors.PRIORS.names();"
        "print([name for name in ('numba', 'scipy', 'pandas', 'sklearn', 'matplotlib') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
