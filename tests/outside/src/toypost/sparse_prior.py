"""A prior of our own: every parent costs the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from dagpost import SizePrior


@dataclass(frozen=True)
class Sparse(SizePrior):
    """`cost` nats for every parent."""

    cost: float = 1.0

    name = "sparse"
    summary = "a toy: every parent costs COST nats"
    argument = "COST"

    @classmethod
    def from_text(cls, argument: str | None = None) -> Self:
        return cls() if argument is None else cls(float(argument))

    def log_weight_of_size(self, nodes: int, size: int) -> float:
        return -self.cost * size

    def in_words(self) -> str:
        return f"every parent costs {self.cost:g} nats"
