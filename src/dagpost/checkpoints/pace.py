"""How often is a checkpoint written, unless a call says so itself?"""

from __future__ import annotations

import math
import os
from contextlib import suppress

from dagpost._tools import checks
from dagpost._tools.text import shown
from dagpost.errors import InputError

#: Seconds before the first write and between two writes, unless the environment says otherwise; 0: after every step.
_SECONDS, _SECONDS_VARIABLE = 10.0, "DAGPOST_CHECKPOINT_SECONDS"


def seconds_between_writes(given: float | None) -> float:
    """The seconds that were asked for, or those of the environment, or the usual ones."""
    if given is not None:
        return checks.number(given, "seconds", "Checkpoint", least=0.0, allowed="a number of at least 0")
    text = os.environ.get(_SECONDS_VARIABLE, str(_SECONDS))
    with suppress(ValueError):
        if 0.0 <= float(text) < math.inf:
            return float(text)
    raise InputError(
        f"The environment variable {_SECONDS_VARIABLE} must be a number of at least 0. Got {shown(text)} instead."
    )
