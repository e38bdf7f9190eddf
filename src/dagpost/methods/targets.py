"""What is a number a probability of? Every estimate names its target, and the target brings its own words.

Under the structure-modular posterior every graph counts once, under the order-modular one once for every order it fits.
Some methods speak of something else (trees, graphs of one order) or of no posterior at all (the bootstrap): they bring
a target of their own, in their own file.
"""

from __future__ import annotations

from typing import Any


class Target(str):
    """The name of what is counted, as files and estimates hold it, with the words that people read.

    Parameters
    ----------
    words
        A few words behind a number: "each graph counted once".
    explanation
        A sentence or two for the report.
    summed_over
        What an exact number is a sum over: "all trees".
    posterior
        Whether the numbers are posterior probabilities; if not, they are shares.
    most_parents
        How many parents a variable can have at most, where the target itself says so.
    directions
        A sentence on directions, where they say nothing about the data.
    trust
        What shares say and do not say, where the numbers are shares; ``{times}`` stands for how many graphs there are.
    citation
        What to cite for exact sums over it.

    >>> STRUCTURE, STRUCTURE.words
    ('structure', 'each graph counted once')
    """

    words: str
    explanation: str
    summed_over: str
    posterior: bool
    most_parents: int | None
    directions: str
    trust: str
    citation: str

    def __new__(
        cls,
        name: str,
        words: str = "",
        explanation: str = "",
        summed_over: str = "all graphs considered",
        *,
        posterior: bool = True,
        most_parents: int | None = None,
        directions: str = "",
        trust: str = "",
        citation: str = "",
    ) -> Target:
        """Make the name; the words default to it."""
        target = super().__new__(cls, name)
        target.words, target.explanation, target.summed_over = words or name, explanation, summed_over
        target.posterior, target.most_parents, target.directions = posterior, most_parents, directions
        target.trust, target.citation = trust, citation
        return target

    @property
    def measure(self) -> str:
        """What the numbers are, in a word."""
        return "probability" if self.posterior else "share"

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Copies and pickles begin with the name; the words follow with the attributes."""
        return (str(self),)


STRUCTURE = Target(
    "structure",
    "each graph counted once",
    "Each graph is counted once.",
    "all graphs that are allowed",
    citation="Tian, J., & He, R. (2009). Computing posterior probabilities of structural features in Bayesian "
    "networks. Uncertainty in Artificial Intelligence, 25.",
)
ORDER = Target(
    "order",
    "each graph counted once for every order it fits",
    "Each graph is counted once for every order of the variables that it fits, which favours graphs that fit many.",
    "all orders and all graphs that fit them",
    citation="Koivisto, M., & Sood, K. (2004). Exact Bayesian structure discovery in Bayesian networks. "
    "Journal of Machine Learning Research, 5. https://jmlr.org/papers/v5/koivisto04a.html",
)
#: The targets that the `modularity` of a model can ask for.
MODULARITIES = {str(target): target for target in (STRUCTURE, ORDER)}
