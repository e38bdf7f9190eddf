"""The rounds that chains have kept, put together without holding everything twice: graphs can be gigabytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from dagpost.mcmc.records import Beside, Round


def joined(rounds: Sequence[list[Round]], name: str) -> NDArray[Any]:
    """One array of all rounds, chain after chain; it is taken out of each round as soon as it is copied."""
    parts = [getattr(output, name) for outputs in rounds for output in outputs]
    result = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), parts[0].dtype)
    del parts
    start = 0
    for outputs in rounds:
        for place, output in enumerate(outputs):
            part = getattr(output, name)
            result[start : start + len(part)] = part
            start += len(part)
            outputs[place] = output._replace(**{name: part[:0].copy()})
    return result


def joined_series(rounds: list[Beside], *, drop: bool = True) -> Beside:
    """What one chain kept beside graphs, in one array for each name; taken out of the rounds unless they go on."""
    whole = {name: np.concatenate([beside[name] for beside in rounds]) for name in (rounds[0] if rounds else {})}
    if drop:
        rounds.clear()
    return whole
