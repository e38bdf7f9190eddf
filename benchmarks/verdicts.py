"""Do verdicts on chains lie? Chains on tables with known answers: what they say of themselves, and how wrong they are.

    python -m benchmarks.verdicts blocks --runs 240 --processes 16      resumes where it stopped
    python -m benchmarks.verdicts chains --runs 300 --processes 16      some 30 CPU minutes in all
    python -m benchmarks.verdicts blocks --runs 40 --processes 2        a part of it
    PYTHONPATH=OTHER_TREE/src:. python -m benchmarks.verdicts blocks --output before.jsonl   the code of another tree

`blocks`: block chains on tables that are hard for them (verdict_hard_data.py), five runs a table: the default; two
chains instead of four; a tenth of the burn-in and of the graphs; a fiftieth of the burn-in and 200 graphs a chain; and
blocks of two variables, which get stuck where larger ones do not.
`chains`: the five other chains (verdict_data.py), one run of each on a table, their lengths take turns.

A run is right where its edges are near the exact ones of the same target: every graph counted once for chains over
graphs and partitions, once for every order it fits for those over orders. Its error is the largest difference over all
edges, of the edges that a model reports, or of the frequencies where there are no others.

The table that is printed counts, by chain: verdicts that trust, those of them with an error above 0.1 (a lie), verdicts
that do not, and those of them with an error below 0.02 (too careful). Where a verdict rests on a comparison with the
exact edges too, the same is counted for what it would be without ("alone"), as beyond the exact range. Each run is a
line of the output.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measuring import RESULTS

if TYPE_CHECKING:
    from benchmarks.verdict_data import Case

#: An error above the first is a lie if it is trusted; one below the second deserves trust.
WRONG, RIGHT = 0.1, 0.02
SAMPLES = {"default": 30_000, "two chains": 15_000, "short": 3_000, "very short": 800, "small blocks": 15_000}
#: The share of the usual burn-in.
BURN_IN = {"short": 0.1, "very short": 0.02}
LENGTHS = tuple(SAMPLES)
#: Of the chains other than block chains.
TURNS = LENGTHS[:3]
BLOCKS = "block-gibbs"
CHAINS = ("structure-mcmc", "hybrid-mcmc", "order-mcmc", "partial-order-mcmc", "partition-mcmc")
KINDS = (BLOCKS, *CHAINS)

Result = dict[str, Any]


class Campaign(NamedTuple):
    """Which chains run on which tables: every chain at one of the lengths, or one chain at all of them."""

    case: Callable[[int], Case]
    runs: Callable[[int], list[tuple[str, str]]]
    #: Runs that share a table.
    each: int


def _campaign(name: str) -> Campaign:
    from benchmarks.verdict_data import case
    from benchmarks.verdict_hard_data import hard_case

    if name == "blocks":
        return Campaign(hard_case, lambda _: [(BLOCKS, length) for length in LENGTHS], len(LENGTHS))
    return Campaign(
        case,
        lambda number: [(chain, TURNS[(number + place) % len(TURNS)]) for place, chain in enumerate(CHAINS)],
        len(CHAINS),
    )


def runs_of(name: str, number: int) -> list[Result]:
    """All runs of a campaign on the table of a number."""
    from dagpost import DagPosterior

    warnings.simplefilter("ignore")
    campaign = _campaign(name)
    found, runs = campaign.case(number), campaign.runs(number)
    exact = {
        modularity: DagPosterior(
            prior="uniform", score=found.used_score, modularity=modularity, method=method, threads=1
        )
        .fit(found.table)
        .edge_probabilities_.to_numpy()
        for modularity, method in (("structure", "exact-layers"), ("order", "dds"))
        if modularity == "structure" or name == "chains"
    }
    return [{**found.about(), **_run(found, place, chain, length, exact)} for place, (chain, length) in enumerate(runs)]


def _run(case: Case, place: int, chain: str, length: str, exact: dict[str, Any]) -> Result:
    import numpy as np

    from dagpost import DagPosterior
    from dagpost.mcmc.diagnostics import by_chain
    from dagpost.mcmc.number_series import averages_of

    method = _method(chain, length)
    model = DagPosterior(
        prior="uniform", score=case.used_score, modularity=method.modularity, method=method, threads=1
    ).fit(case.table)
    started = time.process_time()
    sample = model.sample(SAMPLES[length], seed=1_000 * case.number + place)
    diagnostics = sample.diagnostics()
    seconds = time.process_time() - started
    truth = exact[str(method.modularity)]
    frequencies = sample.edge_frequencies().to_numpy()
    record = sample.chains
    edges = frequencies if record.edges is None else record.edges.mean(axis=0)
    summary = diagnostics.summary()
    trusted, verdict = _without_exact(sample)
    between, weights = record.edges, by_chain(record.log_state, record.lengths)
    return {
        "chain": chain,
        "length": length,
        "error": float(np.abs(edges - truth).max()),
        "frequency_error": float(np.abs(frequencies - truth).max()),
        "trusted": bool(diagnostics.trusted),
        "alone": trusted,
        "verdict": diagnostics.verdict,
        "verdict_alone": verdict,
        "summary": summary,
        # Evidence that the verdict does not use, kept to try other rules on.
        "between_chains": None if between is None else float(np.ptp(between, axis=0).max()),
        "weight_r_hat": float(averages_of(weights[:, :, None]).r_hats[0]),
        "cpu_seconds": seconds,
    }


def _without_exact(sample: Any) -> tuple[bool, str]:
    """Whether the verdict would be one of trust without a comparison with what is exact, and its words."""
    from dagpost.mcmc.diagnostics import diagnose

    record = sample.chains
    checks = replace(record.checks, exact=None, unchecked="it was left out")
    found = diagnose(sample.parents, sample.names, sample.chain_lengths, record.acceptance, checks)
    return found.trusted, found.verdict


def _method(chain: str, length: str) -> Any:
    """A chain with its default settings, with two chains instead of four, or with a shorter burn-in."""
    from dagpost import BlockGibbs, HybridMCMC, OrderMCMC, PartialOrderMCMC, PartitionMCMC, StructureMCMC

    classes = (BlockGibbs, StructureMCMC, HybridMCMC, OrderMCMC, PartialOrderMCMC, PartitionMCMC)
    kind = {each.name: each for each in classes}[chain]
    if length == "two chains":
        return kind(chains=2)
    if length == "small blocks":
        return BlockGibbs(block_size=2)
    return kind(burn_in=int(kind().burn_in * BURN_IN.get(length, 1.0)))


def campaign(name: str, tables: int, processes: int, output: Path) -> list[Result]:
    """All runs of so many tables, those that the output has already among them."""
    output.parent.mkdir(parents=True, exist_ok=True)
    found, each = list(_read(output)), _campaign(name).each
    missing = [number for number in range(tables) if sum(row["table"] == number for row in found) < each]
    found = [row for row in found if row["table"] < tables and row["table"] not in missing]
    with output.open("a") as file, ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        waiting = {pool.submit(runs_of, name, number): number for number in missing}
        for done, future in enumerate(as_completed(waiting), 1):
            rows = future.result()
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            found += rows
            print(f"  table {waiting[future]} ({rows[0]['kind']}): {done} of {len(missing)}", flush=True)
    return sorted(found, key=lambda row: (row["table"], KINDS.index(row["chain"]), LENGTHS.index(row["length"])))


def _read(output: Path) -> Iterator[Result]:
    for line in output.read_text().splitlines() if output.exists() else ():
        try:
            yield json.loads(line)
        except ValueError:
            # The last line of a campaign that was killed; its table is run again.
            continue


def counted(rows: Sequence[Result], said: str) -> dict[str, int]:
    """How often a verdict ("trusted" or "alone") was given, and how often wrongly."""
    trusted = [row for row in rows if row[said]]
    not_trusted = [row for row in rows if not row[said]]
    return {
        "runs": len(rows),
        "trusted": len(trusted),
        "trusted_wrong": sum(row["error"] > WRONG for row in trusted),
        "not_trusted": len(not_trusted),
        "not_trusted_right": sum(row["error"] < RIGHT for row in not_trusted),
        "wrong": sum(row["error"] > WRONG for row in rows),
        "right": sum(row["error"] < RIGHT for row in rows),
    }


def show(rows: Sequence[Result], said: str) -> None:
    """Print the counts by chain and by kind of table."""
    head = ("runs", "trusted", f"error > {WRONG}", "not trusted", f"error < {RIGHT}", "all wrong", "all right")
    print(f"\n{said:<22}" + "".join(f"{name:>14}" for name in head))
    kinds = sorted({row["kind"] for row in rows})
    groups = [(chain, [row for row in rows if row["chain"] == chain]) for chain in KINDS]
    groups += [(length, [row for row in rows if row["length"] == length]) for length in LENGTHS]
    groups += [(kind, [row for row in rows if row["kind"] == kind]) for kind in kinds]
    for name, some in [*(group for group in groups if group[1]), ("all", rows)]:
        print(f"{name:<22}" + "".join(f"{count:>14}" for count in counted(some, said).values()))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("campaign", choices=("blocks", "chains"))
    parser.add_argument("--runs", type=int, default=300, help="five of them share a table")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--output", type=Path, help="a line for each run")
    parser.add_argument("--json", type=Path, help="where the counts go; beside the output by default")
    options = parser.parse_args()
    # One thread a process, so that as many processes as cores are not in each other's way.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    output = options.output or RESULTS / f"verdicts-{options.campaign}.jsonl"
    tables = -(-options.runs // _campaign(options.campaign).each)
    rows = campaign(options.campaign, tables, options.processes, output)[: options.runs]
    for said in ("trusted", "alone"):
        show(rows, said)
    seconds = sum(row["cpu_seconds"] for row in rows)
    print(f"\n{len(rows)} runs, {seconds / 60:.1f} CPU minutes of chains")
    counts = {
        said: {chain: counted([row for row in rows if row["chain"] == chain], said) for chain in KINDS}
        | {"all": counted(rows, said)}
        for said in ("trusted", "alone")
    }
    target = options.json or output.with_suffix(".json")
    target.write_text(json.dumps({"runs": len(rows), "cpu_seconds": seconds, "counts": counts}, indent=1) + "\n")
    print(f"Written to {output} and {target}")


if __name__ == "__main__":
    main()
