"""How fast do chains over latent numbers forget where they were, and which moves of whole columns make them?

    python -m benchmarks.latent_mixing [--columns 6] [--sweeps 400] [--rows 200 2000] [--levels 2 5] [--slopes 0.3 0.9]

A chain of Gaussian columns, neighbours with the given correlation, each cut into levels at random borders; chains over
latent tables with exact sums over all graphs, as `fit` runs them (latent Gaussian score, three parents). Printed, for
cells alone and with moves of whole columns: the smallest effective size, for each 1,000 sweeps, of the edges (their
probabilities given the latent table), of the borders between levels (standardised) and of the latent correlations; the
largest R-hat of the edges over four chains; and CPU milliseconds of a round of the cells.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import numpy as np
from numpy.typing import NDArray

from dagpost import LatentGaussian
from dagpost._tools.progress import NO_PROGRESS
from dagpost.data import as_table
from dagpost.data.table import Table
from dagpost.engines.inline import InlineEngine
from dagpost.mcmc.augmentation import members_of_masks
from dagpost.mcmc.number_series import averages_of
from dagpost.posterior.exact_workspace import ExactWorkspace
from dagpost.scores.latent_completion import LatentCompleter
from dagpost.scores.latent_moves import MOVES

Floats = NDArray[np.float64]
SEED = 2036
CHAINS, BURN_IN, MAX_PARENTS = 4, 100, 3
GO_ON = np.zeros(1, dtype=np.int64)
CHOICES: tuple[tuple[str, ...], ...] = ((), ("place", "width"), ("place", "width", "tails"), MOVES)


def table_of(columns: int, rows: int, levels: int, slope: float) -> Table:
    """A chain of columns, each cut into levels at random borders."""
    generator = np.random.default_rng([SEED, columns, rows, levels])
    values = generator.standard_normal((rows, columns))
    for column in range(1, columns):
        values[:, column] = slope * values[:, column - 1] + np.sqrt(1 - slope**2) * values[:, column]
    for column in range(columns):
        shares = np.sort(generator.dirichlet(np.full(levels, 4.0)).cumsum()[:-1])
        values[:, column] = np.searchsorted(np.quantile(values[:, column], shares), values[:, column])
    return as_table(values.astype(np.int64))


def borders_of(table: Table, values: Floats) -> Floats:
    """The middles between neighbouring levels, in deviations from the mean of the column."""
    found = []
    for ranks, numbers in zip(table.ranks, values.T, strict=True):
        assert ranks is not None
        for rank in range(int(ranks.max())):
            middle = (numbers[ranks == rank].max() + numbers[ranks == rank + 1].min()) / 2
            found.append((middle - numbers.mean()) / numbers.std())
    return np.array(found)


def run(table: Table, moves: tuple[str, ...], sweeps: int, rounds: int) -> tuple[list[Floats], float]:
    """Series (chains, sweeps, ...) of edges, borders and correlations; CPU seconds of a round."""
    score, nodes = LatentGaussian(), len(table.names)
    latent = score.modelled(table)
    completer = LatentCompleter(score.coefficient_prior(), latent)
    completer.moves = np.array([move in moves for move in MOVES])
    rescore = score.rescorer(latent, MAX_PARENTS, 1)
    series: list[list[list[Floats]]] = [[], [], []]
    spent = 0.0
    for chain in range(CHAINS):
        generator = np.random.default_rng([SEED, chain])
        cells = completer.begin(generator)
        for own in series:
            own.append([])
        for sweep in range(BURN_IN + sweeps):
            workspace = ExactWorkspace(rescore(cells), MAX_PARENTS, InlineEngine(), NO_PROGRESS)
            parents, _, _ = workspace.draw_layers(1, np.random.SeedSequence(int(generator.integers(2**63))))
            if sweep >= BURN_IN:
                values = latent.filled(cells).values()
                series[0][-1].append(workspace.summed("structure").edges.ravel())
                series[1][-1].append(borders_of(latent, values))
                series[2][-1].append(np.corrcoef(values.T)[np.triu_indices(nodes, 1)])
            families = members_of_masks(parents[-1].astype(np.uint64).reshape(nodes, -1), MAX_PARENTS)
            start = time.process_time()
            for _ in range(rounds):
                completer.redraw(cells, families, generator, GO_ON)
            spent += time.process_time() - start
    return [np.array(own) for own in series], spent / CHAINS / (BURN_IN + sweeps) / rounds


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--sweeps", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+", default=[200, 2000])
    parser.add_argument("--levels", type=int, nargs="+", default=[2, 5])
    parser.add_argument("--all-moves", action="store_true", help="only with all moves")
    parser.add_argument("--slopes", type=float, nargs="+", default=[0.3, 0.9])
    options = parser.parse_args()
    print("rows levels slope moves: effective sizes of edges, borders, correlations; R-hat of edges; ms a round")
    for rows, levels, slope in product(options.rows, options.levels, options.slopes):
        table = table_of(options.columns, rows, levels, slope)
        for moves in CHOICES[-1:] if options.all_moves else CHOICES:
            series, seconds = run(table, moves, options.sweeps, options.rounds)
            varying = series[0][:, :, series[0].std(axis=(0, 1)) > 1e-3]
            found = [averages_of(own) for own in (varying, *series[1:])]
            sizes = [1000 * np.nanmin(own.effective, initial=np.inf) / CHAINS / options.sweeps for own in found]
            print(
                f"{rows:5} {levels} {slope} {'+'.join(moves) or 'cells alone':32} "
                + " ".join(f"{size:7.1f}" for size in sizes)
                + f"  {np.nanmax(found[0].r_hats, initial=1.0):.3f}  {1e3 * seconds:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
