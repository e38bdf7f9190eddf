"""The command line of the campaigns: `python -m torture --minutes 60`."""

from __future__ import annotations

import argparse
import json
import os
import secrets
import sys
from collections.abc import Sequence

from torture.campaign import Campaign
from torture.cases import Finding
from torture.registry import campaigns
from torture.run import Run
from torture.summary import finding_text, summary_json, summary_text
from torture.workers import run_apart


def main(arguments: Sequence[str] | None = None) -> int:
    """Run campaigns, or one case again; 1 if there are defects."""
    options = _parser().parse_args(arguments)
    known = campaigns()
    names = options.only.split(",") if options.only else list(known)
    unknown = [name for name in names if name not in known]
    if unknown:
        return _complain(f"There is no campaign {unknown[0]!r}. Campaigns: {', '.join(known)}.")
    if options.list:
        for campaign in known.values():
            print(f"{campaign.name:16}{campaign.words}")
        return 0
    if options.case is not None:
        if len(names) != 1:
            return _complain("--case SEED needs --only with the name of one campaign.")
        return _one_case(known[names[0]], options.case, options.choices)
    return _run([known[name] for name in names], options)


def _complain(words: str) -> int:
    print(f"torture: {words}", file=sys.stderr)
    return 2


def _run(chosen: Sequence[Campaign], options: argparse.Namespace) -> int:
    seed = secrets.randbelow(2**31) if options.seed is None else options.seed
    stream = sys.stderr if options.json else sys.stdout

    def show(finding: Finding) -> None:
        print(finding_text(finding), file=stream, flush=True)

    print(f"Seed {seed}: the same cases again with --seed {seed}.", file=stream, flush=True)
    run = Run(
        chosen,
        seed,
        seconds=60 * options.minutes,
        processes=options.processes,
        cases=options.cases,
        minimising=options.minimise,
        show=show,
    )
    try:
        run.run()
    except KeyboardInterrupt:
        print("Interrupted; this is the table so far.", file=stream)
    print(json.dumps(summary_json(run), indent=2) if options.json else summary_text(run))
    return int(any(tally.defects for tally in run.tallies.values()))


def _one_case(campaign: Campaign, seed: int, choices: str | None) -> int:
    numbers = None if choices is None else tuple(int(number) for number in choices.split(",") if number)
    # What cases share must be there before, as it is in a run.
    campaign.prepare()
    outcome, cpu_seconds = run_apart(campaign, seed, numbers)
    if outcome.finding is not None:
        print(finding_text(outcome.finding))
        return 1
    print(f"{outcome.checks} {campaign.counted}, {cpu_seconds:.2f} CPU seconds, no defect.")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m torture", description="Random hostile cases against dagpost.")
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to go on (default: 60)")
    parser.add_argument("--cases", type=int, help="how many cases of each campaign instead, or at most")
    parser.add_argument("--seed", type=int, help="the seed of the run (default: a new one, printed)")
    parser.add_argument("--only", help="campaigns to run, with commas between them (default: all)")
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="how many at once (default: all cores)")
    parser.add_argument(
        "--minimise", type=float, default=30.0, metavar="SECONDS", help="time for each finding; 0: none"
    )
    parser.add_argument("--case", type=int, metavar="SEED", help="run this one case again")
    parser.add_argument("--choices", help="with --case: the choices of a minimised case")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.add_argument("--list", action="store_true", help="list the campaigns")
    return parser


if __name__ == "__main__":
    sys.exit(main())
