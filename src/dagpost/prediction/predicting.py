"""What a fitted model says of new rows, of one graph's parameters, and of interventions: the part of `DagPosterior`
that needs the data, or what was counted in them, once more.

A model keeps its table while it lives. Its file keeps what was counted for the families of its own sample instead,
never the rows: enough to predict from that sample, and nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from dagpost._tools.arrays import Floats
from dagpost.errors import InputError
from dagpost.posterior.sample import DagSample
from dagpost.posterior.workspace import ExactWorkspace
from dagpost.scores import resolve_score

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.causal import CausalEffect
    from dagpost.data.table import Table
    from dagpost.posterior.summaries.given import GivenGraph
    from dagpost.posterior.workspace import Workspace
    from dagpost.prediction import Statistics
    from dagpost.prediction.network import BayesianNetwork, GaussianNetwork


def _predicts_levels(model: Any) -> bool:
    """Scikit-learn asks whether a method is there at all: that of levels is not where there are none."""
    if resolve_score(model.score.setting).columns == "continuous":
        raise AttributeError("predict_proba is for discrete columns; with score='bge' they are continuous.")
    return True


class Predicting:
    """Prediction, parameters and causal effects of a fitted model."""

    if TYPE_CHECKING:
        score: Any
        seed: int | None
        names_: tuple[str, ...]
        modularity: str
        target_: str
        _score: Any
        _tables: Workspace
        _table: Table | None
        _statistics: Statistics | None

        def best(self, count: int = 1) -> DagSample: ...
        def own_sample(self) -> DagSample: ...
        def _check_fitted(self) -> None: ...

    def score_samples(self, X: Any, *, unseen: str = "error") -> Floats:
        """Log p(row | data) of new rows, averaged over graphs, with all parameters integrated out.

        Parameters
        ----------
        X
            New rows with all columns of the training table, by name and in any order, or an array.
        unseen
            What to do about a level that was not seen in training: ``"error"``, or ``"prior"``, which gives it the
            probability that it has under the prior.

        >>> from dagpost import DagPosterior, datasets
        >>> table = datasets.load("coronary").to_pandas()
        >>> model = DagPosterior(seed=1).fit(table, counts="counts")
        >>> model.score_samples(table.drop(columns="counts").head(2)).round(1)
        array([-3.7, -5.7])
        """
        from dagpost.prediction import log_predictive

        sample, statistics = self._to_predict_with(X)
        return log_predictive(
            sample,
            statistics,
            self._fitted_score(),
            X,
            unseen=unseen,  # type: ignore[arg-type]
            engine=self._tables.engine,
            reporter=self._tables.reporter,
        )

    @available_if(_predicts_levels)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, target: str, unseen: str = "error") -> pd.DataFrame:
        """Probability of every level of one column given the others, averaged over graphs; not for continuous columns.

        The target may be missing from the rows; if it is there, it is not looked at.

        >>> from dagpost import DagPosterior, datasets
        >>> table = datasets.load("coronary").to_pandas()
        >>> model = DagPosterior(seed=1).fit(table, counts="counts")
        >>> rows = table.drop(columns=["counts", "Pressure"]).head(2)
        >>> model.predict_proba(rows, target="Pressure").round(2).to_numpy().tolist()
        [[0.54, 0.46], [0.54, 0.46]]
        """
        import pandas as pd

        from dagpost.prediction import predictive_of_target
        from dagpost.prediction.statistics import DiscreteStatistics

        sample, statistics = self._to_predict_with()
        chances = predictive_of_target(
            sample,
            statistics,
            self._fitted_score(),
            X,
            target,
            unseen=unseen,  # type: ignore[arg-type]
            engine=self._tables.engine,
            reporter=self._tables.reporter,
        )
        assert isinstance(statistics, DiscreteStatistics)
        levels = statistics.levels[self.names_.index(target)]
        return pd.DataFrame(chances, columns=pd.Index(levels, name=target))

    def to_bayesian_network(self, graph: GivenGraph | None = None) -> BayesianNetwork | GaussianNetwork:
        """One graph with the posterior means of its parameters; the most probable graph unless another is given.

        (Where that cannot be found, as with more than 34 variables, or is not meant, as with trees: the most probable
        one of the model's own sample.)

        A graph is one of networkx, pairs ``(parent, child)`` of names, or a row of parent masks.
        """
        from dagpost.posterior.summaries import masks_of_graph
        from dagpost.prediction.network import bayesian_network

        self._check_fitted()
        masks = self._likeliest() if graph is None else masks_of_graph(graph, self.names_)
        masks = masks.astype(np.uint64)
        return bayesian_network(masks, self._statistics_of(masks[None, :]), self._fitted_score())

    def causal_effect(
        self,
        treatment: str,
        outcome: str,
        *,
        do: tuple[object, object] | None = None,
        outcome_level: object = None,
        draws: int = 10_000,
        confidence: float = 0.95,
        seed: int | None = None,
    ) -> CausalEffect:
        """The posterior of the total causal effect of setting one column on another, averaged over graphs.

        An effect only if no common cause of two columns is missing from the table, rows were not selected by what is in
        them, and nothing feeds back: `dagpost.causal.causal_effect` says more, and what the parameters are.

        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior(seed=1).fit(datasets.load("coronary"))
        >>> effect = model.causal_effect("Smoking", "Pressure", seed=1)
        >>> bool(0.2 < effect.zero_probability < 0.3)  # the probability that there is no effect at all
        True
        """
        from dagpost.causal import causal_effect

        self._check_fitted()
        if self._table is None:
            raise InputError(
                "Causal effects need the rows of the table, which this model was saved without. Fit it again, or save "
                "it with save(path, rows=True)."
            )
        return causal_effect(
            self.own_sample(),
            self._table,
            self._fitted_score(),
            treatment,
            outcome,
            do=do,
            outcome_level=outcome_level,
            draws=draws,
            confidence=confidence,
            seed=self.seed if seed is None else seed,
            engine=self._tables.engine,
        )

    def _likeliest(self) -> NDArray[Any]:
        """The most probable graph, or, where it is not to be had, the most probable one of the model's own sample."""
        if isinstance(self._tables, ExactWorkspace) and self.target_ == self.modularity:
            best: NDArray[Any] = self.best(1).parents[0]
            return best
        sample = self.own_sample()
        likeliest: NDArray[Any] = sample.parents[int(np.argmax(sample.log_joint))]
        return likeliest

    def _fitted_score(self) -> Any:
        """The score that the model was fitted with, whatever its setting is by now."""
        return resolve_score(self._score)

    def _statistics_to_keep(self) -> Statistics | None:
        """What a file needs to predict from the model's own sample, if it is to be had."""
        if isinstance(self._score, str) or (self._table is None and self._statistics is None):
            return None
        if resolve_score(self._score).parameter_prior() is None:
            return None
        return self._statistics_of(self.own_sample().parents)

    def _to_predict_with(self, X: Any = None) -> tuple[DagSample, Statistics]:
        """The graphs that predictions are averaged over, and what was counted for their families."""
        self._check_fitted()
        if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[1] != len(self.names_):
            raise InputError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {len(self.names_)} features as "
                "input: all columns of the training table, in their order."
            )
        sample = self.own_sample()
        return sample, self._statistics_of(sample.parents)

    def _statistics_of(self, parents: NDArray[Any]) -> Statistics:
        from dagpost.prediction import sufficient_statistics

        if self._statistics is None or not self._statistics.covers(parents):
            if self._table is None:
                raise InputError(
                    "This model has no rows (it was made from scores, or saved without them), and nothing was counted "
                    "for these graphs. Fit it to a table; save(path, rows=True) keeps the rows."
                )
            score, tables = self._fitted_score(), self._tables
            counted = sufficient_statistics(self._table, parents, score, engine=tables.engine, reporter=tables.reporter)
            if len(parents) == 1:
                return counted
            self._statistics = counted
        return self._statistics
