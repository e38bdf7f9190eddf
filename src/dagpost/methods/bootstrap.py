"""How often greedy hill climbing finds an edge in resampled rows: not a posterior (search/replicates.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from dagpost._tools.checks import whole_number
from dagpost._tools.schema import ArrayRule, Rule, graphs, numbers, optional, text, whole
from dagpost._tools.spelling import either
from dagpost.errors import InputError
from dagpost.methods.base import Cost, Draws, Method, Wanted
from dagpost.methods.targets import Target

if TYPE_CHECKING:
    from dagpost.posterior.workspace import Workspace
    from dagpost.priors.study import Study

_PICKED = "Directions that the data cannot tell are picked by the search, always the same way."
_GRAPHS, _WEIGHTS, _SEED, _ENGINE = "replicates", "replicate_weights", "replicates_seed", "replicates_engine"


@dataclass(frozen=True)
class Bootstrap(Method):
    """How often greedy hill climbing finds an edge in resampled rows (Friedman, Goldszmidt & Wyner 1999).

    This is not a posterior: it tells how much the best graph depends on the very rows that were seen.

    Parameters
    ----------
    replicates
        How many times the rows are resampled; one graph each, found when the model is fitted.

    >>> Bootstrap(replicates=500)
    Bootstrap(replicates=500)
    """

    replicates: int = 200

    name = "bootstrap"
    summary = "greedy search in resampled rows"
    citation = (
        "Friedman, N., Goldszmidt, M., & Wyner, A. (1999). Data analysis with Bayesian networks: a bootstrap approach. "
        "Uncertainty in Artificial Intelligence, 15. "
        "https://doi.org/10.48550/arXiv.1301.6695"
    )
    draws = "independent"
    needs_rows = True
    quick_nodes = float("inf")
    kept_arrays: ClassVar[Mapping[str, ArrayRule]] = {
        _GRAPHS: graphs("replicates", "nodes"),
        _WEIGHTS: numbers("replicates"),
    }
    kept_facts: ClassVar[Mapping[str, Rule]] = {_SEED: optional(whole(most=None)), _ENGINE: optional(text)}

    def __post_init__(self) -> None:
        """Check the settings."""
        whole_number(self.replicates, "replicates", "Bootstrap")

    @property
    def target(self) -> Target:
        """Shares of replicates."""
        return Target(
            self.name,
            "share of bootstrap replicates, not a posterior probability",
            "The search looks for the graph of highest score and prior.",
            posterior=False,
            directions=_PICKED,
            trust="The rows were resampled {times}, and each time a greedy search looked for one good graph. A share "
            "is how many of these graphs have the edge: how little it depends on single rows; it is not the "
            f"probability that the edge is there. {_PICKED} So a direction counts as compelled only where every graph "
            "that fits equally well has it.",
        )

    def usual_count(self, samples: int) -> int:
        """All replicates."""
        return int(self.replicates)

    def at_fit(self, study: Study, workspace: Workspace, seed: int | None) -> None:
        """Find one graph in each resampled table."""
        from dagpost.search.replicates import bootstrap_dags

        sequence = workspace.new_seed(seed)
        found = bootstrap_dags(
            *study,
            self.replicates,
            families=workspace.families,
            seed=sequence,
            engine=workspace.engine,
            reporter=workspace.reporter,
            checkpoint=workspace.checkpoint,
        )
        workspace.kept.update(zip(self.kept_arrays, found, strict=True))
        workspace.facts.update({_SEED: int(sequence.entropy), _ENGINE: workspace.tasks_name})  # type: ignore[arg-type]

    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """The graphs of the first `count` replicates, which were found when the model was fitted."""
        count = wanted.number
        there = workspace.kept.get(_GRAPHS)
        if there is None or len(there) < count:
            more = either(f"method=Bootstrap(replicates={count})", f"--method {self.name}:replicates={count}")
            raise InputError(
                f"This model has {self.replicates:,} bootstrap replicates; {count:,} graphs were asked for. Fit it "
                f"again with {more}."
            )
        about = {"seed": workspace.facts.get(_SEED)}
        return Draws(there[:count], workspace.kept[_WEIGHTS][:count], about=about)

    def ran_on(self, workspace: Workspace) -> str:
        """What found the replicates."""
        return str(workspace.facts.get(_ENGINE) or "threads")

    def times_scored(self) -> int:
        """Once for the table, and once for every replicate."""
        return 1 + int(self.replicates)

    def cost_of_draws(self, count: int, nodes: int, max_parents: int, workers: int) -> Cost | None:
        """The replicates are found when the families are scored."""
        return None
