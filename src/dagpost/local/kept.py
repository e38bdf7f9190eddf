"""Local models without the rows that they were fitted to: what a file keeps, and models made of that again.

Kept are the families of some graphs, what the kind shares among families, and people who stand in for rows: made up in
these graphs with the likeliest parameters, exogenous columns one after the other, each given those before it. Questions
about other families need the rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Flags, Floats, Integers, Masks
from dagpost._tools.schema import require
from dagpost.local.base import LocalModel, members_of
from dagpost.local.models import LocalModels, Seen
from dagpost.local.networks import networks_of
from dagpost.local.walks import Fixed, uniforms_for, walked

#: People who stand in for rows, about, and the graphs in which they are made up.
_PEOPLE, _GRAPHS = 1_024, 128
_SHARED, _EACH, _SHAPES = "shared_", "each_", "_shapes"

Arrays = Mapping[str, NDArray[Any]]


def kept(
    models: LocalModels, module: str, graphs: Masks, exogenous: Sequence[int]
) -> tuple[dict[str, Any], Arrays] | None:
    """What a file keeps for some graphs; None where the kind cannot be kept."""
    shared_of = getattr(import_module(module), "kept", None)
    if shared_of is None:
        return None
    modelled = [node for node in range(graphs.shape[1]) if node not in exogenous]
    pairs = np.stack(
        [np.broadcast_to(np.array(modelled, dtype=np.uint64), graphs[:, modelled].shape), graphs[:, modelled]]
    )
    distinct = np.unique(pairs.reshape(2, -1).T, axis=0)
    children, parents = distinct[:, 0].astype(np.int64), distinct[:, 1]
    fitted = [model.arrays() for model in models.families(children, parents)]
    seen = models.seen
    arrays: dict[str, NDArray[Any]] = {
        "children": children,
        "parents": parents,
        "people": _stand_ins(models, graphs, exogenous),
        "quartiles": seen.quartiles,
        "means": seen.means,
        "exclusive": seen.exclusive.astype(np.uint8),
        **{_SHARED + name: array for name, array in shared_of(models.fit).items()},
    }
    for name in sorted({name for found in fitted for name in found}):
        pieces = [np.atleast_2d(one.get(name, np.zeros((0, 0)))) for one in fitted]
        arrays[_EACH + name] = np.concatenate([array.reshape(-1) for array in pieces])
        arrays[_EACH + name + _SHAPES] = np.array([array.shape for array in pieces], dtype=np.int64)
    return {"observations": seen.observations}, arrays


def _stand_ins(models: LocalModels, graphs: Masks, exogenous: Sequence[int]) -> Floats:
    """People (columns, people) who stand in for the rows."""
    nodes, generator = graphs.shape[1], np.random.default_rng(0)
    some = graphs[np.unique(np.linspace(0, len(graphs) - 1, _GRAPHS).round().astype(np.int64))]
    uniforms = uniforms_for(nodes, len(some), -(-_PEOPLE // len(some)), generator)
    before, outside = some.copy(), np.zeros((1, nodes), dtype=np.uint64)
    for place, node in enumerate(exogenous):
        outside[0, node] = sum(1 << other for other in exogenous[:place])
    before[:, exogenous] = 0
    known: dict[int, Fixed] = {}
    if len(exogenous):
        needed: Flags = np.zeros((1, nodes), dtype=np.bool_)
        needed[:, list(exogenous)] = True
        first = walked(networks_of(models, outside, needed), {}, uniforms.reshape(nodes, 1, -1)).values
        known = {node: Fixed(first[node].reshape(uniforms.shape[1:])) for node in exogenous}
    modelled: Flags = np.ones(some.shape, dtype=np.bool_)
    modelled[:, list(exogenous)] = False
    values = walked(networks_of(models, before, modelled), known, uniforms).values.reshape(nodes, -1)
    return np.ascontiguousarray(values[:, generator.permutation(values.shape[1])])


def restored(
    module: str, about: Mapping[str, Any], arrays: Arrays, names: tuple[str, ...], levels: Sequence[Any]
) -> LocalModels:
    """The models that a file keeps; what does not fit together is a ValueError."""
    nodes = len(names)
    people, quartiles, means = (np.asarray(arrays[name], dtype=np.float64) for name in ("people", "quartiles", "means"))
    require(people.ndim == 2 and people.shape[0] == nodes and people.shape[1] > 0, "people of other columns")
    require(quartiles.shape == (nodes, 4) and means.shape == (nodes,), "quartiles of other columns")
    require(arrays["exclusive"].shape == (nodes,), "regimes of other columns")
    for node, own in enumerate(levels):
        if own is not None:
            require(bool(np.isin(people[node], np.arange(len(own))).all()), "people with unknown levels")
    seen = Seen(names, tuple(levels), arrays["exclusive"] != 0, float(about["observations"]), people, quartiles, means)
    children, parents = arrays["children"].astype(np.int64), arrays["parents"].astype(np.uint64)
    require(bool((children >= 0).all() and (children < nodes).all()), "families of unknown columns")
    own_bits = np.uint64(1) << children.astype(np.uint64)
    last = np.uint64((1 << nodes) - 1)
    require(bool((parents & own_bits == 0).all() and (parents & ~last == 0).all()), "parents that cannot be")
    shared = {name.removeprefix(_SHARED): array for name, array in arrays.items() if name.startswith(_SHARED)}
    restore = import_module(module).restorer(tuple(levels), shared)
    each = _split(
        {name.removeprefix(_EACH): array for name, array in arrays.items() if name.startswith(_EACH)}, len(children)
    )
    known: dict[tuple[int, int], LocalModel] = {}
    for child, mask, own in zip(children.tolist(), parents.tolist(), each, strict=True):
        known[child, mask] = restore(child, members_of(mask), own)
    return LocalModels(seen, None, known=known)


def _split(arrays: Arrays, families: int) -> list[dict[str, NDArray[Any]]]:
    """The arrays of each family, of those that stand one after the other."""
    found: list[dict[str, NDArray[Any]]] = [{} for _ in range(families)]
    for name, array in arrays.items():
        if name.endswith(_SHAPES):
            continue
        shapes: Integers = arrays[name + _SHAPES].astype(np.int64)
        require(
            shapes.shape == (families, 2) and bool((shapes >= 0).all() and (shapes < 2**20).all()), f"shapes of {name}"
        )
        sizes = shapes.prod(axis=1)
        require(int(sizes.sum()) == array.size, f"{name} of another size")
        pieces = np.split(array.reshape(-1), np.cumsum(sizes)[:-1]) if families else []
        for own, piece, shape in zip(found, pieces, shapes, strict=True):
            own[name] = piece.reshape(shape)
    return found
