"""What is claimed beside the tables of the paper: the guarantee, our estimators, a rival's correction.

    python -m benchmarks.paper_claims [hoeffding] [estimators] [ellis-wong]

- hoeffding: 400 samples of 4,612 graphs; how often an edge is further than 0.02 off. A histogram goes to
  benchmarks/results/hoeffding.png.
- estimators: on seven rows every way to weigh graphs, with the figures of the design notes beside.
- ellis-wong: their correction of sampled orders (2008), for comparison.

SAD is the sum of absolute differences from the exact probabilities, over all edges. Two means agree when they are
within four standard errors of their difference. The tables of data are not part of the project: without them nothing
is run. All together takes a minute or two on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict, dataclass
from math import isnan, nan, sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.ellis_wong import ellis_wong
from benchmarks.measuring import RESULTS, SHARED, machine
from benchmarks.sampled_orders import sample_orders
from scipy.special import gammaln

from dagpost import DagPosterior, read_table
from dagpost.engines import ThreadEngine
from dagpost.exact.order import forward_table
from dagpost.features import weighted_matrix
from dagpost.sampling.dags import rank_families
from dagpost.scores import local_scores

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dagpost import DagSample

    Matrix = NDArray[np.float64]

MAX_PARENTS = 5
STANDARD_ERRORS = 4.0

HOEFFDING = {"epsilon": 0.02, "delta": 0.05, "repeats": 400}
GRAPHS, RUNS = 30_000, 20
#: Mean SAD as the design notes have it: exact layers, counting and distinct weights.
DESIGN = {
    "tictactoe": (0.089, 0.0091),
    "glass": (0.030, 0.0059),
    "wine": (0.049, 0.0095),
    "housing": (0.125, 0.121),
    "syn15_m100": (0.174, 0.174),
    "syn15_m500": (0.096, 0.074),
    "syn15_m1000": (0.033, 0.0070),
}
ELLIS_WONG = ("tictactoe", "wine", "housing")
ELLIS_WONG_ORDERS, ELLIS_WONG_RUNS = 1000, 5


@dataclass(frozen=True)
class Comparison:
    """A mean over runs beside the one that was expected; `deviation` in standard errors of their difference."""

    row: str
    what: str
    mean: float
    sd: float
    runs: int
    expected: float = nan
    expected_sd: float = nan

    @property
    def deviation(self) -> float:
        """Ours less theirs, in standard errors; nan where nothing was expected."""
        spread = self.sd if isnan(self.expected_sd) else self.expected_sd
        error = sqrt((self.sd**2 + spread**2) / self.runs)
        return (self.mean - self.expected) / error if error > 0.0 else nan

    @property
    def agrees(self) -> bool | None:
        """Within four standard errors; None where nothing was expected."""
        return None if isnan(self.deviation) else abs(self.deviation) <= STANDARD_ERRORS


def compare(row: str, what: str, values: list[float], expected: float = nan, expected_sd: float = nan) -> Comparison:
    """The runs of one experiment in figures."""
    mean, sd = float(np.mean(values)), float(np.std(values, ddof=1))
    return Comparison(row, what, mean, sd, len(values), expected, expected_sd)


def counted_sad(exact: Matrix, graphs: int) -> float:
    """The mean SAD of counting independent graphs from the posterior itself, whatever draws them."""
    chances = exact[(exact > 0.0) & (exact < 1.0)]
    # The mean absolute deviation of a binomial share, by de Moivre's formula.
    above = np.floor(graphs * chances) + 1
    log_ways = gammaln(graphs + 1) - gammaln(above + 1) - gammaln(graphs - above + 1)
    logs = np.log(above) + log_ways + above * np.log(chances) + (graphs - above + 1) * np.log1p(-chances)
    return float(2.0 / graphs * np.exp(logs).sum())


def show(comparisons: list[Comparison]) -> None:
    """Print a table of means."""
    print(f"{'':<14}{'':<36}{'mean':>10}{'sd':>10}{'expected':>11}{'sd':>10}{'std errors':>12}")
    for one in comparisons:
        figures = f"{one.mean:>10.4g}{one.sd:>10.2g}"
        if not isnan(one.expected):
            spread = "" if isnan(one.expected_sd) else f"{one.expected_sd:.2g}"
            figures += f"{one.expected:>11.4g}{spread:>10}{one.deviation:>12.1f}"
            figures += "" if one.agrees else "  APART"
        print(f"{one.row:<14}{one.what:<36}{figures}")


def sad(exact: Matrix, estimate: Matrix) -> float:
    """Sum of absolute differences over all edges."""
    return float(np.abs(exact - estimate).sum())


def fitted(name: str, **settings: Any) -> DagPosterior:
    """A model of one of the paper's tables."""
    return DagPosterior(
        max_parents=MAX_PARENTS, progress=False, **{"prior": "uniform", "score": "bdeu", **settings}
    ).fit(read_table(SHARED / f"{name}.csv"))


def hoeffding(printed: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """How often the frequency of an edge is `epsilon` or more off when Hoeffding says: at most `delta` of the time."""
    epsilon, delta, repeats = HOEFFDING["epsilon"], HOEFFDING["delta"], int(HOEFFDING["repeats"])
    model = fitted("tictactoe", score="k2", prior="indegree", modularity="order")
    exact = model.edge_probabilities_.to_numpy()
    violations = np.zeros(exact.shape)
    graphs = 0
    for seed in range(repeats):
        sample = model.sample(precision=epsilon, confidence=1.0 - delta, seed=seed)
        graphs = len(sample)
        violations += np.abs(sample.edge_frequencies().to_numpy() - exact) >= epsilon
    rates = (violations / repeats)[~np.eye(len(exact), dtype=bool)]
    print(f"{repeats} samples of {graphs:,} graphs (tic-tac-toe, K2, in-degree prior, order-modular).")
    print(f"Edges off by {epsilon} or more: at most {rates.max():.4f} of the samples, {rates.mean():.5f} on average;")
    verdict = "no edge" if rates.max() <= delta else f"{int((rates > delta).sum())} EDGES"
    print(f"{verdict} above delta = {delta}; {int((rates == 0).sum())} of {len(rates)} edges never.")
    picture = draw_histogram(rates, delta, epsilon, graphs, repeats)
    print(f"Histogram: {picture or 'none, Matplotlib is not installed'}")
    return {**HOEFFDING, "graphs": graphs, "rates": rates.tolist(), "agrees": bool(rates.max() <= delta)}


def draw_histogram(rates: Matrix, delta: float, epsilon: float, graphs: int, repeats: int) -> Path | None:
    """The rates of all edges as a picture, where Matplotlib is there to draw it."""
    try:
        import matplotlib as mpl
    except ImportError:
        return None
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    steps = np.round(rates * repeats).astype(int)
    counts = np.bincount(steps)
    figure, axes = plt.subplots(figsize=(7.2, 4.0), layout="constrained")
    bars = axes.bar(np.arange(len(counts)) / repeats, counts, width=0.8 / repeats, color="#3b6ea5")
    axes.bar_label(bars, labels=[str(count) if count else "" for count in counts], padding=2, fontsize=9)
    axes.axvline(delta, color="#b3312c", linewidth=1.5)
    axes.annotate(
        f"guaranteed: at most δ = {delta}", (delta, 0.5), xycoords=("data", "axes fraction"), xytext=(-6, 0),
        textcoords="offset points", rotation=90, ha="right", va="center", color="#b3312c",
    )  # fmt: skip
    axes.set_xlim(-1.0 / repeats, 1.06 * delta)
    axes.margins(y=0.12)
    axes.set_xlabel(f"share of {repeats} samples in which the frequency of an edge is {epsilon} or more off")
    axes.set_ylabel(f"edges (of {len(rates)})")
    axes.set_title(f"Hoeffding's guarantee on tic-tac-toe, {graphs:,} graphs a sample", loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    RESULTS.mkdir(parents=True, exist_ok=True)
    target = RESULTS / "hoeffding.png"
    figure.savefig(target, dpi=150)
    plt.close(figure)
    return target


def show_counted(counted: dict[str, float], what: str) -> None:
    """Print what counting must come to on average."""
    figures = ", ".join(f"{name} {value:.4f}" for name, value in counted.items())
    print(f"\n{what}: the mean SAD that any exact sampler has: {figures}")


def edges(sample: DagSample, estimator: str = "auto") -> Matrix:
    """The weighted frequency of every edge."""
    frequencies: Matrix = sample.edge_frequencies(estimator).to_numpy()
    return frequencies


def estimators(printed: dict[str, Any]) -> dict[str, Any]:
    """Every way to weigh graphs, on seven rows; the same graphs are weighed in several ways."""
    counting, distinct = "exact layers, counting", "exact layers, distinct weights"
    ways = {
        "IW-DDS": ("linear-extensions", "iw"),
        "linear extensions on DDS": ("linear-extensions", "linear-extensions"),
        "distinct weights on DDS": ("linear-extensions", "distinct"),
        counting: ("exact-layers", "counting"),
        distinct: ("exact-layers", "distinct"),
    }
    comparisons, notes, counted = [], [], {}
    for name, figures in DESIGN.items():
        row = printed["table3_sad_structure_modular"][name]
        models = {method: fitted(name, method=method) for method in ("linear-extensions", "exact-layers")}
        exact = models["exact-layers"].edge_probabilities_.to_numpy()
        found: dict[str, list[float]] = {way: [] for way in ways}
        worth: dict[str, list[float]] = {method: [] for method in models}
        repeats = []
        for run in range(RUNS):
            samples = {method: model.sample(GRAPHS, seed=1000 + run) for method, model in models.items()}
            for way, (method, estimator) in ways.items():
                found[way].append(sad(exact, edges(samples[method], estimator)))
            for method, sample in samples.items():
                worth[method].append(sample.effective_samples)
            repeats.append(1.0 - len(samples["exact-layers"].unique()) / GRAPHS)
        expected = {
            "IW-DDS": (row["iwdds_mean"], row["iwdds_sd"]),
            counting: (figures[0],),
            distinct: (figures[1],),
        }
        of_row = [compare(name, way, values, *expected.get(way, ())) for way, values in found.items()]
        comparisons += of_row
        counted[name] = counted_sad(exact, GRAPHS)
        lowest = min(of_row, key=lambda one: one.mean).what
        note = {
            "row": name,
            "lowest": lowest,
            "effective_samples": {method: float(np.median(values)) for method, values in worth.items()},
            "repeats": float(np.mean(repeats)),
        }
        if lowest != distinct:
            beyond = np.subtract(found[distinct], found[lowest])
            note |= {"above_lowest": float(beyond.mean()), "above_lowest_sd": float(beyond.std(ddof=1))}
        notes.append(note)
    show(comparisons)
    show_counted(counted, counting)
    show_notes(notes)
    return as_data(comparisons) | {"notes": notes, "counted": counted}


def show_notes(notes: list[dict[str, Any]]) -> None:
    """Print which way is best where, and what the samples are worth."""
    print(f"\n{'':<14}{'lowest mean SAD':<34}{'repeats':>9}{'effective samples of 30,000 (median)':>40}")
    print(f"{'':<14}{'':<34}{'':>9}{'linear extensions':>20}{'exact layers':>20}")
    for note in notes:
        linear, layers = (note["effective_samples"][method] for method in ("linear-extensions", "exact-layers"))
        print(f"{note['row']:<14}{note['lowest']:<34}{note['repeats']:>9.2%}{linear:>20,.0f}{layers:>20,.0f}")
    for note in notes:
        if "above_lowest" in note:
            print(
                f"{note['row']}: distinct weights are above the lowest by {note['above_lowest']:.5f} (sd of a run "
                f"{note['above_lowest_sd']:.5f}): where nearly no graph is drawn twice they are the same as counting."
            )


def ellis_and_wong(printed: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
    """Ellis & Wong's correction (2008): for each of 1,000 orders graphs up to 95 % of its mass, 1,000 draws at most."""
    engine = ThreadEngine()
    comparisons = []
    for name in ELLIS_WONG:
        table = read_table(SHARED / f"{name}.csv")
        model = fitted(name)
        exact = model.edge_probabilities_.to_numpy()
        weights = local_scores(table, "bdeu", MAX_PARENTS, engine=engine).values
        forward, ranked = forward_table(weights, MAX_PARENTS, engine=engine), rank_families(weights, MAX_PARENTS)
        rows: dict[str, list[float]] = {
            what: []
            for what in ("SAD", "mass covered (Delta)", "draws", "distinct graphs", "orders cut short", "seconds")
        }
        for run in range(ELLIS_WONG_RUNS):
            started = time.perf_counter()
            orders = sample_orders(forward, ELLIS_WONG_ORDERS, seed=np.random.SeedSequence(run), engine=engine)
            found = ellis_wong(ranked, orders, seed=run, engine=engine)
            seconds = time.perf_counter() - started
            covered = float(np.exp(found.log_joint - model.log_evidence_).sum())
            estimate = weighted_matrix("->", found.parents, found.weights)
            figures = (sad(exact, estimate), covered, found.draws, len(found.parents), found.cut_short, seconds)
            for values, value in zip(rows.values(), figures, strict=True):
                values.append(float(value))
        comparisons += [compare(name, f"Ellis & Wong, {what}", values) for what, values in rows.items()]
    show(comparisons)
    return as_data(comparisons)


def as_data(comparisons: list[Comparison]) -> dict[str, Any]:
    """Comparisons as JSON can hold them."""
    rows = []
    for one in comparisons:
        row = {**asdict(one), "deviation": one.deviation, "agrees": one.agrees}
        rows.append({key: None if isinstance(value, float) and isnan(value) else value for key, value in row.items()})
    return {"rows": rows, "agrees": all(one.agrees is not False for one in comparisons)}


EXPERIMENTS = {
    "hoeffding": hoeffding,
    "estimators": estimators,
    "ellis-wong": ellis_and_wong,
}


def run(names: list[str], output: Path) -> bool:
    """Run the experiments of these names (none: all) and write what they find; False where something disagrees."""
    if not SHARED.exists():
        print(f"Skipped: the tables of the paper are not at {SHARED}.")
        return True
    printed = json.loads((SHARED.parent / "paper_tables.json").read_text())
    results: dict[str, Any] = {"machine": machine()}
    for name in names or EXPERIMENTS:
        experiment = EXPERIMENTS[name]
        print(f"\n=== {name}: {(experiment.__doc__ or '').splitlines()[0]}\n")
        started = time.perf_counter()
        results[name] = experiment(printed)
        results[name]["seconds"] = time.perf_counter() - started
        agrees = "all within the limits" if results[name].get("agrees", True) else "NOT ALL within the limits"
        print(f"\n{agrees}; {results[name]['seconds']:.0f} s")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(json.dumps(results, indent=1) + "\n")
    print(f"Written to {output}")
    return all(result.get("agrees", True) for name, result in results.items() if name != "machine")


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.paper_claims", description=(__doc__ or "").split("\n")[0]
    )
    parser.add_argument("experiments", nargs="*", help=f"of {', '.join(EXPERIMENTS)}; none: all")
    parser.add_argument("--output", type=Path, default=RESULTS / "paper_claims.json", help="where the JSON goes")
    options = parser.parse_args()
    unknown = set(options.experiments) - set(EXPERIMENTS)
    if unknown:
        parser.error(f"no experiment {', '.join(sorted(unknown))}; there are {', '.join(EXPERIMENTS)}")
    sys.exit(0 if run(options.experiments, options.output) else 1)


if __name__ == "__main__":
    main()
