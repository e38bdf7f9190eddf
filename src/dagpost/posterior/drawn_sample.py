"""What a method has drawn as a sample, the run that a sample of chains resumes, and whether its chains agree."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dagpost._tools.json_settings import from_json
from dagpost._tools.setting_text import readable_setting
from dagpost._tools.spelling import either
from dagpost._tools.text import shown
from dagpost.errors import InputError, warn
from dagpost.families.masks import mask_type
from dagpost.mcmc.records import ChainRun
from dagpost.methods.base import Draws, Method
from dagpost.methods.registry import METHODS
from dagpost.posterior.condition_words import GIVEN_PROBABILITY
from dagpost.posterior.sample import DagSample
from dagpost.priors.registry import PRIORS
from dagpost.scores.registry import SCORES


def make_sample(
    names: tuple[str, ...],
    found: Draws,
    method: Method,
    guarantee: tuple[float, float] | None,
    provenance: Mapping[str, Any],
) -> DagSample:
    """A sample of what a method found, weighted as suits the method."""
    count = len(found.parents)
    unknown = np.full(count, np.nan)
    sample = DagSample(
        names=names,
        parents=found.parents.astype(mask_type(len(names))) if found.parents.ndim == 2 else found.parents,
        log_joint=found.log_joint,
        log_proposal=unknown if found.log_proposal is None else found.log_proposal,
        log_extensions=unknown if found.log_extensions is None else found.log_extensions,
        weights=np.full(count, 1.0 / count),
        target=method.target,
        method=method.name,
        draws=method.draws,
        # Hoeffding's inequality is about plain frequencies.
        estimator=method.estimator if guarantee is None else "counting",
        log_evidence=found.log_evidence,
        guarantee=guarantee,
        provenance=provenance,
        chains=found.chains,
    )
    return sample.reweighed()


def run_of(sample: DagSample, count: int, about: Mapping[str, Any]) -> ChainRun:
    """The run that a sample of chains ended with."""
    if not isinstance(sample, DagSample) or sample.chains is None:
        raise InputError(
            f"Chains resume from a whole sample of chains. Got {shown(sample)}, or a part of one, instead."
        )
    if len(sample) > count:
        raise InputError(
            "Chains resume from a sample of the same model and settings until there are as many graphs in all as are "
            f"asked for. There are {len(sample):,} graphs already, and {count:,} are asked for. Ask for more."
        )
    differences = [
        f"{key} is {_shown(sample.provenance.get(key))} there and {_shown(about.get(key))} here"
        # The fingerprint stands for the targets too, which older samples do not name.
        for key in sorted((sample.provenance.keys() | about.keys()) - {"engine", "targets", GIVEN_PROBABILITY})
        if sample.provenance.get(key) != about.get(key)
    ]
    if differences:
        raise InputError(
            f"Chains resume from a sample of the same model and settings, and these differ: {'; '.join(differences)}. "
            "Take the model that the sample was drawn from, or draw a new one."
        )
    return ChainRun(sample.parents.astype("uint64", copy=False), sample.log_joint, sample.chains)


def _shown(described: Any) -> str:
    """A score, prior or method as it is written in Python, or named on the command line; all else as it is."""
    if isinstance(described, dict) and "kind" in described:
        found = from_json(described, METHODS, SCORES, PRIORS)
        return either(repr(found), readable_setting({**described, "kind": found.name}))
    return repr(described)


def warn_of_chains(sample: DagSample) -> None:
    """Say so where the chains that drew a sample do not agree."""
    try:
        verdict = sample.diagnostics()
    except (KeyboardInterrupt, MemoryError):
        remedy = either("sample.diagnostics() does it", "draw again for that")
        warn(f"The chains were not compared with each other; {remedy}.")
        return
    if not verdict.trusted:
        warn(verdict.verdict)
