"""The order of the steps on a device: which kernel comes when, whatever runs the kernels.

    let_in        decide a top node: the restricted sums of one level of the walk from those of the level above
    expand        sums over all subsets of the mid nodes, for one subset of the top nodes (a slot)
    ..._blocks    the blocks of one step that have as many of the mid and slot nodes
    gather        what every block of a step gives to the sums of `expand`, once its forward and backward sums are known
    collect, give_back       the transposes of `expand` and `let_in`

The walks are generators that pause after every step, so that the caller can report, or stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from dagpost.engines.cuda.layout import DeviceLayout


class OrderSteps(Protocol):
    """The kernels of the order-modular sums, each with its own arrays behind it."""

    def let_in(self, leaf: int, bit: int, backward: bool) -> None:
        """Fill level `bit` of the walk at the top subset `leaf`."""

    def expand(self, leaf: int, slot: int, backward: bool) -> None:
        """Sum over the subsets of the mid nodes at the top subset `leaf`."""

    def forward_blocks(self, step: int, size: int) -> None:
        """Forward sums of the blocks of a step with `size` mid and slot nodes."""

    def backward_blocks(self, step: int, size: int) -> None:
        """Backward sums of the blocks of a step with `size` mid and slot nodes."""

    def keep_forward(self, step: int) -> None:
        """Put the forward sums of a step aside, since the backward sums will take their place."""

    def gather(self, step: int) -> None:
        """Forward times backward, summed over supersets of low parents, for every block of a step."""

    def collect(self, leaf: int, slot: int) -> None:
        """Transpose of `expand`, on what was gathered."""

    def give_back(self, leaf: int, bit: int) -> None:
        """Transpose of `let_in`, on what was gathered."""


def forward_walk(layout: DeviceLayout, steps: OrderSteps) -> Iterator[None]:
    """All forward sums; pauses after every step."""
    for step in range(layout.steps):
        if step:
            leaf = step << layout.slot_bits
            steps.let_in(leaf, _lowest_bit(leaf), False)
        _fill_slots(layout, steps, step, backward=False)
        for size in range(layout.inner_bits + 1):
            steps.forward_blocks(step, size)
        yield


def backward_walk(layout: DeviceLayout, steps: OrderSteps) -> Iterator[None]:
    """All backward sums, and what every family takes part in; pauses after every step."""
    changed = layout.top
    for step in range(layout.steps - 1, -1, -1):
        first = step << layout.slot_bits
        for bit in range(changed - 1, layout.slot_bits - 1, -1):
            steps.let_in(first, bit, True)
        _fill_slots(layout, steps, step, backward=True)
        steps.keep_forward(step)
        for size in range(layout.inner_bits, -1, -1):
            steps.backward_blocks(step, size)
        steps.gather(step)
        for slot in range((1 << layout.slot_bits) - 1, -1, -1):
            steps.collect(first | slot, slot)
            if first | slot:
                steps.give_back(first | slot, _lowest_bit(first | slot))
        if step:
            changed = _lowest_bit(first)
        yield


def _fill_slots(layout: DeviceLayout, steps: OrderSteps, step: int, *, backward: bool) -> None:
    for slot in range(1 << layout.slot_bits):
        leaf = step << layout.slot_bits | slot
        if slot:
            steps.let_in(leaf, _lowest_bit(slot), backward)
        steps.expand(leaf, slot, backward)


def _lowest_bit(mask: int) -> int:
    return (mask & -mask).bit_length() - 1
