"""The whole of a run: time shared fairly among the campaigns, findings collected and made small."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from torture.campaign import Campaign
from torture.cases import Finding, Outcome
from torture.minimise import minimised
from torture.workers import Worker, start_worker, wait_for_news

# A worker lives this long, so that what one case leaves behind in its process cannot go on for ever.
_SECONDS_OF_A_WORKER = 5.0
# A worker takes at most this many cases; their seeds are handed out beforehand.
_CASES_OF_A_WORKER = 2_000
# Findings of one kind are minimised and printed once; the others are only counted.
_KINDS_PRINTED = 20
_FEW_CASES = 20


@dataclass
class Tally:
    """What a campaign has done so far."""

    campaign: Campaign
    cases: int = 0
    checks: int = 0
    cpu_seconds: float = 0.0
    defects: int = 0
    kinds: dict[str, Finding] = field(default_factory=dict)
    handed_out: int = 0
    #: Seeds that a worker did not come to, since it died or its time was over.
    returned: list[int] = field(default_factory=list)
    at_work: int = 0
    limit: int | None = None

    @property
    def over(self) -> bool:
        """Whether all cases that were asked for have been handed out."""
        return self.limit is not None and self.handed_out >= self.limit and not self.returned

    def next_seeds(self, run_seed: int, processes: int) -> list[int]:
        """The seeds of the next cases, for one worker."""
        count = _CASES_OF_A_WORKER
        if self.limit is not None:
            count = min(-(-self.limit // processes), self.limit - self.handed_out + len(self.returned))
        seeds, self.returned = self.returned[:count], self.returned[count:]
        new = count - len(seeds)
        seeds += islice(case_seeds(run_seed, self.campaign.name, self.handed_out), new)
        self.handed_out += new
        return seeds


def case_seeds(run_seed: int, name: str, first: int) -> Iterator[int]:
    """The seeds of a campaign's cases, from the case with this number on."""
    number = first
    while True:
        digest = hashlib.blake2b(f"{run_seed} {name} {number}".encode(), digest_size=6).digest()
        yield int.from_bytes(digest)
        number += 1


class Run:
    """A run of some campaigns over some time, or over a fixed number of cases each."""

    def __init__(
        self,
        campaigns: Sequence[Campaign],
        seed: int,
        *,
        seconds: float,
        processes: int,
        cases: int | None = None,
        minimising: float = 30.0,
        show: Callable[[Finding], None] = print,
    ) -> None:
        self.seed = seed
        self.tallies = {campaign.name: Tally(campaign, limit=cases) for campaign in campaigns}
        self._seconds = seconds
        self._processes = processes
        self._minimising = minimising
        self._show = show
        self._workers: list[Worker] = []
        self._open: list[Finding] = []

    def run(self) -> None:
        """Run to the end; on an interrupt, stop the workers and leave the tallies as they are."""
        for tally in self.tallies.values():
            # For a few cases it would take longer than they do.
            if tally.limit is None or tally.limit > _FEW_CASES:
                tally.campaign.prepare()
        end = time.monotonic() + self._seconds
        try:
            while self._begin_workers(end) or self._workers:
                self._listen()
                self._print_findings()
        finally:
            for worker in self._workers:
                worker.kill()

    def _begin_workers(self, end: float) -> bool:
        """Give every free place to the campaign that has had the least of its share."""
        left = end - time.monotonic()
        while left > 0 and len(self._workers) < self._processes:
            waiting = [tally for tally in self.tallies.values() if not tally.over]
            if not waiting:
                return False
            tally = min(waiting, key=_had)
            seeds = tally.next_seeds(self.seed, self._processes)
            tally.at_work += 1
            seconds = min(left, _SECONDS_OF_A_WORKER) if tally.limit is None else left
            self._workers.append(start_worker(tally.campaign, seeds, seconds))
        return left > 0

    def _listen(self) -> None:
        if not self._workers:
            return
        for worker, outcome in wait_for_news(self._workers, 0.5):
            self._count(self.tallies[worker.campaign.name], outcome)
        for worker in [worker for worker in self._workers if worker.ended]:
            tally = self.tallies[worker.campaign.name]
            tally.cpu_seconds += worker.cpu_seconds
            tally.at_work -= 1
            tally.returned += worker.seeds[worker.finished :]
            self._workers.remove(worker)

    def _count(self, tally: Tally, outcome: Outcome) -> None:
        tally.cases += 1
        tally.checks += outcome.checks
        finding = outcome.finding
        if finding is None:
            return
        tally.defects += 1
        if finding.kind not in tally.kinds:
            tally.kinds[finding.kind] = finding
            if len(tally.kinds) <= _KINDS_PRINTED:
                self._open.append(finding)

    def _print_findings(self) -> None:
        """Show each new finding, as small as it gets."""
        while self._open:
            finding = self._open.pop()
            tally = self.tallies[finding.campaign]
            small = minimised(tally.campaign, finding, self._minimising) if self._minimising else finding
            tally.kinds[finding.kind] = small
            self._show(small)


def _had(tally: Tally) -> float:
    """The CPU seconds that a campaign has had or is about to have, relative to its share."""
    return (tally.cpu_seconds + tally.at_work * _SECONDS_OF_A_WORKER) / tally.campaign.share
