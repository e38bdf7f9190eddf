"""What a fitted model lists without being asked a question: parent sets, pairs, best graphs, where a graph stands."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.text import position_of
from dagpost.errors import InputError
from dagpost.families.numbering import parent_sets
from dagpost.methods.drawing import best
from dagpost.plots.accessor import Plotting
from dagpost.posterior.answers import ExactResults, exact_paths
from dagpost.posterior.estimate import MODULARITY_WORDS
from dagpost.posterior.sample import DagSample
from dagpost.posterior.settings import check_count
from dagpost.posterior.workspace import ExactWorkspace, Workspace

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.posterior.summaries import GraphStanding
    from dagpost.posterior.summaries.given import GivenGraph


class Listing(Plotting):
    """Lists of a fitted model."""

    if TYPE_CHECKING:
        names_: tuple[str, ...]
        max_parents_: int
        method_: str
        target_: str
        verdict_: str | None
        exact_: bool
        edge_probabilities_: pd.DataFrame
        _tables: Workspace
        _results: ExactResults | None

        def own_sample(self) -> DagSample: ...
        def _check_fitted(self) -> None: ...
        def _provenance(self) -> dict[str, Any]: ...

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What a notebook shows: the settings, and of a fitted model the sentence that matters, edges and a picture."""
        shown = {"text/plain": repr(self)}
        if hasattr(self, "edge_probabilities_"):
            return {**shown, "text/html": self._repr_html_()}
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        return bundle

    def _repr_html_(self) -> str:
        self._check_fitted()
        from dagpost.files.frames import long_table
        from dagpost.plots.small_graph import small_graph

        words = MODULARITY_WORDS[self.target_]
        how = "Exact" if self.exact_ else f"Estimated from graphs by {self.method_}"
        sentence = f"{how} ({words}). {self.verdict_ or ''}"
        best_first = long_table(self.edge_probabilities_).sort_values("probability", ascending=False).head(10)
        table = best_first.round(3).to_html(index=False, escape=True)
        measure = "share" if self.target_ == "bootstrap" else "probability"
        picture = small_graph(self.names_, self.edge_probabilities_.to_numpy(), measure=measure)
        return f"<p>{html.escape(repr(self))}</p><p>{html.escape(sentence)}</p>{picture}{table}"

    def family_probabilities(self, child: str) -> pd.Series[float]:
        """Probability of every allowed parent set of `child`, most probable first, indexed by frozensets of names."""
        return self._families_of(child, None)

    def top_families(self, child: str, count: int = 10) -> pd.Series[float]:
        """The `count` most probable parent sets of `child`, as readable text."""
        check_count("count", count)
        families = self._families_of(child, count)
        families.index = [_set_text(parents, self.names_) for parents in families.index]
        return families

    def best(self, count: int = 1) -> DagSample:
        """The `count` most probable graphs, best first, when every graph counts once: of all graphs, also for a model
        of trees, of one order or of the bootstrap.

        Their `log_joint` says how probable each is beside the others; `covered` is the posterior mass of all of them
        together. `provenance["tied"]` says that the next graph would be as good as the last one listed.

        >>> from dagpost import DagPosterior, datasets
        >>> best = DagPosterior().fit(datasets.load("coronary")).best(10)
        >>> len(best), round(best.covered, 3)
        (10, 0.557)
        """
        self._check_fitted()
        check_count("count", count)
        return best(self._tables, self.names_, count, self._provenance())

    def probability_matrix(self, relation: str = "~>") -> pd.DataFrame:
        """Probability of `x relation y` for all pairs, x in the rows: exact where it can be, else from a sample.

        `relation` is "->" (edge), "~>" (directed path), "~>{3}" (path of at most 3 edges) or "--" (adjacent).
        """
        self._check_fitted()
        matrix: Floats | None = None
        if relation in ("->", "--"):
            edges = self.edge_probabilities_.to_numpy()
            matrix = edges if relation == "->" else edges + edges.T
        elif self._results is not None and isinstance(self._tables, ExactWorkspace) and relation == "~>":
            matrix = exact_paths(self._tables, self._results)
        if matrix is None:
            return self.own_sample().probability_matrix(relation)
        return labelled(matrix, self.names_, "from", "to")

    def log_joint(self, graph: GivenGraph) -> float:
        """Log p(graph, data) of one graph: of networkx, pairs ``(parent, child)`` of names, or a row of parent masks.

        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior().fit(datasets.load("coronary"))
        >>> round(model.log_joint(model.best(1)[0]) - float(model.best(1).log_joint[0]), 6)
        0.0
        """
        from dagpost.posterior.summaries import masks_of_graph
        from dagpost.search.hill_climbing import log_weights_of_graphs

        self._check_fitted()
        masks = masks_of_graph(graph, self.names_, self.max_parents_)
        return float(log_weights_of_graphs(self._tables.families, masks[None, :])[0])

    def standing(self, graph: GivenGraph, sample: DagSample | None = None) -> GraphStanding:
        """How one graph stands: its log score, its posterior probability, its rank among those of a sample."""
        from dagpost.posterior.summaries import graph_standing

        drawn = self.own_sample() if sample is None else sample
        return graph_standing(drawn, graph, self.log_joint(graph))

    def _families_of(self, child: str, count: int | None) -> pd.Series[float]:
        import pandas as pd

        self._check_fitted()
        if self._results is None or not isinstance(self._tables, ExactWorkspace):
            raise InputError(
                f"The probabilities of whole parent sets are not computed here (method {self.method_!r}, "
                f"{len(self.names_)} variables). Count parent sets in model.sample(), or, of up to some 30 variables, "
                "use method='auto' with modularity='order'."
            )
        node = position_of(child, self.names_)
        probabilities = self._results.families[node]
        best_first = np.argsort(-probabilities, kind="stable")
        best_first = best_first[np.isfinite(self._tables.log_weights[node, best_first])][:count]
        others = [name for name in self.names_ if name != child]
        masks = parent_sets(len(others), self.max_parents_)[best_first].tolist()
        sets = [frozenset(name for bit, name in enumerate(others) if mask >> bit & 1) for mask in masks]
        index = pd.Index(np.fromiter(sets, dtype=object, count=len(sets)), name="parents")
        return pd.Series(probabilities[best_first], index=index, name=f"P(parents of {child})")


def labelled(matrix: Floats, names: tuple[str, ...], rows: str, columns: str) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(matrix, index=pd.Index(names, name=rows), columns=pd.Index(names, name=columns))


def _set_text(names: frozenset[str], order_of_names: Sequence[str]) -> str:
    return ", ".join(name for name in order_of_names if name in names) or "{}"
