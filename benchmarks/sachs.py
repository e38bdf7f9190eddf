"""Nine experiments on eleven proteins: which did each change, and are the known targets among them?

    python -m benchmarks.sachs FOLDER

The folder holds the nine files of Sachs et al. (2005, Science 308, supplementary data) as CSV, named `1_...csv` to
`9_...csv`, one row a cell. Printed are, for the table in three levels (cut at the thirds of each protein over all
cells) and for logarithms: CPU seconds, the probability that each experiment changed each protein, and how the known
targets stand; beside them the model that is told the targets. Nothing is told to the model with regimes.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dagpost import BDeu, DagPosterior, DagpostWarning, RegimeEffects, Regimes
from dagpost._tools.arrays import Floats
from dagpost.posterior.answers import exact_sums
from dagpost.posterior.ways_left import restricted_part

REGIMES = ("cd3cd28", "icam2", "aktinhib", "g0076", "psitect", "u0126", "ly", "pma", "b2camp")
REFERENCE = REGIMES[0]
#: What each inhibitor or activator acts on; LY294002 acts on PI3K, which was not measured, and ICAM-2 in general.
TARGETS = {"aktinhib": "Akt", "g0076": "PKC", "psitect": "PIP2", "u0126": "Mek", "pma": "PKC", "b2camp": "PKA"}
#: The most ordinary parents of a protein; none of them has more than three in the accepted network.
MAX_PARENTS = 3
#: From here on a double does not say how sure something is.
NEARLY_SURE = 1.0 - 1e-6


def read(folder: Path) -> pd.DataFrame:
    """All cells, with the experiment that each comes from."""
    parts = []
    for number, regime in enumerate(REGIMES, 1):
        files = sorted(folder.glob(f"{number}_*.csv"))
        if len(files) != 1:
            sys.exit(f"{folder} must hold one file {number}_*.csv for the experiment {regime}; there are {len(files)}.")
        parts.append(pd.read_csv(files[0]).assign(condition=regime))
    return pd.concat(parts, ignore_index=True)


def timed(frame: pd.DataFrame, model: DagPosterior, **how: Any) -> tuple[DagPosterior, float]:
    """The fitted model, and its CPU seconds with all kernels loaded."""
    model.fit(frame, **how)
    start = time.process_time()
    model.fit(frame, **how)
    return model, time.process_time() - start


def log_odds(model: DagPosterior, effects: RegimeEffects, regime: str, *, summed_from: float = NEARLY_SURE) -> Floats:
    """Log of the odds that a regime changed each variable, in nats.

    Where the probability is above `summed_from`, the graphs without that edge are summed by themselves.
    """
    sums = exact_sums(model.fitted_)
    assert sums is not None
    workspace, whole = sums
    names = list(model.names_)
    chances = effects.table.loc[regime].to_numpy()
    bits = np.zeros(len(names), dtype=np.uint64)
    indicator = names.index(f"{effects.column}={regime}")
    bits[indicator] = np.uint64(1) << np.uint64(indicator)
    with np.errstate(divide="ignore"):
        odds: Floats = np.log(chances) - np.log1p(-chances)
    for place in np.flatnonzero(chances > summed_from):
        child = names.index(effects.variables[place])
        without = [
            restricted_part(
                part, {child: part.masks_of_sets(child, bits) & bits[indicator] == 0}, model.modularity
            ).log_evidence(model.modularity)
            for part in workspace.parts
        ]
        log_without = np.logaddexp.reduce(np.array(without) + np.array(workspace.log_priors))
        odds[place] = np.log(chances[place]) - (log_without - whole.log_evidence)
    return odds


def known_targets(model: DagPosterior, effects: RegimeEffects, targets: Mapping[str, str]) -> pd.DataFrame:
    """What a model that does not know them says of known targets, and the place of each among all variables."""
    rows = []
    for regime, target in targets.items():
        odds = log_odds(model, effects, regime)
        place = effects.variables.index(target)
        chance = effects.table.loc[regime, target]
        rows.append((regime, target, chance, odds[place], int((odds > odds[place]).sum()) + 1))
    return pd.DataFrame(rows, columns=["regime", "target", "probability", "log odds", "rank"])


def show(title: str, frame: pd.DataFrame, score: Any, targets: Mapping[str, str] = TARGETS) -> None:
    """Fit with regimes, and with known targets, and print what both say."""
    regimes = Regimes("condition", reference=REFERENCE)
    model, seconds = timed(
        frame, DagPosterior(prior="uniform", score=score, max_parents=MAX_PARENTS, regimes=regimes, seed=1)
    )
    effects = model.regime_effects()
    print(f"\n{title}: {seconds:.2f} CPU seconds, log evidence {model.log_evidence_:.1f}, exact: {model.exact_}")
    print(effects.table.round(2).assign(expected=effects.expected.round(1)).to_string())
    changed = effects.probabilities >= 0.5
    print(f"{changed.sum()} of {changed.size} pairs changed with probability 1/2 or more; the strongest, in nats:")
    for regime in effects.regimes:
        odds = log_odds(model, effects, regime)
        strongest = [f"{effects.variables[place]} {odds[place]:.0f}" for place in np.argsort(-odds)[:3]]
        print(f"  {regime}: {', '.join(strongest)}")
    print("known targets in their regimes, by log odds (nats):")
    known, known_seconds = timed(
        frame.drop(columns="condition"),
        DagPosterior(prior="uniform", score=score, max_parents=MAX_PARENTS, seed=1),
        interventions=[targets.get(regime) for regime in frame["condition"]],
    )
    found = known_targets(model, effects, targets)
    print(found.round(2).to_string(index=False))
    print(
        f"{(found['probability'] >= 0.5).sum()} of {len(found)} known targets found; {(found['rank'] == 1).sum()} are "
        f"the first of {len(effects.variables)} variables in their regime."
    )
    print(f"told the targets: {known_seconds:.2f} CPU seconds, log evidence {known.log_evidence_:.1f}")
    proteins = list(effects.variables)
    both = [own.edge_probabilities_.loc[proteins, proteins].to_numpy() for own in (model, known)]
    pairs = [edges + edges.T for edges in both]
    upper = np.triu_indices(len(proteins), 1)
    joined = [(own[upper] >= 0.5) for own in pairs]
    with_regimes, told, in_both = (int(own.sum()) for own in (*joined, joined[0] & joined[1]))
    print(
        f"pairs of proteins joined with probability 1/2 or more: {with_regimes} with regimes, {told} with known "
        f"targets, {in_both} in both"
    )


def main() -> None:
    """Both tables of the folder that is named on the command line."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    warnings.simplefilter("ignore", DagpostWarning)
    cells = read(Path(sys.argv[1]))
    proteins = [str(name) for name in cells if name != "condition"]
    print(f"{len(cells):,} cells, {len(proteins)} proteins, {len(REGIMES)} regimes, at most {MAX_PARENTS} parents")
    show("three levels, BDeu (equivalent sample size 5)", cells, BDeu(5.0))
    show("logarithms, BGe", cells.assign(**{name: np.log(cells[name]) for name in proteins}), "bge")


if __name__ == "__main__":
    main()
