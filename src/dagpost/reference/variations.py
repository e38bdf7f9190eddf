"""Total variation between the graphs of an answer and the truth, of the parent sets of a column and of the classes.

The truth need not list everything: what it leaves out, and what an answer has there, are put together as one. Total
variation never grows when outcomes are put together, so the figure is a lower bound. With r the mass that the truth
does not list and s what the answer has outside the list, it is too small by at most min(r, s): at best both lie on the
same sets in the same way, which adds |r - s| / 2, at worst on different ones, which adds (r + s) / 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.families.essential import essential_graphs
from dagpost.families.masks import UnsignedMasks, distinct_rows, mask_type
from dagpost.reference.distances import ClassDistance, FamilyDistance

if TYPE_CHECKING:
    import pandas as pd
#: Mass that rounding may leave of a list that is complete.
_ROUNDING = 1e-9


def family_distance(
    families: pd.DataFrame, parents: UnsignedMasks, weights: Floats, names: Sequence[str]
) -> FamilyDistance:
    """How far the parent sets of distinct graphs are from those of the truth (columns node, parents, probability)."""
    sets = _masks_of_sets(list(families["parents"]), names)
    nodes = np.array(families["node"], dtype=object)
    exact = np.array(families["probability"], dtype=np.float64)
    found = []
    for node, name in enumerate(names):
        own = nodes == name
        found.append(total_variation(exact[own], _weight_of_sets(sets[own], parents[:, node], weights)))
    values, left_out = np.array(found).T
    largest = int(np.argmax(values))
    return FamilyDistance(float(values.mean()), float(values[largest]), names[largest], float(left_out.max()))


def class_distance(
    classes: pd.DataFrame, parents: UnsignedMasks, weights: Floats, names: Sequence[str]
) -> ClassDistance:
    """How far the classes of distinct graphs are from those of the truth (columns class, probability)."""
    patterns = _masks_of_classes(list(classes["class"]), names)
    exact = np.array(classes["probability"], dtype=np.float64)
    stated = _weight_of_rows(patterns, essential_graphs(parents), weights)
    value, left_out = total_variation(exact, stated)
    complete = bool(1.0 - exact.sum() <= _ROUNDING)
    return ClassDistance(value, complete, left_out)


def total_variation(exact: Floats, stated: Floats) -> tuple[float, float]:
    """Total variation where what is not listed counts as one, and by how much it may be too small.

    >>> total_variation(np.array([0.5, 0.25]), np.array([0.5, 0.0]))
    (0.25, 0.25)
    """
    rest, other = max(0.0, 1.0 - float(exact.sum())), max(0.0, 1.0 - float(stated.sum()))
    value = 0.5 * (float(np.abs(exact - stated).sum()) + abs(rest - other))
    return value, 0.0 if rest <= _ROUNDING else min(rest, other)


def _weight_of_sets(listed: UnsignedMasks, sets: UnsignedMasks, weights: Floats) -> Floats:
    """The weight that each listed set has among some sets."""
    import pandas as pd

    held = pd.Series(weights).groupby(sets).sum()
    return np.asarray(held.reindex(listed, fill_value=0.0), dtype=np.float64)


def _weight_of_rows(listed: NDArray[Any], rows: NDArray[Any], weights: Floats) -> Floats:
    """The weight that each listed row has among some rows."""
    together = np.concatenate([listed.astype(rows.dtype), rows])
    _, member = distinct_rows(together)
    shares = np.bincount(member[len(listed) :], weights=weights, minlength=int(member.max()) + 1)
    return np.asarray(shares[member[: len(listed)]], dtype=np.float64)


def _masks_of_sets(texts: Sequence[str], names: Sequence[str]) -> UnsignedMasks:
    bits = {name: 1 << at for at, name in enumerate(names)}
    try:
        masks = [sum(bits[name] for name in text.split(";")) if text else 0 for text in texts]
    except KeyError as error:
        raise _unknown(error) from None
    return np.array(masks, dtype=mask_type(len(names)))


def _masks_of_classes(texts: Sequence[str], names: Sequence[str]) -> UnsignedMasks:
    """Essential graphs such as "A->B;B--C" as masks, in which an undirected edge goes both ways."""
    places = {name: at for at, name in enumerate(names)}
    known: dict[str, tuple[tuple[int, int], ...]] = {}
    for source, parent in places.items():
        for to, child in places.items():
            known[f"{source}->{to}"] = ((child, 1 << parent),)
            known[f"{source}--{to}"] = ((child, 1 << parent), (parent, 1 << child))
    rows = np.zeros((len(texts), len(names)), dtype=mask_type(len(names)))
    for at, text in enumerate(texts):
        row = [0] * len(names)
        for edge in text.split(";") if text else ():
            if edge not in known:
                raise _unknown(edge)
            for child, bit in known[edge]:
                row[child] |= bit
        rows[at] = row
    return rows


def _unknown(what: object) -> InputError:
    return InputError(f"The truth speaks of {what}, which is not among its own columns. It was made for another case.")
