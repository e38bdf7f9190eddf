"""How well are levels of a column predicted in rows that were held out? Beside the usual classifiers.

    python -m benchmarks.predictions [NAME ...] [--score auto bge ...] [--folds 10] [--folder FOLDER] [--quick]

iris, wine, breast cancer (the ten means and the diagnosis) and diabetes (is progression above its median?) come with
scikit-learn, coronary with dagpost; Pima.tr2 (complete rows), birthwt (`low`, without the weight itself) and biopsy
(complete rows), as R has them, are looked for in FOLDER and in its folder `clinic`. Every row is held out once. Shown
are the mean log loss (probabilities within 0.001 and 0.999, divided by their sum) and the mean Brier score (squared
differences, summed over levels), and the CPU seconds of fitting and predicting. The classifiers of scikit-learn have
their default settings, the forest 300 trees; numbers are standardised, levels have an indicator each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from benchmarks.real_tables import FOLDER, table_called
from benchmarks.world_columns import Floats
from benchmarks.world_measures import table_text
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from dagpost import DagPosterior, InputError, datasets
from dagpost.cli.arguments import parse_score

LEAST = 0.001
SEED = 21


class Task(NamedTuple):
    """A table, and the column that is predicted."""

    frame: pd.DataFrame
    target: str


def _files(name: str, folder: Path) -> pd.DataFrame | None:
    files = [file for file in (folder / f"{name}.csv", folder / "clinic" / f"{name}.csv") if file.exists()]
    return pd.read_csv(files[0]) if files else None


def _birthwt(folder: Path) -> pd.DataFrame | None:
    raw = _files("birthwt", folder)
    if raw is None:
        return None
    race = raw["race"].map({1: "white", 2: "black", 3: "other"})
    levels = {name: raw[name].map({0: "no", 1: "yes"}) for name in ("low", "smoke", "ht", "ui")}
    return raw.drop(columns=["rownames", "bwt"]).assign(race=race, **levels)


def _biopsy(folder: Path) -> pd.DataFrame | None:
    raw = _files("biopsy", folder)
    return None if raw is None else raw.drop(columns=["rownames", "ID"], errors="ignore").dropna()


def _diabetes(folder: Path) -> pd.DataFrame | None:
    frame = table_called("diabetes", folder)
    assert frame is not None
    return frame.assign(target=np.where(frame["target"] > frame["target"].median(), "high", "low"))


def _iris(_: Path) -> pd.DataFrame:
    from sklearn.datasets import load_iris

    found = load_iris(as_frame=True)
    frame: pd.DataFrame = found.frame
    return frame.assign(target=np.array(found.target_names)[frame["target"]])


def _coronary(_: Path) -> pd.DataFrame:
    table = datasets.load("coronary")
    frame: pd.DataFrame = table.to_pandas()[list(table.names)]
    return frame if table.counts is None else frame.loc[np.repeat(frame.index, table.counts)]


#: The tables, each with the column that is predicted.
TASKS: Mapping[str, tuple[str, Callable[[Path], pd.DataFrame | None]]] = {
    "iris": ("target", _iris),
    "wine": ("target", lambda folder: table_called("wine", folder)),
    "breast cancer": ("target", lambda folder: table_called("breast cancer", folder)),
    "diabetes": ("target", _diabetes),
    "coronary": ("Pressure", _coronary),
    "Pima.tr2": ("type", lambda folder: table_called("Pima.tr2", folder)),
    "birthwt": ("low", _birthwt),
    "biopsy": ("class", _biopsy),
}


def _classifiers() -> dict[str, Any]:
    return {
        "logistic regression": LogisticRegression(max_iter=5_000),
        "random forest": RandomForestClassifier(300, random_state=SEED),
        "gradient boosting": GradientBoostingClassifier(random_state=SEED),
        "Gaussian naive Bayes": GaussianNB(),
    }


def by_classifier(name: str, train: Task, rows: pd.DataFrame, levels: list[Any]) -> Floats:
    """The probabilities of a classifier of scikit-learn, (rows, levels)."""
    inputs = train.frame.drop(columns=train.target)
    shown = make_column_transformer(
        (StandardScaler(), make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")),
    )
    fitted = make_pipeline(shown, _classifiers()[name]).fit(inputs, train.frame[train.target].astype(str))
    found = pd.DataFrame(fitted.predict_proba(rows[inputs.columns]), columns=fitted.classes_)
    return found.reindex(columns=levels, fill_value=0.0).to_numpy()


def by_score(score: str, train: Task, rows: pd.DataFrame, levels: list[Any]) -> Floats:
    """The probabilities of `predict_proba`, (rows, levels)."""
    model = DagPosterior(parse_score(score, None), seed=SEED, threads=1, progress=False).fit(train.frame)
    with warnings.catch_warnings():
        # A level that is in the held-out rows alone.
        warnings.simplefilter("ignore")
        found = model.predict_proba(rows.drop(columns=train.target), target=train.target, unseen="prior")
    found.columns = found.columns.astype(str)
    return found.reindex(columns=levels, fill_value=0.0).to_numpy()


def losses(chances: Floats, truth: np.ndarray) -> tuple[Floats, Floats]:
    """The log loss and the Brier score of each row."""
    rows = np.arange(len(truth))
    clipped = np.clip(chances, LEAST, 1.0 - LEAST)
    clipped /= clipped.sum(axis=1, keepdims=True)
    there = np.zeros_like(chances)
    there[rows, truth] = 1.0
    return -np.log(clipped[rows, truth]), ((chances - there) ** 2).sum(axis=1)


def measured(task: Task, folds: int, who: Callable[[Task, pd.DataFrame, list[Any]], Floats]) -> dict[str, float]:
    """Mean losses over all rows, each held out once."""
    levels = sorted(task.frame[task.target].astype(str).unique())
    codes = task.frame[task.target].astype(str).map({level: code for code, level in enumerate(levels)}).to_numpy()
    logs, squares = np.zeros(len(codes)), np.zeros(len(codes))
    start = time.process_time()
    for train, test in StratifiedKFold(folds, shuffle=True, random_state=SEED).split(codes, codes):
        known = Task(task.frame.iloc[train].reset_index(drop=True), task.target)
        chances = who(known, task.frame.iloc[test].reset_index(drop=True), levels)
        logs[test], squares[test] = losses(chances, codes[test])
    seconds = time.process_time() - start
    return {"log loss": float(logs.mean()), "Brier": float(squares.mean()), "CPU s": seconds / folds}


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.predictions", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(TASKS)}; all, if none is named")
    parser.add_argument("--score", nargs="+", default=["auto"])
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="one table, two folds")
    options = parser.parse_args()
    if options.quick:
        options.names, options.folds = ["iris"], 2
    for name in options.names or TASKS:
        if name not in TASKS:
            parser.error(f"no table is called {name}; there are {', '.join(TASKS)}.")
        target, load = TASKS[name]
        frame = load(options.folder)
        if frame is None:
            print(f"\n{name}: there is no {name}.csv in {options.folder}")
            continue
        task = Task(frame.reset_index(drop=True), target)
        people: dict[str, Callable[[Task, pd.DataFrame, list[Any]], Floats]] = {
            f"dagpost, {score}": lambda *asked, score=score: by_score(score, *asked) for score in options.score
        }
        people |= {rival: lambda *asked, rival=rival: by_classifier(rival, *asked) for rival in _classifiers()}
        found = {}
        for who, ask in people.items():
            try:
                found[who] = measured(task, options.folds, ask)
            except InputError as error:
                print(f"\n{who} does not take {name}: {error}")
        print(f"\n{name}: {target} from {len(frame.columns) - 1} columns, {len(frame):,} rows\n")
        lines = [[who, *(f"{own[key]:.3f}" for key in ("log loss", "Brier", "CPU s"))] for who, own in found.items()]
        print(table_text(("", "log loss", "Brier", "CPU s"), lines), flush=True)


if __name__ == "__main__":
    main()
