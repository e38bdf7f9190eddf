"""Nodes whose graph is one of latent numbers behind the columns: sizes are read off the columns as they are.

The graph says which columns belong together, for coarse measurements too. Sizes come from additive local models of the
columns themselves, so that a relation may be curved, and are in the columns' own units.
"""

from __future__ import annotations

from dagpost.local import additive
from dagpost.local.additive import fitter, kept, restorer

__all__ = ["ASSUMPTION", "fitter", "kept", "restorer"]

ASSUMPTION = (
    "The graph is that of numbers behind the columns, of which a column may be a coarse measurement; how much a cause "
    f"changes is read off the columns as they are. {additive.ASSUMPTION}"
)
