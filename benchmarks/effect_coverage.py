"""Do intervals of effects hold the truth as often as they say, and is there no effect as often as it is said?

    python -m benchmarks.effect_coverage                                     all worlds, 400 tables each
    python -m benchmarks.effect_coverage --worlds numbers --tables 2000      one of them

Resumes where it stopped: the results of each table are a line in benchmarks/results/effect-coverage-WORLD.jsonl.

A graph is drawn from the prior, its parameters from the prior of the score, and a table from both; then a cause and an
outcome are chosen by chance, and the effect, its direct part and the part through another column are compared with
those of the network that made the rows. A posterior is right in the strict sense where the truth has a uniform rank
among its draws, ties at zero broken by chance: shares of ranks in the middle are then as large as they say, however few
the rows. Where there truly is a path, the same is asked of the posterior given a path. `interval` is what
`Effect.interval()` gives: where it ends at zero it holds all of zero's probability, so it covers at least as often.
"""

from __future__ import annotations

import argparse
import json
import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

import numpy as np
from benchmarks.measuring import RESULTS
from scipy import stats
from tests.naive import effects as networks
from tests.naive.causal import has_path
from tests.naive.effect_worlds import NAMES, prior_of, table_from, world_from_prior

from dagpost import BDeu, BGe, ConditionalGaussian, DagPosterior, Table

SEED = 2041
LEVELS = (0.5, 0.8, 0.95)
DRAWS = 2_000
SIZE = 4.0


@dataclass(frozen=True)
class World:
    """Levels of the columns (0: numbers), rows of a table, and the score that it is fitted with."""

    arities: tuple[int, ...]
    rows: int
    score: Any


WORLDS = {
    "levels": World((2, 3, 2, 2), 60, BDeu(SIZE)),
    "numbers": World((0, 0, 0, 0), 30, BGe(prior_mean=0.0, prior_scale=1.0)),
    "both": World((2, 3, 0, 0), 60, ConditionalGaussian(SIZE, prior_mean=0.0, prior_scale=1.0)),
}


@dataclass
class Found:
    """Of one table: ranks of the truth by what was asked, whether intervals hold it, and P(no effect)."""

    ranks: dict[str, float] = field(default_factory=dict)
    held: dict[str, list[bool]] = field(default_factory=dict)
    widths: dict[str, float] = field(default_factory=dict)
    no_effect: float = math.nan
    none_truly: bool = False

    def add(self, what: str, samples: np.ndarray, truth: float, rng: np.random.Generator, interval: Any) -> None:
        """Where the truth stands among some draws, and in the intervals of a part."""
        below, equal = int((samples < truth).sum()), int((samples == truth).sum())
        self.ranks[what] = (below + rng.random() * (equal + 1)) / (len(samples) + 1)
        intervals = [interval(confidence) for confidence in LEVELS]
        self.held[what] = [bool(lower <= truth <= upper) for lower, upper in intervals]
        self.widths[what] = float(intervals[-1][1] - intervals[-1][0])


@dataclass(frozen=True)
class PlainTruth:
    """The columns are those of the network."""

    network: networks.Network
    table: Table

    def total(self, x: int, y: int, values: tuple[float, float], level: int) -> float:
        """As naive code has it."""
        first, second = (networks.distribution(self.network, y, {x: value}) for value in values)
        return float((first - second)[level])

    def direct(self, x: int, y: int, values: tuple[float, float], level: int) -> float:
        """As naive code has it."""
        return float(networks.direct(self.network, x, y, values)[level])

    def through(self, x: int, y: int, m: int, values: tuple[float, float], level: int) -> float:
        """As naive code has it."""
        return float(networks.through(self.network, x, y, m, values)[level])


def drawn_truth(world: World, rng: np.random.Generator) -> PlainTruth:
    """A network from the prior, and a table from it."""
    network = world_from_prior(world.arities, prior_of(world.arities, SIZE), rng)
    return PlainTruth(network, table_from(network, world.rows, rng))


def fitted(world: World, table: Table, seed: int) -> DagPosterior:
    """The model that is asked."""
    return DagPosterior(
        world.score, prior="uniform", max_parents=3, samples=30_000, seed=seed, threads=1, progress=False
    ).fit(table)


def outcome(world: World, number: int) -> Found:
    """Draw a world and a table, fit it, and look where the truth stands."""
    rng = np.random.default_rng([SEED, number, *world.arities])
    truth = drawn_truth(world, rng)
    x, y, m = possible_columns(world, rng)
    values = (1.0, 0.0)
    level = None if not world.arities[y] else world.arities[y] - 1
    code = level or 0
    model = fitted(world, truth.table, number)
    found = Found()

    def ask(given: str | None = None) -> Any:
        return model.effect(NAMES[x], NAMES[y], do=values, outcome_level=level, given=given, draws=DRAWS, seed=number)

    graph, effect = truth.network.graph, ask()
    total = direct = through = 0.0
    if has_path(graph, x, y):
        total, direct = truth.total(x, y, values, code), truth.direct(x, y, values, code)
        given = ask(f"{NAMES[x]} ~> {NAMES[y]}")
        found.add("total, given a path", given.samples, total, rng, given.interval)
    if has_path(graph, x, m) and has_path(graph, m, y):
        through = truth.through(x, y, m, values, code)
    found.no_effect, found.none_truly = effect.zero_probability, not has_path(graph, x, y)
    found.add("total", effect.samples, total, rng, effect.interval)
    found.add("direct", effect.direct.samples, direct, rng, effect.direct.interval)
    for own in effect.through:
        if own.through == NAMES[m]:
            found.add("through", own.samples, through, rng, own.interval)
    if graph[y] >> x & 1:
        given = ask(f"{NAMES[x]} -> {NAMES[y]}")
        found.add("direct, given an edge", given.direct.samples, direct, rng, given.direct.interval)
    return found


def possible_columns(world: World, rng: np.random.Generator) -> tuple[int, int, int]:
    """Cause, outcome and another column between them; no number leads to levels."""
    arities = world.arities
    while True:
        x, y, m = (int(node) for node in rng.permutation(len(arities))[:3])
        if all(arities[later] == 0 or arities[earlier] for earlier, later in ((x, m), (m, y))):
            return x, y, m


def run(name: str, tables: int, make: Callable[[int], Found], file_name: str) -> list[Found]:
    """The results of all tables; those that are in the file already are read, the others added to it."""
    path = RESULTS / f"{file_name}-{name.replace(' ', '-')}.jsonl"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    found = [Found(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()][:tables]
    for number in range(len(found), tables):
        found.append(make(number))
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(found[-1])) + "\n")
    return found


def show(name: str, found: Sequence[Found]) -> None:
    """Rates with standard errors, a test of the ranks, and whether "no effect" is right."""
    print(f"\n{name}: {len(found)} tables")
    head = "".join(f"{100 * level:>14.0f}%" for level in LEVELS)
    print(f"{'ranks in the middle':<24}{'tables':>7}{head}{'uniform, p':>12}")
    for what in sorted({key for own in found for key in own.ranks}):
        ranks = np.array([own.ranks[what] for own in found if what in own.ranks])
        rates = [float((np.abs(ranks - 0.5) <= level / 2).mean()) for level in LEVELS]
        cells = "".join(f"{100 * rate:>8.1f} ± {_error(rate, len(ranks)):>3.1f}" for rate in rates)
        print(f"{what:<24}{len(ranks):>7}{cells}{stats.kstest(ranks, 'uniform').pvalue:>12.3f}")
    print(f"{'interval':<24}{'tables':>7}{head}{'width 95%':>12}")
    for what in sorted({key for own in found for key in own.held}):
        held = np.array([own.held[what] for own in found if what in own.held])
        cells = "".join(f"{100 * rate:>8.1f} ± {_error(rate, len(held)):>3.1f}" for rate in held.mean(axis=0))
        width = np.median([own.widths[what] for own in found if what in own.widths])
        print(f"{what:<24}{len(held):>7}{cells}{width:>12.3g}")
    _show_no_effect(found)


def _error(rate: float, count: int) -> float:
    """The standard error of a rate, in per cent."""
    return 100 * math.sqrt(max(rate * (1 - rate), 0.25 / count) / count)


def _show_no_effect(found: Sequence[Found]) -> None:
    """P(no effect) in five bins beside how often there was none, and the loss of saying so beside that of the rate."""
    said = np.array([own.no_effect for own in found])
    true = np.array([own.none_truly for own in found])
    loss = -np.mean(np.log(np.clip(np.where(true, said, 1 - said), 1e-12, 1)))
    # What the loss would be on average if every probability were right.
    bounded = np.clip(said, 1e-12, 1 - 1e-12)
    own = np.mean(-bounded * np.log(bounded) - (1 - bounded) * np.log(1 - bounded))
    print(f"no effect: log loss {loss:.3f}, {own:.3f} expected of right probabilities")
    for low in np.arange(0.0, 1.0, 0.2):
        chosen = (said >= low) & ((said < low + 0.2) | (low > 0.7))
        if chosen.any():
            rate = float(true[chosen].mean())
            print(
                f"  said {low:.1f} to {low + 0.2:.1f}: {chosen.sum():>5} tables, mean {said[chosen].mean():.3f}, "
                f"true {rate:.3f} ± {_error(rate, int(chosen.sum())) / 100:.3f}"
            )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=400)
    parser.add_argument("--worlds", nargs="+", choices=[*WORLDS], default=[*WORLDS])
    options = parser.parse_args()
    for name in options.worlds:
        start = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = run(name, options.tables, partial(outcome, WORLDS[name]), "effect-coverage")
        show(name, found)
        print(f"CPU seconds: {time.process_time() - start:.0f}")


if __name__ == "__main__":
    main()
