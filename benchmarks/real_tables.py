"""What do scores make of real tables? Pairs that any of them joins, and which way they point, score beside score.

    python -m benchmarks.real_tables [NAME ...] [--score additive bge ...] [--folder FOLDER] [--quick]

diabetes, wine and breast cancer (the ten means and the diagnosis) come with scikit-learn. birthwt (without `low`, which
is cut from the weight) and Pima.tr2 (complete rows) as R has them, clgaussian as bnlearn has it and ksl as deal has it
are looked for in FOLDER and in its folder `clinic`. Scores are written as for `dagpost fit`; a score with `/4` after it
sees numbers cut into four levels. A cell has the probability of being joined, and an arrow if the direction is clear.
Of the CPU seconds, the first table of a run has those of loading kernels.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.world_fits import Settings, measured
from benchmarks.world_measures import JOINED, Answer, answer_of, table_text

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "real"
SCORES = ["additive", "bge", "conditional-gaussian", "bdeu:equivalent_sample_size=5/4", "latent-gaussian"]
MAX_PARENTS = 4


def _from_scikit_learn(name: str) -> pd.DataFrame:
    from sklearn import datasets

    found = getattr(datasets, f"load_{name.replace(' ', '_')}")(as_frame=True)
    frame: pd.DataFrame = found.frame
    if name == "breast cancer":
        frame = frame[[column for column in frame if column == "target" or str(column).startswith("mean ")]]
    if "target_names" in found:
        frame = frame.assign(target=np.array(found.target_names)[frame["target"]])
    return frame


def _birthwt(frame: pd.DataFrame) -> pd.DataFrame:
    races = frame["race"].map({1: "white", 2: "black", 3: "other"})
    return frame.drop(columns=["rownames", "low"]).assign(race=races)


def _pima(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop(columns="rownames").dropna()


#: Tables in files, and what is done with them.
FILES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "birthwt": _birthwt,
    "Pima.tr2": _pima,
    "clgaussian": lambda frame: frame,
    "ksl": lambda frame: frame,
}
OURS = "diabetes", "wine", "breast cancer"


def table_called(name: str, folder: Path) -> pd.DataFrame | None:
    """A table, or none where its file is not there."""
    if name in OURS:
        return _from_scikit_learn(name)
    files = [file for file in (folder / f"{name}.csv", folder / "clinic" / f"{name}.csv") if file.exists()]
    return FILES[name](pd.read_csv(files[0])) if files else None


def answered(frame: pd.DataFrame, score: str) -> dict[str, Any]:
    """What a score says, in how many CPU seconds, or why it does not take the table."""
    text, _, bins = score.partition("/")
    settings = Settings(text, "auto", int(bins) if bins else None, MAX_PARENTS, 4_000)
    return measured(lambda: {"answer": answer_of(settings.fit(frame), list(frame.columns))})


def shown(answer: Answer | None, first: int, second: int) -> str:
    """The cell of a pair."""
    if answer is None:
        return ""
    clear = answer.clear
    arrow = " →" if clear[first, second] else " ←" if clear[second, first] else ""
    return f"{answer.joined[first, second]:.2f}{arrow}"


def show(name: str, frame: pd.DataFrame, scores: list[str]) -> None:
    """Pairs that any score joins with 0.5 or more, those first of which the first score is surest."""
    found = {score: answered(frame, score) for score in scores}
    answers = {score: own.get("answer") for score, own in found.items()}
    taken = [own for own in answers.values() if own is not None]
    print(f"\n{name}: {len(frame):,} rows, {len(frame.columns)} columns\n")
    pairs = [
        pair for pair in combinations(range(len(frame.columns)), 2) if any(a.joined[pair] >= JOINED for a in taken)
    ]
    pairs.sort(key=lambda pair: [-a.joined[pair] for a in taken])
    lines = [
        [f"{frame.columns[a]} – {frame.columns[b]}", *(shown(own, a, b) for own in answers.values())] for a, b in pairs
    ]
    joined = ["" if own is None else str(int((own.joined >= JOINED).sum()) // 2) for own in answers.values()]
    clear = ["" if own is None else str(int(own.clear.sum())) for own in answers.values()]
    seconds = [f"{own['cpu_seconds']:.1f}" if "cpu_seconds" in own else "" for own in found.values()]
    lines += [["**joined**", *joined], ["**clear directions**", *clear], ["**CPU s**", *seconds]]
    print(table_text(("pair", *scores), lines))
    for score, own in found.items():
        if "refused" in own:
            print(f"\n{score} does not take it: {own['refused']}")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.real_tables", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join([*OURS, *FILES])}; all, if none is named")
    parser.add_argument("--score", nargs="+", default=SCORES)
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--quick", action="store_true", help="one table, without chains")
    options = parser.parse_args()
    if options.quick:
        options.names, options.score = ["diabetes"], options.score[:2]
    for name in options.names or [*OURS, *FILES]:
        if name not in OURS and name not in FILES:
            parser.error(f"no table is called {name}; there are {', '.join([*OURS, *FILES])}.")
        frame = table_called(name, options.folder)
        if frame is None:
            print(f"\n{name}: there is no {name}.csv in {options.folder}")
        else:
            show(name, frame, options.score)


if __name__ == "__main__":
    main()
