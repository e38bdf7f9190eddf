"""Refusals say which columns form cycles, and advice that is followed does split them."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tools.examples import examples
from tests.tools.wording import Said

from dagpost import BDeu, DagPosterior, ResourceError, local_scores
from dagpost._tools.spelling import in_python
from dagpost.cli.messages import in_words
from dagpost.data import as_table
from dagpost.engines import ThreadEngine
from dagpost.errors import InputError, collected_warnings
from dagpost.exact.components import Components
from dagpost.posterior.splitting import Advice, advice_in_words, advise, cycles_in_words, hint_for_estimates
from dagpost.posterior.splitting import components_of as components_in
from dagpost.priors import resolve_prior
from dagpost.priors.constraints import Constraints
from dagpost.priors.study import Study

NAMES = tuple("abcdefghijkl")


def components_of(rules: Constraints, names: tuple[str, ...]) -> Components:
    return Components.of_edges(rules.parent_lists(names, 3).matrix)


def followed(advice: Advice, rules: Constraints, names: tuple[str, ...]) -> Constraints:
    """The rules with what an advice says."""
    named = [names[column] for column in advice.columns]
    tiers, exogenous = list(rules.tiers or ()), list(rules.exogenous)
    if advice.rule == "tiers":
        tiers += [[name] for name in named]
    else:
        exogenous += named
    return Constraints(rules.required, rules.forbidden, tiers or None, exogenous)


def table_of(columns: int, rows: int = 40) -> pd.DataFrame:
    values = np.random.default_rng(1).integers(2, size=(rows, columns))
    return pd.DataFrame(values, columns=[f"V{column}" for column in range(columns)])


@st.composite
def rule_sets(draw: st.DrawFn) -> tuple[Constraints, tuple[str, ...]]:
    """Few allowed edges, or tiers that leave some columns out."""
    names = NAMES[: draw(st.integers(2, 12))]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    tiers = None
    if draw(st.booleans()):
        tier = rng.integers(-1, 3, size=len(names))
        tiers = [[name for name, own in zip(names, tier, strict=True) if own == number] for number in range(3)]
    dense = draw(st.sampled_from([0.15, 0.3, 0.6, 1.0]))
    pairs = [(parent, child) for parent in names for child in names if parent != child]
    forbidden = [pair for pair in pairs if rng.random() > dense]
    allowed = [(parent, child) for parent, child in pairs if (parent, child) not in forbidden and parent < child]
    required = allowed[: draw(st.integers(0, 2))] if tiers is None else []
    return Constraints(required, forbidden, tiers), names


@settings(max_examples=examples(150))
@given(rule_sets(), st.integers(1, 5))
def test_advice_that_is_followed_leaves_what_it_says(case: tuple[Constraints, tuple[str, ...]], most: int) -> None:
    rules, names = case
    found = components_of(rules, names)
    if len(found.largest) == 1:
        return
    advice = advise(found, rules, names, most)
    any_of_them = advice.rule == "exogenous"
    if any_of_them:
        # Any columns will do, unless other rules say that they have parents.
        rules = Constraints((), rules.forbidden, rules.tiers)
    left = max(components_of(followed(advice, rules, names), names).sizes)
    if any_of_them:
        assert left <= advice.left
    else:
        assert left == advice.left
    words = advice_in_words(advice, names, most)
    for spelled in (in_python(words), in_words(words)):
        assert all(repr(names[column]) in spelled for column in advice.columns[:8]) or any_of_them


def test_columns_that_were_left_out_of_the_tiers_are_named(said: Said) -> None:
    rules = Constraints(tiers=[list("abcd"), list("efgh"), list("ijk")])
    advice = advise(components_of(rules, NAMES), rules, NAMES, 6)
    assert advice == Advice("tiers", (11,), 4)
    said(in_words(advice_in_words(advice, NAMES, 6)))


def test_without_a_rule_that_splits_it_says_how_many_columns_are_too_many() -> None:
    advice = advise(components_of(Constraints(), NAMES), Constraints(), NAMES, 9)
    assert (advice.rule, len(advice.columns), advice.left) == ("exogenous", 3, 9)
    assert "name at least 3 of them in exogenous" in in_python(advice_in_words(advice, NAMES, 9))


def test_names_are_shown_safely_and_shortened() -> None:
    names = ("a\x1b[31m", "<b>", "x" * 500, *NAMES)
    found = components_of(Constraints(), names)
    words = cycles_in_words(found, names)
    assert "\x1b" not in words
    assert len(words) < 600
    assert words.endswith("and 7 more.")


@pytest.mark.parametrize("dense", [False, True])
@pytest.mark.parametrize("columns", [256, 1024])
def test_many_columns_take_under_a_second(columns: int, dense: bool) -> None:
    rng = np.random.default_rng(3)
    names = tuple(f"V{column}" for column in range(columns))
    edges = rng.random((columns, columns)) < (1.0 if dense else 0.008)
    edges |= np.roll(np.eye(columns, dtype=np.bool_), 1, axis=1)
    np.fill_diagonal(edges, False)
    found = Components.of_edges(edges)
    started = time.process_time()
    advise(found, Constraints(), names, 20)
    assert time.process_time() - started < 1.0


def test_a_method_that_sums_by_components_is_refused_by_its_largest(said: Said) -> None:
    """Forty columns in two tiers are accepted, and refused once a column in no tier joins these."""
    table = table_of(40)
    tiers = [[f"V{column}" for column in range(start, start + 20)] for start in (0, 20)]
    plan = DagPosterior(prior="uniform", method="exact-layers", tiers=tiers, max_parents=2).plan(table)
    assert plan.exact
    assert "2 groups of at most 20 variables" in str(plan)
    tiers[1].remove("V39")
    with said.raises(ResourceError) as refused:
        DagPosterior(prior="uniform", method="exact-layers", tiers=tiers, max_parents=2).plan(table)
    assert "--method block-gibbs" in in_words(refused.value.marked)


def tiers_without_one() -> list[list[str]]:
    """Three tiers of fourteen columns, of which one is missing."""
    tiers = [[f"V{column}" for column in range(start, start + 14)] for start in (0, 14, 28)]
    tiers[0].remove("V3")
    return tiers


def test_what_is_out_of_reach_under_rules_is_told_with_the_rule_that_is_missing() -> None:
    table = as_table(table_of(42))
    study = Study(table, BDeu(), resolve_prior("uniform"), Constraints(tiers=tiers_without_one()), 1)
    engine = ThreadEngine(1)
    hint = hint_for_estimates(components_in(study), study, engine)
    assert "Edges may form cycles among all 42 columns" in hint
    assert "'V3' is in no tier" in hint
    for rules in (Constraints(), Constraints(tiers=[*tiers_without_one(), ["V3"]])):
        other = study._replace(constraints=rules)
        assert hint_for_estimates(components_in(other), other, engine) == ""


@pytest.mark.long
def test_estimates_under_rules_say_which_rule_would_make_them_exact() -> None:
    table = table_of(42)
    settings_: dict[str, Any] = {"max_parents": 1, "samples": 40, "seed": 1, "score": "bdeu"}
    model = DagPosterior(tiers=tiers_without_one(), **{"prior": "uniform", **settings_})
    with collected_warnings() as told:
        model.fit(table)
    hint = next(remark for remark in told if "estimated" in remark)
    assert "'V3' is in no tier" in hint
    assert not model.exact_
    assert DagPosterior(tiers=[*tiers_without_one(), ["V3"]], **{"prior": "uniform", **settings_}).plan(table).exact


def test_orders_are_not_split_by_rules_and_plan_and_refusal_say_so(said: Said) -> None:
    rows = np.random.default_rng(1).integers(0, 2, (30, 40))
    tiers = {f"V{column}": column // 8 for column in range(40)}
    settings: dict[str, Any] = {"score": "bdeu", "tiers": tiers, "max_parents": 2}
    heard = str(DagPosterior(modularity="order", **{"prior": "uniform", **settings}).plan(rows))
    assert "orders of separate groups of columns interleave. With modularity='structure'" in heard
    assert "within each of 5 groups of at most 8 variables." in heard
    with said.raises(ResourceError):
        DagPosterior(method="dds", modularity="order", **{"prior": "uniform", **settings}).plan(rows)
    assert DagPosterior(**{"prior": "uniform", **settings}).plan(rows).hint == ""


def test_a_plan_names_the_column_that_is_in_no_tier() -> None:
    rows = np.random.default_rng(1).integers(0, 2, (30, 40))
    tiers = {f"V{column}": column // 8 for column in range(1, 40)}
    assert "'V0' is in no tier" in str(
        DagPosterior(prior="uniform", score="bdeu", tiers=tiers, max_parents=2).plan(rows)
    )


def test_more_columns_than_chains_take_are_refused_for_orders(said: Said) -> None:
    rows = np.random.default_rng(1).integers(0, 2, (30, 70))
    tiers = {f"V{column}": column // 7 for column in range(70)}
    with said.raises(InputError):
        DagPosterior(prior="uniform", score="bdeu", modularity="order", tiers=tiers, max_parents=1).fit(rows)


def test_without_parents_any_number_of_columns_is_exact() -> None:
    frame = pd.DataFrame(np.random.default_rng(4).integers(0, 2, (30, 80)), columns=[f"v{i}" for i in range(80)])
    model = DagPosterior(prior="uniform", score=BDeu(2.0), max_parents=0).fit(frame)
    alone = [local_scores(frame[[name, "v0" if name != "v0" else "v1"]], BDeu(2.0), 0).values[0, 0] for name in frame]
    assert model.log_evidence_ == pytest.approx(sum(alone), abs=1e-9)
    assert not model.edge_probabilities_.to_numpy().any()
