"""How far off are our own methods? Each of them on the reference cases, scored against the exact posterior.

    python -m benchmarks.reference_methods [--cases coronary,wine] [--methods dds,kbest] [--runs 3] [--quick] [--fresh]
    python -m benchmarks.reference_methods --paper

Every method draws the same number of graphs, 10,000, with its usual settings, from one seed a run; K-best lists 1,000
graphs and the bootstrap searches 200 resampled tables. `reference.score` scores what these graphs say, not the exact
numbers that a model has beside them. Time is that of the processor, all threads together, for scoring the table,
fitting and drawing, after a short first run that loads compiled code; it includes what our models check besides, such
as chains against exact sums. Methods that aim at something else than the posterior of the cases cannot reach
it, and the table says at what.

`--paper`: IW-DDS as in He, Tian & Wu (2016), 20 runs of 30,000 graphs on the two rows of their Table 3 that come with
dagpost; the mean SAD must be within four standard errors of the printed one.

Written to FOLDER (`--output`, benchmarks/results/reference) as methods.md or paper.md and runs.jsonl. Finished runs are
written down: the same command goes on where it was stopped, unless `--fresh`. All of it takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import floor, isinf, log10, nan, sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from benchmarks.journal import Journal
from benchmarks.measuring import CORES, RESULTS, machine

from dagpost import __version__, reference
from dagpost.errors import DagpostWarning
from dagpost.methods.base import Method
from dagpost.methods.bootstrap import Bootstrap
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import STRUCTURE
from dagpost.posterior.sample import DagSample
from dagpost.reference import Case
from dagpost.reference.pair_distances import draws_worth

#: For tables with gaps, which no case has.
LEFT_OUT = ("augmentation",)
DEFAULT_CASES = (
    *("coronary", "ring-6", "hamming-7", "gaussian-10-few", "copies-10"),
    *("mixed-12", "wine", "tree-15", "gaussian-20-sparse"),
)
STANDARD_ERRORS = 4.0
#: Mean and standard deviation of the SAD of IW-DDS over 20 runs: Table 3 of He, Tian & Wu (2016).
PRINTED = {"tic-tac-toe": (0.0227, 0.0102), "wine": (0.1041, 0.0075)}
PRINTED_RUNS, PRINTED_GRAPHS = 20, 30_000


@dataclass(frozen=True)
class Effort:
    """How many graphs a run has, by the kind of method."""

    graphs: int = 10_000
    listed: int = 1_000
    replicates: int = 200

    def of(self, method: Method) -> int:
        """How many graphs this method gives."""
        fewer = {"kbest": self.listed, "bootstrap": self.replicates}
        return fewer.get(method.name, self.graphs)


QUICK = Effort(graphs=500, listed=50, replicates=20)


def chosen_methods(effort: Effort) -> dict[str, Method]:
    """Every method with its usual settings, by its name."""
    ours = {
        name: kind
        for name, kind in METHODS.classes().items()
        if kind.__module__.startswith("dagpost.") and name not in LEFT_OUT
    }
    return {name: Bootstrap(effort.replicates) if kind is Bootstrap else kind() for name, kind in ours.items()}


def drawn(case: Case, method: Method, graphs: int, seed: int) -> DagSample:
    """Graphs that a method finds in a case."""
    model = case.model(method=method, modularity=method.modularity or "structure", seed=seed, progress=False)
    return model.fit(case.table).sample(graphs, seed=seed)


def row_of(case: Case) -> str:
    """What the journal calls a case: runs on an earlier form of its table do not count."""
    return f"{case.name} {case.fingerprint[:12]}"


def run_method(case: Case, method: Method, graphs: int, seed: int) -> dict[str, Any]:
    """One run: how far off its graphs are, and what they took."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", DagpostWarning)
        started = time.process_time()
        sample = drawn(case, method, graphs, seed)
        seconds = time.process_time() - started
    found = reference.score(sample, case)
    assert found.families is not None
    return {
        "sad": found.edges.sad,
        "maximum": found.edges.maximum,
        "families": found.families.mean,
        "seconds": seconds,
        "warned": any(issubclass(one.category, DagpostWarning) for one in heard),
    }


def run_all(cases: Sequence[Case], methods: dict[str, Method], effort: Effort, runs: int, journal: Journal) -> None:
    """Do what has not been done."""
    for case in cases:
        for name, method in methods.items():
            # A list of the best graphs is the same each time.
            numbers = range(1 if method.draws == "listed" else runs)
            undone = [number for number in numbers if journal.find(row_of(case), name, number) is None]
            if undone:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    drawn(case, method, min(50, effort.of(method)), 0)
            for number in undone:
                journal.add(row_of(case), name, number, run_method(case, method, effort.of(method), number))
                print(f"{case.name}: {name}, run {number + 1}", file=sys.stderr, flush=True)


Runs = Sequence[dict[str, Any]]


def mean(figure: str) -> Callable[[Case, Runs], str]:
    """The mean of a figure over the runs of a method on a case, in two digits."""
    return lambda _, runs: two_digits(fmean(run[figure] for run in runs))


def sad_and_worth(case: Case, runs: Runs) -> str:
    """The mean SAD, and what that is worth: a chain that is stuck in one run is not made good by the others.

    A mark says that the model warned in one of the runs.
    """
    sad = fmean(run["sad"] for run in runs)
    worth = draws_worth(case.truth.edges.to_numpy(), sad)
    warned = " !" if any(run["warned"] for run in runs) else ""
    return f"{two_digits(sad)} ({f'{worth:.0f}' if worth < 100 else two_digits(worth)}){warned}"


def two_digits(value: float) -> str:
    """A number in two digits, never in powers of ten; what rounding leaves is 0.

    >>> two_digits(116_230.0), two_digits(0.01883), two_digits(6e-12), two_digits(float("inf"))
    ('120,000', '0.019', '0', '∞')
    """
    if isinf(value):
        return "∞"
    if value < 1e-9:
        return "0"
    decimals = 1 - floor(log10(value))
    return f"{round(value, decimals):,.{max(decimals, 0)}f}"


#: Title of a table, and its figure in the runs of a method on a case.
TABLES: tuple[tuple[str, Callable[[Case, Runs], str]], ...] = (
    ("SAD, in brackets what it is worth", sad_and_worth),
    ("The largest error of an edge", mean("maximum")),
    ("Total variation of families, mean over the columns", mean("families")),
    ("Processor seconds", mean("seconds")),
)


def aim_of(method: Method) -> str:
    """What a method comes near with many graphs."""
    target = method.target
    if target == STRUCTURE:
        return "the posterior"
    if method.modularity is not None:
        return f"another prior ({target}-modular)"
    return f"only {target.summed_over.removeprefix('all ')}" if target.posterior else "not a posterior"


def report(cases: Sequence[Case], methods: dict[str, Method], effort: Effort, runs: int, journal: Journal) -> str:
    """All figures as Markdown: a table a figure, a row a method, a column a case, means over the runs."""
    about = machine()
    lines = [
        f"{about['processor']}, {CORES} cores, dagpost {__version__}. {effort.graphs:,} graphs a run "
        f"(kbest {effort.listed:,}, bootstrap {effort.replicates:,}); means over {runs} runs. "
        "! marks methods that warned in at least one run.",
    ]
    for title, figure in TABLES:
        lines += ["", f"## {title}", "", _line(["method", "aims at", *(case.name for case in cases)])]
        lines += [_line(["---", "---", *("--:" for _ in cases)])]
        for name, method in methods.items():
            found = [(case, journal.runs(row_of(case), name)[:runs]) for case in cases]
            lines.append(_line([f"`{name}`", aim_of(method), *(figure(case, done) for case, done in found)]))
    return "\n".join([*lines, ""])


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def sad_of_iw_dds(case: Case, run: int, graphs: int = PRINTED_GRAPHS) -> float:
    """The SAD of one run of IW-DDS: the distinct graphs of DDS, weighted by their joint probability."""
    method = METHODS.classes()["iw-dds"]()
    return reference.score(drawn(case, method, graphs, run), case).edges.sad


def deviation(values: Sequence[float], printed: float, sd: float) -> float:
    """Ours less the printed mean, in standard errors of the difference."""
    own = stdev(values) if len(values) > 1 else nan
    return (fmean(values) - printed) / sqrt(own**2 / len(values) + sd**2 / PRINTED_RUNS)


def paper(runs: int, journal: Journal) -> tuple[str, bool]:
    """The rows of the paper again, as Markdown, and whether all agree."""
    lines = [_line(["case", "ours", "printed", "difference in standard errors"]), _line(["---", "--:", "--:", "--:"])]
    agree = True
    for name, (printed, sd) in PRINTED.items():
        case = reference.load(name)
        for run in range(runs):
            if journal.find(row_of(case), "iw-dds", run) is None:
                journal.add(row_of(case), "iw-dds", run, {"sad": sad_of_iw_dds(case, run)})
        values = [entry["sad"] for entry in journal.runs(row_of(case), "iw-dds")][:runs]
        z = deviation(values, printed, sd)
        agree = agree and abs(z) <= STANDARD_ERRORS
        ours = f"{fmean(values):.4f} ({stdev(values):.4f})"
        lines.append(_line([name, ours, f"{printed:.4f} ({sd:.4f})", f"{z:+.1f}"]))
    verdict = "Both agree." if agree else "APART."
    return "\n".join([*lines, "", verdict, ""]), agree


def main() -> None:
    """Command line."""
    name = "python -m benchmarks.reference_methods"
    parser = argparse.ArgumentParser(prog=name, description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--cases", help=f"names, by commas; unless given {','.join(DEFAULT_CASES)}")
    parser.add_argument("--methods", help="names, by commas; all of them unless given")
    parser.add_argument("--runs", type=int, help="runs of every method, 3 unless given; of --paper 20")
    parser.add_argument("--quick", action="store_true", help="some seconds: few graphs, two runs")
    parser.add_argument("--paper", action="store_true", help="IW-DDS beside the figures of He, Tian & Wu (2016)")
    parser.add_argument("--fresh", action="store_true", help="do not go on from an earlier run")
    parser.add_argument("--output", type=Path, default=RESULTS / "reference", help="folder for all that is written")
    options = parser.parse_args()
    if options.runs is not None and options.runs < 2:
        parser.error("a standard deviation takes at least 2 runs")
    if options.paper:
        effort = {"paper": True, "graphs": PRINTED_GRAPHS}
        text, agree = paper(
            options.runs or PRINTED_RUNS, Journal(options.output / "paper.jsonl", effort, fresh=options.fresh)
        )
        (options.output / "paper.md").write_text(text)
        print(text)
        sys.exit(0 if agree else 1)
    effort_made = QUICK if options.quick else Effort()
    methods = chosen_methods(effort_made)
    unknown = [one for one in (options.methods or "").split(",") if one and one not in methods]
    if unknown:
        parser.error(f"no method {unknown[0]!r}; there are {', '.join(methods)}")
    if options.methods:
        methods = {one: methods[one] for one in options.methods.split(",")}
    cases = [reference.load(one) for one in (options.cases.split(",") if options.cases else DEFAULT_CASES)]
    journal = Journal(options.output / "runs.jsonl", asdict(effort_made), fresh=options.fresh)
    runs = options.runs or (2 if options.quick else 3)
    run_all(cases, methods, effort_made, runs, journal)
    text = report(cases, methods, effort_made, runs, journal)
    (options.output / "methods.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
