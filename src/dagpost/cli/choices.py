"""The names that options take, as shells complete them and the help lists them: all from the registries."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dagpost._tools.registry import Registry

#: What leaves the choice to us.
AUTO = "auto"
#: What is counted once.
Modularity = StrEnum("Modularity", ["structure", "order"])
#: How columns of numbers are cut.
Strategy = StrEnum("Strategy", ["quantile", "uniform", "kmeans"])
#: What to do about missing cells, about levels that were not seen in training, and about graphs with a cycle.
Missing = StrEnum("Missing", ["augment", "drop", "level", "refuse"])
Unseen = StrEnum("Unseen", ["error", "prior", "missing"])
Cyclic = StrEnum("Cyclic", ["refuse", "drop"])


def methods() -> dict[str, str]:
    """Every method, with a few words about it."""
    from dagpost.methods.registry import METHODS

    return {AUTO: "the best that is affordable", **_summaries(METHODS)}


def engines() -> dict[str, str]:
    """Every engine, with a few words about it."""
    from dagpost.engines.registry import ENGINES

    return {AUTO: "a device where there is one with enough room, else threads", **_summaries(ENGINES)}


def scores() -> dict[str, str]:
    """Every score, with a few words about it."""
    from dagpost.scores.registry import SCORES

    return {
        AUTO: "what suits the columns: bdeu for levels, bge for numbers, latent-gaussian or conditional-gaussian for "
        "both",
        **_summaries(SCORES),
    }


def priors() -> dict[str, str]:
    """Every prior as it is typed, with a few words about it."""
    from dagpost.priors.registry import PRIORS

    known = {f"{name}:{own.argument}" if own.argument else name: own.summary for name, own in PRIORS.classes().items()}
    return {AUTO: "how many edges there are is averaged over where that is quick, as edge:average does", **known}


def _summaries(registry: Registry[Any]) -> dict[str, str]:
    return {name: kind.summary for name, kind in registry.classes().items()}


def plots() -> dict[str, str]:
    """Every kind of plot, with a few words about it."""
    from dagpost.plots.kinds import KINDS

    return {name: kind.words for name, kind in KINDS.items()}


def datasets() -> dict[str, str]:
    """Every bundled data set, with a few words about it."""
    from dagpost.data import datasets as bundled

    return {name: bundled.describe(name) for name in bundled.names()}


def cases() -> dict[str, str]:
    """Every reference case, with a few words about it."""
    from dagpost import reference

    return {name: reference.load(name).description for name in reference.names()}


def _completed(listed: Callable[[], dict[str, str]]) -> Callable[[str], list[tuple[str, str]]]:
    """A function that completes what is typed from names; what follows a colon is left to the user."""

    def complete(incomplete: str) -> list[tuple[str, str]]:
        names = {re.sub("(?<=:).*", "", name): words for name, words in listed().items()}
        return [(name, words) for name, words in names.items() if name.startswith(incomplete)]

    return complete


complete_method, complete_score = _completed(methods), _completed(scores)
complete_engine, complete_prior, complete_dataset = _completed(engines), _completed(priors), _completed(datasets)
complete_plot = _completed(plots)
complete_case = _completed(cases)
