"""What a person sees: pictures of results."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    # Loaded when first asked for, so that `dagpost.plots` can be found here and nothing is loaded before.
    if name != "plots":
        raise AttributeError(f"module 'dagpost.show' has no attribute {name!r}")
    from importlib import import_module

    return import_module("dagpost.show.plots")
