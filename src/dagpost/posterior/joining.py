"""Which samples may be joined, and where the joined one comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost._tools.text import shown
from dagpost.errors import InputError
from dagpost.posterior.condition_words import GIVEN_PROBABILITY
from dagpost.posterior.shares import GIVEN

if TYPE_CHECKING:
    from dagpost.posterior.sample import DagSample


def joined_provenance(one: DagSample, other: DagSample) -> dict[str, Any]:
    """The provenance of both samples together; refused where they are not of the same posterior, or may repeat."""
    kinds = [(s.names, s.target, s.method, s.estimator) for s in (one, other)]
    if kinds[0] != kinds[1] or one.estimator == GIVEN:
        raise InputError(f"Only samples of the same kind can be joined. Got {shown(one)} and {other!r}.")
    if one.provenance.get("data_fingerprint") != other.provenance.get("data_fingerprint"):
        raise InputError("These samples come from different data; they cannot be joined.")
    # How probable a condition is may be an estimate, or computed elsewhere: what it is decides.
    beside = {"engine", "seed", "seeds", "targets", GIVEN_PROBABILITY}
    for key in sorted((one.provenance.keys() | other.provenance.keys()) - beside):
        values = [s.provenance.get(key) for s in (one, other)]
        if values[0] != values[1]:
            raise InputError(
                f"These samples are of different posteriors: {key} is {values[0]!r} in one and {values[1]!r} in "
                "the other. They cannot be joined."
            )
    twice = [seed for seed in _seeds(one) if seed is not None and seed in _seeds(other)]
    if twice:
        raise InputError(f"Both samples were drawn with seed {twice[0]}: the second would repeat the first.")
    provenance = {**one.provenance, "seed": None, "seeds": [*_seeds(one), *_seeds(other)]}
    engines = {s.provenance["engine"] for s in (one, other) if "engine" in s.provenance}
    if len(engines) > 1:
        provenance["engine"] = " and ".join(sorted(engines))
    return provenance


def _seeds(sample: DagSample) -> list[Any]:
    return list(sample.provenance.get("seeds", [sample.provenance.get("seed")]))
