"""Where blocks of work run. The algorithms say what a block is; an engine says where and how many at a time."""

from __future__ import annotations

from dagpost.engines.base import Engine, spread_name, spread_of
from dagpost.engines.threads import ThreadEngine

__all__ = ["Engine", "ThreadEngine", "spread_name", "spread_of"]
