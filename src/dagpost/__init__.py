"""dagpost: the posterior over Bayesian network structures.

    >>> import dagpost
    >>> model = dagpost.DagPosterior().fit(dagpost.datasets.load("coronary"))
    >>> float(model.edge_probabilities_.loc["Smoking", "Proteins"].round(3))
    0.41

Names are loaded when they are first used, so that `import dagpost` costs next to nothing.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from typing import Any


def _homes() -> dict[str, str]:
    """The module of every public name, as `__init__.pyi` has them: one table for us and for type checkers."""
    stub = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imports = [statement for statement in stub.body if isinstance(statement, ast.ImportFrom)]
    return {alias.name: str(statement.module) for statement in imports for alias in statement.names}


_HOMES = _homes()

__all__ = sorted(_HOMES)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dagpost' has no attribute {name!r}")
    home = _HOMES[name]
    value = import_module(f"dagpost.{name}") if home == "dagpost" else getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
