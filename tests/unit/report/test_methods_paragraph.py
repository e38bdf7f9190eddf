"""The methods paragraph and the code that computes it again: true for every score, method and kind of gaps."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.tools.report_page import random_table, written

import dagpost
from dagpost import (
    BDe,
    BDeu,
    BGe,
    Bootstrap,
    ConditionalGaussian,
    CustomScore,
    DagPosterior,
    EdgePrior,
    LatentGaussian,
    PartitionMCMC,
    Recipe,
    Trees,
    datasets,
    local_scores,
)
from dagpost.methods.augmentation import Augmentation
from dagpost.report.citations import SOFTWARE, in_text
from dagpost.report.content import gather
from dagpost.report.methods_paragraph import cited, methods_paragraph
from dagpost.report.reproduction import RECIPE, TABLE, asked_of, python_code

pytestmark = pytest.mark.filterwarnings("ignore::dagpost.DagpostWarning")


def clinic(rows: int = 60) -> pd.DataFrame:
    """Levels and numbers, some of them empty."""
    random = np.random.default_rng(1)
    smoking, sex = random.integers(0, 2, rows), random.integers(0, 2, rows)
    bmi = 25 + 2 * sex + random.normal(size=rows)
    pressure = 120 + 10 * smoking + (bmi - 25) + random.normal(size=rows)
    return pd.DataFrame(
        {
            "smoking": np.where(smoking, "yes", "no"),
            "sex": np.where(sex, "m", "f"),
            "bmi": bmi.round(1),
            "pressure": pressure.round(1),
        }
    )


def with_gaps() -> pd.DataFrame:
    table = clinic()
    table.loc[[3, 9], "smoking"] = None
    table.loc[[5], "pressure"] = np.nan
    return table


LEVELS, NUMBERS = ["smoking", "sex"], ["bmi", "pressure"]
CHAINS = Augmentation(chains=2, burn_in=1)


def of(frame: pd.DataFrame, **settings: Any) -> DagPosterior:
    settings = {"samples": 60, "seed": 1, "max_parents": 2, "progress": False, **settings}
    return DagPosterior(**settings).fit(frame)


#: What is fitted, what its paragraph must say, and what it must not.
GRID: dict[str, tuple[Callable[[], Any], list[str], list[str]]] = {
    "levels": (
        lambda: of(clinic()[LEVELS], score="bdeu"),
        ["2 variables with levels", "equivalent sample size 1", "exact: sums over all graphs"],
        ["chain", "missing"],
    ),
    "averaged": (
        lambda: of(clinic()[LEVELS], score=BDeu("average")),
        ["each weighted by its posterior probability", "has the posterior"],
        ["chain"],
    ),
    "k2": (lambda: of(clinic()[LEVELS], score="k2"), ["Cooper & Herskovits 1992", "one imagined observation"], []),
    "bde": (lambda: of(clinic()[LEVELS], score=BDe(2)), ["2 imagined observations"], []),
    "bic": (lambda: of(clinic()[LEVELS], score="bic"), ["Schwarz 1978"], ["Dirichlet"]),
    "numbers": (
        lambda: of(clinic()[NUMBERS], score=BGe(2.0, 9.0, 0.0, (1.0, 2.0))),
        ["mean: 0, worth 2 rows; scale: given for each column; degrees of freedom: 9"],
        ["levels"],
    ),
    "both": (
        lambda: of(clinic(), score=ConditionalGaussian()),
        [
            "4 variables (2 with levels, 2 with numbers)",
            "Edges from columns of numbers to columns of levels are ruled out",
        ],
        [],
    ),
    "latent": (
        lambda: of(clinic(), score=LatentGaussian(), method=CHAINS),
        ["tables of latent numbers", "Tanner & Wong 1987"],
        ["Rubin", "cells had no value"],
    ),
    "gaps": (
        lambda: of(with_gaps(), score=ConditionalGaussian(), method=CHAINS),
        ["3 of 240 cells had no value", "missing at random (Rubin 1976)", "completed tables"],
        ["exact: sums"],
    ),
    "dropped": (
        lambda: of(with_gaps(), score="bdeu", missing="drop"),
        ["3 of 60 rows with missing values were dropped", "bmi at ", "exact: sums"],
        ["Rubin"],
    ),
    "gap levels": (lambda: of(with_gaps()[LEVELS], score="bdeu", missing="level"), ["a level of their own"], ["Rubin"]),
    "order": (
        lambda: of(clinic()[LEVELS], score="bdeu", modularity="order"),
        ["once for every order", "Koivisto & Sood 2004"],
        [],
    ),
    "chains": (
        lambda: of(clinic()[LEVELS], score="bdeu", method=PartitionMCMC(chains=2, burn_in=10)),
        ["Kuipers & Moffa 2017", "2 chains"],
        ["exact: sums"],
    ),
    "trees": (
        lambda: of(clinic()[LEVELS], score="bdeu", method=Trees()),
        ["sums over all trees", "at most 1 parent", "Meilă"],
        [],
    ),
    "given order": (
        lambda: of(clinic()[LEVELS], score="bdeu", method="given-order"),
        ["those of the given order, not a finding"],
        ["equivalence class"],
    ),
    "best": (lambda: of(clinic()[LEVELS], score="bdeu", method="kbest"), ["exact: sums"], ["chain"]),
    "bootstrap": (
        lambda: of(clinic()[LEVELS], score="bdeu", method=Bootstrap(replicates=5)),
        ["resampled 5 times", "not posterior probabilities", "share of being joined"],
        ["exact: sums", "Posterior"],
    ),
    "rules": (
        lambda: of(clinic(), score="bdeu", required=[("sex", "bmi")], forbidden=["bmi -> smoking"], exogenous=["sex"]),
        ["required edges (sex → bmi)", "forbidden edges (bmi → smoking)", "Taken as given and not modelled: sex"],
        [],
    ),
    "believed": (
        lambda: of(clinic()[LEVELS], score="bdeu", prior=EdgePrior({"sex -> smoking": 0.2})),
        ["single edges had probabilities"],
        ["same weight"],
    ),
    "scores": (
        lambda: DagPosterior(samples=50, seed=1).fit_scores(local_scores(clinic()[LEVELS], "bdeu")),
        ["The local scores had been computed elsewhere"],
        ["observations"],
    ),
    "own score": (
        lambda: of(clinic()[LEVELS], score=CustomScore(lambda _, parents: -float(len(parents.columns)))),
        ["CustomScore"],
        [],
    ),
    "regimes": (
        lambda: of(clinic(40)[LEVELS].assign(arm=["a", "b"] * 20), score="bdeu", regimes="arm"),
        ["regimes named by arm", "Eaton & Murphy 2007"],
        [],
    ),
    "set": (
        lambda: DagPosterior(score="bdeu", samples=50, seed=1).fit(
            clinic()[LEVELS].assign(who=["sex", ""] * 30), interventions="who"
        ),
        ["set from outside", "Cooper & Yoo 1999"],
        [],
    ),
    "a sample": (
        lambda: of(clinic()[LEVELS], score="bdeu").sample(50, seed=2),
        ["50 graphs drawn independently", "seed 2"],
        ["exact: sums"],
    ),
    "a list": (
        lambda: of(clinic()[LEVELS], score="bdeu").best(2),
        ["2 of the most probable graphs"],
        ["exact: sums", "drawn"],
    ),
    "picked": (
        lambda: of(clinic()[LEVELS], score="bdeu").sample(50, seed=2)[[0, 3]],
        ["2 graphs that were picked"],
        ["drawn independently"],
    ),
}


@pytest.mark.parametrize("case", GRID)
def test_every_sentence_is_true_and_whole(case: str) -> None:
    make, there, absent = GRID[case]
    made = make()
    content = gather(made if case in ("a sample", "a list", "picked") else made.fitted_)
    words, works = methods_paragraph(content)
    for part in there:
        assert part in words, words
    for part in absent:
        assert part not in words, words
    assert not re.search(r"\bNone\b|\bnan\b|\{|\}|  | \.|\.\.|\(\)", words), words
    assert words.endswith(").")
    for sentence in re.split(r"(?<=[a-z0-9)%]\.) (?=[A-Z])", words):
        assert sentence[0].isupper() or sentence[0].isdigit(), sentence
    # Every work that the text names is listed, and every one that is listed is named, with where to find it.
    assert len(works) == len(set(works))
    for work in works:
        assert in_text(work) in words
    for line in cited(content).splitlines():
        assert line == SOFTWARE or re.search(r"https://\S+$|[a-z], \d+(\(\d+\))?\.$", line), line


def fitted_again(content: Any, frame: pd.DataFrame, folder: Path, monkeypatch: pytest.MonkeyPatch) -> DagPosterior:
    monkeypatch.chdir(folder)
    frame.to_csv(TABLE, index=False)
    code, asked = python_code(content), asked_of(content)
    assert code is not None
    assert asked is not None
    if asked.recipe is not None:
        Path(RECIPE).write_text(asked.recipe, encoding="utf-8")
    space: dict[str, Any] = {}
    exec(code, space)
    assert (folder / "report.html").is_file()
    return space["model"]


@pytest.mark.parametrize(
    ("settings", "fit"),
    [
        ({"score": BDeu("average"), "prior": EdgePrior(0.2), "max_parents": 1}, {}),
        ({"score": BGe(prior_mean=0.0), "recipe": Recipe(columns=NUMBERS)}, {}),
        ({"score": "bdeu", "method": PartitionMCMC(chains=2, burn_in=10)}, {}),
        (
            {
                "score": "bdeu",
                "recipe": Recipe(cut={"bmi": [25.0, 27.0]}, drop=["pressure"], order={"smoking": ["no", "yes"]}),
                "required": [("sex", "bmi")],
                "tiers": [["sex"], ["smoking", "bmi"]],
                "exogenous": ["sex"],
            },
            {},
        ),
        ({"score": "bdeu", "recipe": Recipe(drop=NUMBERS), "missing": "drop"}, {"counts": "times"}),
        ({"score": "bdeu", "recipe": Recipe(columns=LEVELS), "prior": EdgePrior({"sex -- smoking": 0.3})}, {}),
        ({"score": "bdeu", "recipe": Recipe(columns=LEVELS), "regimes": "arm"}, {}),
    ],
    ids=["averaged", "numbers", "chains", "rules", "counts", "believed", "regimes"],
)
def test_the_code_asks_for_the_same_model(
    settings: dict[str, Any], fit: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = {"arm": ["a", "b"] * 20} if "regimes" in settings else {"times": 2} if fit else {}
    frame = clinic(40).assign(**more)
    frame.to_csv(tmp_path / TABLE, index=False)
    model = DagPosterior(samples=40, seed=3, progress=False, **settings).fit(str(tmp_path / TABLE), **fit)
    content = gather(model.fitted_)
    again = fitted_again(content, frame, tmp_path, monkeypatch)
    before, after = (dict(own.fitted_.settings) for own in (model, again))
    # What was asked of a recipe comes back as all that it decided.
    assert (after.pop("recipe") is None) == (before.pop("recipe") is None)
    assert after == before
    assert again.edge_probabilities_.equals(model.edge_probabilities_)


def test_a_recipe_that_was_decided_before_goes_with_the_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(bins=2, columns=["smoking", "bmi"]).fit(clinic(30))
    model = DagPosterior("bdeu", recipe=recipe, samples=40, seed=3, progress=False).fit(clinic())
    content = gather(model.fitted_)
    page = written(model, tmp_path)
    assert f"The recipe, as {RECIPE}:" in page.sections["method"]
    again = fitted_again(content, clinic(), tmp_path, monkeypatch)
    assert again.edge_probabilities_.equals(model.edge_probabilities_)


def test_what_no_file_keeps_is_named_in_its_place() -> None:
    model = of(clinic()[LEVELS], score=CustomScore(lambda _, parents: -float(len(parents.columns))))
    content = gather(model.fitted_)
    code = python_code(content)
    assert code is not None
    assert re.search(r"score=\.\.\.,  # CustomScore\(.*\): no file keeps it", code)
    compile(code, "code", "exec")
    picked = gather(of(clinic()[LEVELS], score="bdeu").sample(20, seed=1)[[0, 2]])
    assert python_code(picked) is None


def test_names_cannot_become_code(tmp_path: Path) -> None:
    hostile = ["a'); import os #", 'b"]\n\\', "</pre><script>alert(1)</script>"]
    model = DagPosterior("bdeu", required=[(hostile[0], hostile[1])], samples=40, seed=1)
    model.fit(random_table(hostile), counts=None)
    code = python_code(gather(model.fitted_))
    assert code is not None
    space: dict[str, Any] = {"DagPosterior": lambda **settings: settings, "BDeu": BDeu, "EdgePrior": EdgePrior}
    exec(next(re.finditer(r"model = DagPosterior\(.*?\n\)", code, re.DOTALL))[0], space)
    assert space["model"]["required"] == [(hostile[0], hostile[1])]
    page = written(model, tmp_path)
    assert not [tag for tag, about in page.tags if tag == "script" and "alert" in str(about)]
    assert "</pre><script>alert(1)</script>" in page.words


def test_a_sample_is_drawn_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame = clinic(40)[LEVELS]
    frame.to_csv(tmp_path / TABLE, index=False)
    sample = DagPosterior("bdeu", samples=40, progress=False).fit(str(tmp_path / TABLE)).sample(30, seed=5)
    fitted_again(gather(sample), frame, tmp_path, monkeypatch)
    code = python_code(gather(sample))
    assert code is not None
    assert "graphs = model.sample(30, seed=5)" in code


def test_rows_that_count_more_than_once_are_mentioned() -> None:
    table = datasets.load("coronary")
    code = python_code(gather(DagPosterior("bdeu", samples=40).fit(table).fitted_))
    assert code is not None
    assert ("counts=" in code) or (table.rows == table.observations)
    assert dagpost.__version__ in methods_paragraph(gather(DagPosterior("bdeu", samples=40).fit(table).fitted_)).words
