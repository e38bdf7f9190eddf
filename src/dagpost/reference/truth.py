"""The exact posterior of a reference case, as it is kept with the package.

It was computed by sums over all graphs and written by `tools/reference_truth.py`; truth_files.py says
in which form. Reading a case takes some hundredths of a second.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Truth:
    """The exact posterior of a case: what every sampler should find in the long run.

    `log_evidence` is the log of the sum over all graphs of the probability of the table, every graph with weight 1.
    `edges` and `paths` are square tables, from the row to the column. No probability is further from the exact one than
    `error_bound` by rounding; most are much nearer.
    """

    names: tuple[str, ...]
    log_evidence: float
    error_bound: float
    #: The probability of every edge.
    edges: pd.DataFrame
    #: The probability of a directed path for every pair.
    paths: pd.DataFrame
    #: Columns `node`, `parents` (names joined by ";", "" for none) and `probability`; of a node, the most probable
    #: first.
    families: pd.DataFrame
    #: Columns `class` (its essential graph, such as "A->B;B--C"), `graphs` (how many graphs with any weight it has) and
    #: `probability`, the most probable first.
    classes: pd.DataFrame
    #: All classes that are at least this probable are listed; 0 where all are.
    classes_bound: float

    @property
    def families_left_out(self) -> pd.Series[float]:
        """By node: the probability of all families that are not listed."""
        listed = self.families.groupby("node")["probability"].sum().reindex(list(self.names))
        return (1.0 - listed).clip(lower=0.0).rename("left_out")

    @property
    def classes_listed(self) -> float:
        """The probability of all classes together that are listed."""
        return min(float(self.classes["probability"].sum()), 1.0)

    def __repr__(self) -> str:
        families, classes = len(self.families), len(self.classes)
        return (
            f"Truth of {len(self.names)} columns: log evidence {self.log_evidence:.6g}, {families:,} families, "
            f"{classes:,} equivalence class{'' if classes == 1 else 'es'} with {self.classes_listed:.4g} of the mass"
        )
