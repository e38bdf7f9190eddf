"""Are the components that rules leave small enough for exact sums? If not: which is too large, and what splits it?"""

from __future__ import annotations

from dagpost._tools.spelling import bare, setting
from dagpost._tools.text import shortened
from dagpost.engines import Engine
from dagpost.engines.host.backend import backend_of
from dagpost.errors import InputError, ResourceError
from dagpost.exact.components import Components
from dagpost.families.numbering import MAX_NODES
from dagpost.methods.base import Method, Study
from dagpost.methods.choice import PATIENCE_SECONDS


def are_affordable(components: Components, max_parents: int, engine: Engine) -> bool:
    """Whether the sums over all components fit into memory and take no longer than a user waits unasked."""
    backend, largest = backend_of(engine), max(components.sizes)
    if largest > 1 and not backend.structure_fits(largest, min(max_parents, largest - 1)):
        return False
    return sum(backend.structure_seconds(size) for size in components.sizes if size > 1) <= PATIENCE_SECONDS


def require_exact(
    components: Components, names: tuple[str, ...], method: Method | None, modularity: str, study: Study, engine: Engine
) -> None:
    """Refuse more columns than chains take, unless each component can be summed by itself."""
    if modularity != "structure" or (method is not None and not method.by_components):
        what = f"The method {method.name!r}" if method is not None else setting("modularity", modularity)
        raise InputError(
            f"{what} takes at most {MAX_NODES} columns; there are {len(names):,}. With more, every graph counts once "
            f"and sums are taken over parts of the table: use {setting('method', 'auto')} and "
            f"{setting('modularity', 'structure')}."
        )
    if not are_affordable(components, study.max_parents, engine):
        largest = shortened([repr(names[column]) for column in components.largest.tolist()])
        raise ResourceError(
            f"Edges may form cycles among {len(components.largest)} of the {len(names):,} columns: {largest}. Exact "
            f"sums over so many take too long or too much memory, and chains take at most {MAX_NODES} columns. Split "
            f"them by {bare('tiers')}, or name columns that are not to be modelled in {bare('exogenous')}."
        )
