"""The graphs of a sample, small enough to stand in a page, so that the page itself can look only at some of them.

Of each distinct graph a page needs its weight, its parent sets and which of its edges are compelled (knowledge.py).
Every node has a list of the distinct rows (parents, those compelled by the data, with the rules, with the model), the
most frequent first, and every graph one number a node: its place in that list. Equal bytes of all numbers lie together
and the whole is deflated: about one byte a node and graph. templates/draws.js unpacks it.

Weights keep 36 binary digits after the first. Each is off by at most 2^-37 of itself, so that a share of graphs, and a
share among those that meet a condition, is off by less than 2e-11.

A text of more than `MOST_CHARACTERS` is made from every second draw, every third one, and so on: fewer draws of the
same kind. Of more than 64 columns nothing is packed.
"""

from __future__ import annotations

import base64
import math
import zlib
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dagpost._tools.arrays import Floats, Integers, Masks
from dagpost.families.masks import distinct_rows
from dagpost.families.numbering import MAX_NODES

if TYPE_CHECKING:
    from dagpost.posterior.knowledge import Knowledge
    from dagpost.posterior.sample import DagSample

#: So much of a page is taken by graphs at most.
MOST_CHARACTERS = 2_000_000
#: How sure intervals are.
_CONFIDENCE = 0.95
#: Binary digits of a weight that are left out.
_DROPPED = 16


def packed_graphs(sample: DagSample, known: Knowledge, *, most: int = MOST_CHARACTERS) -> dict[str, Any] | None:
    """The distinct graphs of a sample as JSON can hold them; None where there are more than 64 columns.

    `graphs` distinct ones come from `draws` of the `of` graphs in the sample; `data` is the packed text. `estimator`
    and the numbers beside it say how an interval is found for a share of these graphs.
    """
    if len(sample.names) > MAX_NODES:
        return None
    step, part = 1, sample
    packed = _packed(part, known)
    while len(packed["data"]) > most and len(part) > 1:
        step = max(step + 1, math.ceil(step * len(packed["data"]) / most))
        part = sample[::step]
        packed = _packed(part, known)
    return {**packed, "of": len(sample), **_interval_facts(sample, part), **_known_facts(known)}


def _packed(sample: DagSample, known: Knowledge) -> dict[str, Any]:
    distinct, nodes = sample.distinct, len(sample.names)
    graphs = np.ascontiguousarray(sample.parents[distinct.rows], dtype=np.uint64)
    compelled = known.compelled(graphs)
    kinds = [graphs, *compelled]
    # Without rules, and where the model has all edges, the last ones are the same.
    while len(kinds) > 2 and kinds[-1] is kinds[-2]:
        kinds.pop()
    numbers, rows, lists = [], [], []
    for node in range(nodes):
        found, codes = _listed(np.stack([np.asarray(kind[:, node], dtype=np.uint64) for kind in kinds], axis=1))
        rows.append(len(found))
        lists.append(_planes(found, (nodes + 7) // 8))
        numbers.append(_planes(codes, _bytes_for(len(found))))
    pieces = [_planes(_shortened(distinct.weights), 8), _planes(_repeats(sample), 4), *lists, *numbers]
    return {
        "nodes": nodes,
        "graphs": len(distinct),
        "draws": len(sample),
        "kinds": len(kinds),
        "rows": rows,
        "data": _text(b"".join(pieces)),
    }


def _listed(rows: Masks) -> tuple[Masks, Integers]:
    """The distinct rows, most frequent first, and the place of each row among them."""
    first, member = distinct_rows(rows)
    falling = np.argsort(-np.bincount(member, minlength=len(first)), kind="stable")
    place = np.empty(len(first), dtype=np.int64)
    place[falling] = np.arange(len(first))
    return rows[first[falling]], place[member]


def _bytes_for(count: int) -> int:
    """How many bytes number so many rows.

    >>> [_bytes_for(count) for count in (1, 256, 257, 70_000)]
    [1, 1, 2, 3]
    """
    return max(1, (int(count - 1).bit_length() + 7) // 8)


def _shortened(weights: Floats) -> Floats:
    """The weights, rounded to the digits that are kept."""
    bits = weights.astype(np.float64).view(np.uint64)
    half, dropped = np.uint64(1 << (_DROPPED - 1)), np.uint64((1 << _DROPPED) - 1)
    return ((bits + half) & ~dropped).view(np.float64)


def _repeats(sample: DagSample) -> NDArray[np.float32]:
    """What an interval needs to know of each distinct graph.

    Where each graph counts once ("distinct"): the chance that it would not have been drawn, or if that is more than one
    half, the chance that it would have been, with a minus. Else how many draws of equal weight it stands for.
    """
    distinct = sample.distinct
    if sample.estimator == "distinct":
        own = sample.own_weights
        missed = np.empty(len(distinct))
        missed[distinct.member[own.rows]] = own.missed
        drawn = np.empty(len(distinct))
        drawn[distinct.member[own.rows]] = own.masses / own.stands_for
        found = np.where(missed <= 0.5, missed, -drawn).astype(np.float32)
        return (found.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    squares = np.bincount(distinct.member, weights=sample.weights**2, minlength=len(distinct))
    worth = np.divide(distinct.weights**2, squares, out=np.ones_like(squares), where=squares > 0.0)
    return np.where(np.abs(worth - np.rint(worth)) < 1e-6, np.rint(worth), worth).astype(np.float32)


def _planes(numbers: NDArray[Any], size: int) -> bytes:
    """The first `size` bytes of each number, lowest first: all first bytes, then all second ones, and so on."""
    width = numbers.dtype.itemsize
    raw = np.ascontiguousarray(numbers).astype(numbers.dtype.newbyteorder("<"), copy=False)
    return np.ascontiguousarray(raw.reshape(-1).view(np.uint8).reshape(-1, width)[:, :size].T).tobytes()


def _text(raw: bytes) -> str:
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return base64.b64encode(packer.compress(raw) + packer.flush()).decode("ascii")


def _interval_facts(sample: DagSample, part: DagSample) -> dict[str, Any]:
    """What an interval of a share needs to know of the sample as a whole; `part` are the draws that are packed."""
    facts: dict[str, Any] = {
        "estimator": sample.estimator,
        "counted": sample.target.words,
        "confidence": _CONFIDENCE,
        "precision": None,
        "effective": None,
        "covered": None,
        "total": None,
        "left": None,
        "edge_worth": [],
    }
    if sample.from_chains:
        worth = {
            "effective": _finite(min(sample.effective_samples, len(part))),
            "edge_worth": _edge_worth(sample, part),
        }
        return {**facts, "estimator": "chains", **worth}
    if sample.guarantee is not None and part is sample:
        precision, confidence = sample.guarantee
        facts |= {"precision": precision, "confidence": confidence}
    if part.estimator in ("distinct", "iw"):
        own = part.own_weights
        facts |= {
            "covered": _finite(own.covered),
            "total": _finite(float(own.stands_for.sum())),
            "left": _finite(own.most_left),
        }
    return {**facts, "effective": _finite(part.effective_samples)}


def _edge_worth(sample: DagSample, part: DagSample) -> list[list[float]]:
    """How many independent draws the chains are worth for one edge: parent, child, number; where that is known."""
    place = {name: column for column, name in enumerate(sample.names)}
    edges = sample.diagnosed.edges
    rows = zip(edges["parent"], edges["child"], edges["effective_samples"], strict=True)
    return [
        [place[parent], place[child], round(min(float(worth), len(part)), 1)]
        for parent, child, worth in rows
        if math.isfinite(worth)
    ]


def _known_facts(known: Knowledge) -> dict[str, Any]:
    """What is known about directions before the page assumes anything; `always`: nodes that were set in all rows."""
    nodes = len(known.settled)
    always = [node for node in range(nodes) if known.targets and all(own >> node & 1 for own in known.targets)]
    ruled_out = np.zeros_like(known.settled) if known.ruled_out is None else known.ruled_out
    return {
        "settled": np.argwhere(known.settled).tolist(),
        "fixed": np.argwhere(known.fixed).tolist(),
        "ruled_out": np.argwhere(ruled_out).tolist(),
        "always": always,
    }


def _finite(number: float) -> float | None:
    return float(number) if math.isfinite(number) else None
