"""Where work runs. The algorithms say what a block of work is; an engine says where it runs and how many run at once.

`base.py` declares what an engine may offer and what happens where it does not; `host/backend.py` does the same for the
exact sums. `cuda/` and `dask/` hold the engines and back ends for a device and a cluster, `registry.py` all names.
"""

from __future__ import annotations

from dagpost.engines.base import Engine, as_engine
from dagpost.engines.threads import ThreadEngine, engine_or_threads

__all__ = ["Engine", "ThreadEngine", "as_engine", "engine_or_threads"]
