"""A score, a prior, a method, a chain and an engine of another package are used like ours, by object and by name.

The package in tests/outside is installed into a folder of its own, and every test runs in a process that sees it (or
does not). Nothing in dagpost knows it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dagpost import datasets

PACKAGE = Path(__file__).resolve().parents[2] / "outside"
SETTINGS = ["--score", "smoothed", "--prior", "sparse:0.5", "--engine", "one-by-one", "--seed", "1", "--quiet"]

BY_OBJECT = """
import json, sys
import numpy as np
from dagpost import BDe, DagPosterior, DagSample, UniformPrior, cross_validate, datasets, local_scores
from toypost.empty_graphs import EmptyGraphs
from toypost.one_by_one import OneByOne
from toypost.smoothed_score import Smoothed
from toypost.sparse_prior import Sparse
from toypost.toy_chain import ToyChain

table = datasets.load("coronary")
ours, theirs = local_scores(table, BDe(2.0), 3), local_scores(table, Smoothed(2.0), 3)
assert np.allclose(ours.values, theirs.values, rtol=0, atol=1e-9)

settings = dict(score=Smoothed(2.0), prior=Sparse(0.5), max_parents=3, samples=400, seed=1)
model = DagPosterior(engine=OneByOne(), **{"score": "bdeu", **settings}).fit(table)
threads = DagPosterior(engine="threads", **{**settings, "score": BDe(2.0)}).fit(table)
assert OneByOne.blocks > 0 and model.exact_
assert np.allclose(model.edge_probabilities_, threads.edge_probabilities_, rtol=0, atol=1e-9)
rows = table.to_pandas().drop(columns="counts").head(3)
assert np.allclose(model.score_samples(rows), threads.score_samples(rows), rtol=0, atol=0.05)
assert model.effect("Smoking", "Pressure", seed=1, draws=500).zero_probability < 1.0

chain = DagPosterior(method=ToyChain(chains=2), **{"score": "bdeu", **settings}).fit(table)
sample = chain.sample(200, seed=1)
assert sample.from_chains and len(chain.sample(400, resume=sample)) == 400
assert sample.diagnostics().verdict

empty = DagPosterior(method=EmptyGraphs(repeats=2), **{**settings, "samples": 10}).fit(table)
assert empty.target_.words == "the graph without edges only" and len(empty.own_sample()) == 20
assert "the graph without edges only" in str(empty.probability("Smoking -> Pressure"))

folder = sys.argv[1]
for name, fitted in {"model": model, "chain": chain, "empty": empty}.items():
    fitted.save(f"{folder}/{name}.dagpost")
    again = DagPosterior.load(f"{folder}/{name}.dagpost")
    assert np.array_equal(again.edge_probabilities_, fitted.edge_probabilities_)
    assert again.get_params()["score"] == Smoothed(2.0) and again.fitted_.method == fitted.fitted_.method
    again.sample(20, seed=2).save(f"{folder}/{name}-graphs.dagpost")
    assert DagSample.load(f"{folder}/{name}-graphs.dagpost").target == fitted.target_
    words = fitted.report(f"{folder}/{name}.html").read_text(encoding="utf-8")
    assert "the toy score with pseudo-count 2" in words and "every parent costs 0.5 nats" in words
    assert "Toys that plug into dagpost" in words
"""

#: A kind of score with answers of its own to everything: two files of theirs, none of ours.
NEW_KIND = """
import sys
import numpy as np, pandas as pd
from dagpost import BGe, DagPosterior, cross_validate
from toypost.straight_score import Straight

rng = np.random.default_rng(1)
x = rng.normal(size=400)
m = 0.8 * x + rng.normal(size=400)
table = pd.DataFrame({"x": x, "m": m, "y": 0.5 * m - 0.7 * x + rng.normal(size=400)})
both = [DagPosterior(score, tiers=[["x"], ["m"], ["y"]], seed=1).fit(table) for score in (Straight(), BGe())]
new, known = both

effects = [model.effect("x", "y", do=(1.0, 0.0), seed=1) for model in both]
assert abs(effects[0].mean - effects[1].mean) < 0.02 and abs(effects[0].mean - (0.4 - 0.7)) < 0.2
assert np.allclose(effects[0].interval(), effects[1].interval(), atol=0.05)
assert effects[0].through[0].through == "m"
assert len(new.effects()) == len(known.effects())

rows = table.head(20)
assert np.allclose(new.score_samples(rows), known.score_samples(rows), atol=0.1)
first, second = (model.predict_number(rows, target="y") for model in both)
assert np.allclose(first["mean"], second["mean"], atol=0.05) and np.allclose(first["upper"], second["upper"], atol=0.1)
for text in ("P(y > 0.5 | x = 1)", "E(m | y = 1)", "E(y | do(m = 1))"):
    assert abs(float(new.probability(text)) - float(known.probability(text))) < 0.04, text
assert cross_validate(DagPosterior(Straight(), seed=1), table, folds=3, seed=1).mean > -5.0
words = new.report(sys.argv[1] + "/straight.html").read_text(encoding="utf-8")
assert "the toy score of straight lines" in words and "linear function of its causes" in words
"""

WITHOUT_THE_PACKAGE = """
import sys
from dagpost import DagPosterior, InputError
try:
    DagPosterior.load(sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the package is installed into."""
    folder = tmp_path_factory.mktemp("outside")
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-build-isolation", "--target", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", "install", *options, str(PACKAGE)], check=True, timeout=300)
    return folder


def run(arguments: list[str], folder: Path, installed: Path | None) -> subprocess.CompletedProcess[str]:
    """Run Python in a process that sees the package, or not."""
    paths = [*([] if installed is None else [str(installed)]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, installed: Path) -> Path:
    """The files that the package's objects leave."""
    folder = tmp_path_factory.mktemp("made")
    result = run(["-c", BY_OBJECT, str(folder)], folder, installed)
    assert result.returncode == 0, result.stderr
    return folder


def test_objects_of_another_package_are_fitted_sampled_saved_loaded_and_reported(made: Path) -> None:
    assert sorted(file.name for file in made.glob("*.html")) == ["chain.html", "empty.html", "model.html"]


def test_a_new_kind_of_score_answers_everything_with_two_files(tmp_path: Path, installed: Path) -> None:
    result = run(["-c", NEW_KIND, str(tmp_path)], tmp_path, installed)
    assert result.returncode == 0, result.stderr


def test_a_file_made_with_another_package_says_which_one_is_missing(made: Path) -> None:
    result = run(["-c", WITHOUT_THE_PACKAGE, str(made / "chain.dagpost")], made, None)
    assert result.returncode == 0, result.stderr
    assert "toypost" in result.stdout
    assert "Install" in result.stdout


@pytest.mark.parametrize(
    ("method", "kind", "words"),
    [
        pytest.param("auto", None, "exact", marks=pytest.mark.long),
        pytest.param(
            *("toy-chain:chains=2,burn_in=200", "ToyChain", "estimated from graphs by toy-chain"),
            marks=pytest.mark.long,
        ),
        pytest.param("empty-graphs", "EmptyGraphs", "the graph without edges only", marks=pytest.mark.long),
    ],
    ids=lambda value: str(value).partition(":")[0],
)
def test_the_command_line_knows_them_by_name(
    tmp_path: Path, installed: Path, method: str, kind: str | None, words: str
) -> None:
    datasets.load("coronary").to_pandas().to_csv(tmp_path / "table.csv", index=False)

    def dagpost(*arguments: str) -> str:
        result = run(["-m", "dagpost.cli", *arguments], tmp_path, installed)
        assert result.returncode == 0, result.stderr
        return result.stdout

    fit = ["fit", "table.csv", "--counts", "counts", "--max-parents", "2", "--samples", "200", "--method", method]
    shown = dagpost(*fit, *SETTINGS)
    assert words in shown.lower()
    described = json.loads(dagpost("info", "table.dagpost", "--json"))
    assert kind is None or described["method"][0]["kind"] == kind
    assert described["settings"]["score"]["kind"] == "Smoothed"
    assert described["settings"]["prior"] == {"kind": "Sparse", "package": "toypost", "cost": 0.5}
    assert "probability" not in dagpost("query", "table.dagpost", "Smoking -> Proteins", "--quiet")
    dagpost("sample", "table.dagpost", "-n", "50", "--seed", "1", "-o", "graphs.dagpost", "--quiet")
    dagpost("report", "table.dagpost", "-o", "report.html", "--quiet")
    assert "the toy score with pseudo-count 2" in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_help_lists_them(tmp_path: Path, installed: Path) -> None:
    shown = " ".join(run(["-m", "dagpost.cli", "fit", "--help"], tmp_path, installed).stdout.split())
    for name in ("smoothed", "sparse:COST", "toy-chain", "empty-graphs", "one-by-one"):
        assert name in shown
