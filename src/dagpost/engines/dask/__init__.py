"""The same tables, scores, chains and replicates on a Dask cluster: see engine.py for where each of them runs."""

from __future__ import annotations

from dagpost.engines.dask.engine import DaskEngine, shared_engine

__all__ = ["DaskEngine", "shared_engine"]
