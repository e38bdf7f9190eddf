"""Which other priors is a result tried with? Those that people take, from indifferent to sparse."""

from __future__ import annotations

from dagpost._tools.alternatives import Alternative
from dagpost.priors.base import StructurePrior
from dagpost.priors.edge import AVERAGE, EdgePrior
from dagpost.priors.indegree import InDegreePrior
from dagpost.priors.uniform import UniformPrior

#: The last one expects one pair in five to be joined before the data, which is sparse beside the uniform prior.
_USUAL: tuple[tuple[str, StructurePrior], ...] = (
    ("edge:average", EdgePrior(AVERAGE)),
    ("uniform", UniformPrior()),
    ("indegree", InDegreePrior()),
    ("edge:0.1", EdgePrior(0.1)),
)


def other_priors(own: StructurePrior) -> list[Alternative[StructurePrior]]:
    """The usual priors but the own one.

    >>> [alternative.value for alternative in other_priors(UniformPrior())]
    ['edge:average', 'indegree', 'edge:0.1']
    """
    return [Alternative("prior", written, prior) for written, prior in _USUAL if prior != own]
