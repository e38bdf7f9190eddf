"""A smaller case that breaks the same law.

The numbers that a case chose are cut out in runs, set to 0 and halved, as long as the law that breaks stays the same
and there is time. Every attempt is a process of its own, so crashes and hangs shrink like the rest.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

from torture.campaign import Campaign
from torture.cases import Finding
from torture.workers import run_apart

Numbers = tuple[int, ...]


def minimised(campaign: Campaign, finding: Finding, seconds: float) -> Finding:
    """The smallest case found within this time that breaks the same law, or the one that came."""
    end = time.monotonic() + seconds
    if finding.choices is None and finding.seed >= 0:
        again = run_apart(campaign, finding.seed, None)[0].finding
        finding = finding if again is None else replace(finding, choices=again.choices)
    if finding.choices is None:
        return finding
    smallest = finding
    improved = True
    while improved and time.monotonic() < end:
        improved = False
        assert smallest.choices is not None
        for numbers in _smaller(smallest.choices):
            if time.monotonic() > end:
                break
            found = run_apart(replace(campaign, seconds=min(campaign.seconds, seconds)), finding.seed, numbers)[
                0
            ].finding
            if found is None or found.kind != finding.kind:
                continue
            made = numbers if found.choices is None else found.choices
            if _size(made) < _size(smallest.choices):
                smallest = replace(found, choices=made, smaller=True)
                improved = True
                break
    return smallest


def _size(numbers: Numbers) -> tuple[int, Numbers]:
    """Short lists are smaller than long ones, then those with smaller numbers in front."""
    while numbers and numbers[-1] == 0:
        numbers = numbers[:-1]
    return len(numbers), numbers


def _smaller(numbers: Numbers) -> Iterator[Numbers]:
    """Candidates, the boldest first."""
    length = len(numbers)
    run = length
    while run:
        for begin in range(0, length, run):
            yield numbers[:begin] + numbers[begin + run :]
        for begin in range(0, length, run):
            if any(numbers[begin : begin + run]):
                kept = numbers[begin + run :]
                yield numbers[:begin] + (0,) * (length - begin - len(kept)) + kept
        run //= 2
    # A number may say how many others follow: both are made less together.
    for fewer in (8, 4, 2, 1):
        for position, number in enumerate(numbers):
            for begin in range(position + 1, length if number >= fewer else 0, fewer):
                shorter = (*numbers[:position], number - fewer, *numbers[position + 1 : begin])
                yield shorter + numbers[begin + fewer :]
    for position, number in enumerate(numbers):
        for less in sorted({number // 2, number - 1}):
            if 0 < less < number:
                yield (*numbers[:position], less, *numbers[position + 1 :])
