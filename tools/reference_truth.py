"""Write the exact posteriors of the reference cases, or check those that stand.

    python -m tools.reference_truth                  # compute all cases anew and write them
    python -m tools.reference_truth wine coronary    # only these
    python -m tools.reference_truth --missing        # only those that have none, or one of another table or model
    python -m tools.reference_truth --check          # compute, write nothing, and say what differs

How they are computed is said in exact_truth.py, in which form they are kept in src/dagpost/reference/truth_files.py.
A probability may differ from the one that stands by 1e-9, or by what rounding may have done to it where that is more:
processors add in different orders. A case of 22 columns takes minutes.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tools.exact_truth import exact_truth

from dagpost._tools.whole_files import replacing
from dagpost.reference.case import Case
from dagpost.reference.cases import CASES
from dagpost.reference.truth import Truth
from dagpost.reference.truth_files import ABOUT, csv_bytes, fixed, kept_cases, read_truth

FOLDER = Path(__file__).resolve().parents[1] / "src" / "dagpost" / "reference" / "truths"
TOLERANCE = 1e-9


def differences(stands: Truth, found: Truth) -> list[str]:
    """What differs between two posteriors of one case, in words; none where they agree."""
    tolerance = max(TOLERANCE, found.error_bound)
    pairs = [(what, getattr(stands, what).to_numpy(), getattr(found, what).to_numpy()) for what in ("edges", "paths")]
    said = [
        f"{what}: up to {float(np.abs(old - new).max()):.2g}"
        for what, old, new in pairs
        if np.abs(old - new).max() > tolerance
    ]
    if abs(stands.log_evidence - found.log_evidence) > tolerance * max(1.0, abs(found.log_evidence)):
        said.append(f"log evidence: {stands.log_evidence!r}, now {found.log_evidence!r}")
    said += _rows_that_differ("families", ["node", "parents"], stands.families, found.families, tolerance)
    said += _rows_that_differ("classes", ["class", "graphs"], stands.classes, found.classes, tolerance)
    return said


def _rows_that_differ(
    what: str, keys: list[str], stands: pd.DataFrame, found: pd.DataFrame, tolerance: float
) -> list[str]:
    """Rows that only one of two tables has, except where they are the last of their kind, and those that differ."""
    both = stands.merge(found, on=keys, how="outer", suffixes=("_stands", "_found"), indicator=True)
    gap = (both["probability_stands"] - both["probability_found"]).abs()
    # The least probable rows of a list may change places with others as probable.
    least = min(stands["probability"].min(), found["probability"].min()) + 10 * tolerance if len(both) else 0.0
    single = both[(both["_merge"] != "both") & (both["probability_stands"].fillna(both["probability_found"]) > least)]
    said = [f"{what}: {len(single)} are in one of them only"] if len(single) else []
    if (gap > tolerance).any():
        said.append(f"{what}: up to {float(gap.max()):.2g}, at {both[keys].iloc[int(gap.argmax())].to_list()}")
    return said


# Writing


def write_truth(case: Case, truth: Truth, folder: Path) -> None:
    """Write the posterior of a case, and its row in cases.csv; that row comes last, so that it stands for all files."""
    folder.mkdir(parents=True, exist_ok=True)
    known = kept_cases(folder)
    known.pop(case.name, None)
    _write_cases(known, folder)
    for file, content in contents(case.name, truth).items():
        with replacing(folder / file) as out:
            out.write(content)
    values = (
        case.columns,
        case.rows,
        case.fingerprint,
        repr(case.score),
        case.max_parents,
        repr(truth.log_evidence),
        f"{truth.error_bound:.1e}",
        truth.classes_bound,
    )
    known[case.name] = {key: str(value) for key, value in zip(ABOUT, values, strict=True)}
    _write_cases(known, folder)


def contents(name: str, truth: Truth) -> dict[str, bytes]:
    """The files of one case by their names."""
    pairs = (
        (parent, child, fixed(truth.edges.loc[parent, child], 12), fixed(truth.paths.loc[parent, child], 12))
        for parent in truth.names
        for child in truth.names
        if parent != child
    )
    families = ((node, parents, fixed(p, 9)) for node, parents, p in truth.families.itertuples(index=False))
    classes = ((text, graphs, _short(p)) for text, graphs, p in truth.classes.itertuples(index=False))
    return {
        f"{name}.csv": csv_bytes(("from", "to", "edge", "path"), pairs),
        f"{name}.families.csv.gz": packed(csv_bytes(("node", "parents", "probability"), families)),
        f"{name}.classes.csv.gz": packed(csv_bytes(("class", "graphs", "probability"), classes)),
    }


def _write_cases(known: Mapping[str, Mapping[str, str]], folder: Path) -> None:
    rows = ((name, *(about[key] for key in ABOUT)) for name, about in sorted(known.items()))
    with replacing(folder / "cases.csv") as out:
        out.write(csv_bytes(("case", *ABOUT), rows))


def _short(value: Any) -> str:
    """A probability with 12 decimals; what these do not show, with three digits."""
    return fixed(value, 12) if value >= 1e-9 else f"{value:.3g}"


def packed(content: bytes) -> bytes:
    """Compressed, the same bytes at any time."""
    return gzip.compress(content, compresslevel=9, mtime=0)


# The command


def chosen(names: list[str], missing: bool) -> list[Case]:
    """The cases to compute."""
    cases = [CASES[name] for name in names] if names else list(CASES.values())
    known = kept_cases(FOLDER)
    return [case for case in cases if not (missing and _stands(case, known.get(case.name, {})))]


def _stands(case: Case, about: dict[str, str]) -> bool:
    """Whether the posterior that is kept belongs to this table and this model."""
    kept = about.get("fingerprint"), about.get("score"), about.get("max_parents")
    return kept == (case.fingerprint, repr(case.score), str(case.max_parents))


def say(line: str) -> None:
    """A line at once: the next one may take minutes."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> int:
    """Compute, then write or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", nargs="*", choices=[[], *CASES], metavar="CASE", help="names of cases; all if none")
    parser.add_argument("--check", action="store_true", help="write nothing, and say what differs")
    parser.add_argument("--missing", action="store_true", help="only cases that have no posterior of their own")
    options = parser.parse_args()
    wrong = 0
    for case in chosen(options.case, options.missing):
        started = time.perf_counter()
        found = exact_truth(case)
        seconds = time.perf_counter() - started
        size = sum(map(len, contents(case.name, found).values()))
        left, bound = found.families_left_out.max(), found.classes_bound
        say(f"{case.name}: {seconds:.1f} s, {size / 1000:.1f} kB, error at most {found.error_bound:.1e}; {found!r}")
        say(f"    families left out: at most {left:.2g} of a node; classes from {bound:.2g} on")
        if options.check:
            said = differences(read_truth(case, FOLDER), found)
            wrong += bool(said)
            for one in said:
                say(f"    DIFFERS: {one}")
        else:
            write_truth(case, found, FOLDER)
    if not options.check:
        for name in sorted(kept_cases(FOLDER).keys() - CASES.keys()):
            say(f"{name} is not a case any more: remove its files, and its row in cases.csv")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
