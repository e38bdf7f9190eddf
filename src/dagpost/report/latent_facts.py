"""What a report says of latent numbers: which columns have some that are not known, and what is known of them."""

from __future__ import annotations

import numpy as np

from dagpost.posterior.fitted import Fitted
from dagpost.scores.latent_columns import ranks_of

#: From how many levels on only some are listed.
_LEVELS = 12


def known_of_latents(fitted: Fitted) -> tuple[tuple[str, str], ...]:
    """The columns with latent numbers that are not known, and what is known of them, in a few words."""
    table, ranked = fitted.table, fitted.unknown.ranked
    assert table is not None
    found = []
    for place, (name, levels) in enumerate(zip(table.names, table.levels, strict=True)):
        bounds = table.bounds[place] if table.bounds else None
        if name in ranked and levels is not None:
            rising = [str(levels[code]) for code in np.argsort(ranks_of(levels))]
            listed = rising if len(rising) <= _LEVELS else [*rising[:3], "...", *rising[-3:]]
            found.append((name, f"the order of its levels, {' < '.join(listed)}"))
        elif bounds is not None:
            counts = table.weights[np.isfinite(bounds).any(axis=1)].sum()
            found.append((name, f"limits, of {counts:,} censored cell{'' if counts == 1 else 's'}"))
    return tuple(found)
