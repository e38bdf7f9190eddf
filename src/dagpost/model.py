"""DagPosterior, the front door: from a table to the posterior over the graphs that may have made it.

Every method here is a few lines over one record, `Fitted` (posterior/fitted.py), and the station that knows the rest.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self, overload

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.checks import whole_number
from dagpost._tools.estimator import Estimator, available_if, requests_of
from dagpost._tools.mixture import Value
from dagpost._tools.progress import ProgressCallback
from dagpost.checkpoints import Checkpoint
from dagpost.data.recipe import Recipe
from dagpost.data.regimes import Regimes
from dagpost.data.survey_weights import refuse_other_arguments
from dagpost.engines import Engine
from dagpost.engines.registry import EngineSetting
from dagpost.methods.base import Method
from dagpost.posterior import completed_tables, fitting, lists, study, time_edges
from dagpost.posterior.estimate import Estimate, check_confidence
from dagpost.posterior.fitted import Fitted, Found
from dagpost.posterior.sample import DagSample, Statement
from dagpost.posterior.study import predicts_levels, with_input_tags
from dagpost.priors import StructurePrior
from dagpost.scores import LocalScores, Score

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from dagpost.causal import Effect
    from dagpost.explorer.serving import Explorer
    from dagpost.features.numbers import NumberFunction
    from dagpost.posterior.expectation import Expectation
    from dagpost.posterior.plan import Plan
    from dagpost.posterior.regime_effects import RegimeEffects
    from dagpost.posterior.sensitivity import Sensitivity
    from dagpost.posterior.summaries import GraphStanding
    from dagpost.posterior.summaries.given import GivenGraph
    from dagpost.prediction.network import AnyNetwork
    from dagpost.values import ValueDistribution

Edges = str | Iterable[str | tuple[str, str]]


class DagPosterior(Estimator):
    """The posterior over all Bayesian network structures of a table.

    Exact for up to about 24 variables (30 with ``modularity="order"``), from weighted samples or chains up to 1,024.
    With tiers or exogenous columns, exact for up to 1,024: what counts is the largest group in which a cycle can close.

    Parameters
    ----------
    score
        How well a parent set explains a column: ``"bdeu"``, ``"bde"``, ``"k2"``, ``"bic"``, ``"bge"`` (for continuous
        columns), ``"conditional-gaussian"`` or ``"latent-gaussian"`` (for both), or an object such as ``BDeu(10)``.
        ``"auto"`` chooses by the columns and says what it assumes (docs/scores.md); for levels it is
        ``BDeu("average")``, averaged over several sizes, weighted as `mixture_weights_` says; from 19 variables on and
        with chains, ``BDeu(5)``. (scikit-learn's scorers need ``scoring=``.)
    prior
        Weight of a parent set before the data. ``"auto"``: how many edges there are is averaged over
        (``EdgePrior("average")``) where exact evidences are quick, else one parent a column is expected, and none for
        scores from elsewhere. Or ``"uniform"``, ``"indegree"``, an object such as ``EdgePrior(0.1)``.
    modularity
        ``"structure"``: every graph counts once. ``"order"``: a graph counts once for every order of the variables it
        fits (Koivisto & Sood 2004); much cheaper, and exact for more variables.
    max_parents
        No variable has more parents than this.
    method
        How graphs are found: ``"auto"``, a name from the list in the guide (docs/methods.md), or an object with
        settings, such as ``BlockGibbs(chains=8)``.
    samples
        How many graphs are drawn when an answer needs a sample and none is given; at most those of half a gigabyte.
    required, forbidden
        Edges, as text ``"parent -> child"`` or pairs of names, that every graph has, or that no graph has. A name with
        an arrow in it is put in quotes.
    tiers
        Groups of names, earliest first: no edge leads back from a later group to an earlier one.
    exogenous
        Names of columns that are not modelled, such as age or study arm: they may be parents and have none, and every
        answer is conditional on them. Those that the recipe names are exogenous too.
    regimes
        The column that names the experiment of each row, if its targets are unknown; or ``Regimes(...)``.
    engine, threads
        Where the work runs: ``"threads"``; ``"cuda"``, with the exact tables on a CUDA device; ``"dask"``, processes
        of this machine, or a Dask client or ``DaskEngine(address)``; ``"auto"``, a device where there is one with room
        and 20 variables or more, else threads. And on how many threads (None: every core). No result depends on it.
    seed
        Seed of the samples that are drawn when an answer needs one; None: a new one each time.
    progress
        None: bars on a terminal for what takes longer than two seconds; True, False, or a function (stage, done, all).
    recipe
        What is done with each column: a ``Recipe``, fitted or not, or the path of a recipe file. None: docs/tables.md.
    missing
        About gaps, overriding the recipe: ``"augment"`` (chains complete them), ``"drop"``, ``"level"``, ``"refuse"``.

    Attributes
    ----------
    log_evidence_
        Natural log of the weight of the data under all graphs together; nan if unknown, or a committee; not with gaps.
    edge_probabilities_
        Table of the probability of every edge: rows are parents, columns children.
    exact_
        Whether these are exact; else estimated from samples, with gaps averaged (`edge_errors_`: standard errors).
    method_, method_reason_, target_, engine_
        The method that finds graphs, why it was chosen, what it counts, and what the edges were computed on.
    verdict_
        Where the edges come from chains, one sentence that says whether to trust them; else None.
    mixture_weights_, joined_by_kind_
        Where something is averaged over, as by default: the probability of each value; every pair by kinds of models.
    recipe_, condition_
        What was done with each column: a fitted ``Recipe``; and what `given` takes for true, with its `probability`.

    Where the method does not need them, evidence and edges are computed when they are first used.

    Examples
    --------
    >>> from dagpost import DagPosterior, datasets
    >>> DagPosterior(score="bdeu").fit(datasets.load("coronary")).probability("Smoking ~> Pressure")
    0.3759 (exact; each graph counted once)

    Reference: He, Tian & Wu (2016), Structure learning in Bayesian networks of moderate size by efficient sampling.
    """

    engine: Any = EngineSetting()
    fitted_: Fitted
    names_ = Found(lambda fitted: fitted.names)
    recipe_ = Found(lambda fitted: fitted.data.recipe)
    n_features_in_ = Found(lambda fitted: len(fitted.data.given_names))
    feature_names_in_ = Found(lambda fitted: np.array(fitted.data.given_names, dtype=object))
    max_parents_ = Found(lambda fitted: fitted.workspace.max_parents)
    method_ = Found(lambda fitted: fitted.method.name)
    method_reason_ = Found(lambda fitted: fitted.reason)
    target_ = Found(lambda fitted: fitted.target)
    log_evidence_ = Found(lists.log_evidence)
    edge_probabilities_ = Found(lists.edge_table)
    edge_errors_ = Found(lists.error_table)
    exact_ = Found(lambda fitted: fitted.results.exact)
    engine_ = Found(lambda fitted: fitted.results.engine)
    verdict_ = Found(lambda fitted: fitted.results.verdict)
    mixture_weights_ = Found(lists.mixture_table)
    joined_by_kind_ = Found(lists.table_by_kind)
    condition_ = Found(lambda fitted: fitted.condition)

    def __init__(
        self,
        score: str | Score = "auto",
        prior: str | StructurePrior = "auto",
        modularity: Literal["structure", "order"] = "structure",
        max_parents: int = 5,
        method: str | Method = "auto",
        samples: int = 30_000,
        required: Edges = (),
        forbidden: Edges = (),
        tiers: Sequence[Iterable[str]] | Mapping[str, int] | None = None,
        engine: str | Engine = "auto",
        threads: int | None = None,
        seed: int | None = None,
        progress: bool | ProgressCallback | None = None,
        recipe: Recipe | str | os.PathLike[str] | None = None,
        missing: Literal["augment", "drop", "level", "refuse"] | None = None,
        exogenous: str | Iterable[str] = (),
        regimes: str | Regimes | None = None,
    ) -> None:
        self.score, self.prior, self.modularity, self.max_parents = score, prior, modularity, max_parents
        self.method, self.samples, self.seed, self.progress = method, samples, seed, progress
        self.required, self.forbidden, self.tiers, self.exogenous = required, forbidden, tiers, exogenous
        self.engine, self.threads, self.recipe, self.missing, self.regimes = engine, threads, recipe, missing, regimes

    def __sklearn_tags__(self) -> Any:
        return with_input_tags(self, super().__sklearn_tags__())

    def fit(
        self, X: Any, y: None = None, *, counts: Any = None, interventions: Any = None,  # noqa: ARG002
        checkpoint: Checkpoint | None = None, **others: Any,
    ) -> Self:  # fmt: skip
        """Compute the posterior of a table.

        `X` is a pandas, polars or pyarrow table, a two-dimensional array, the path of a CSV or Parquet file, or a
        `Table`. `counts` names the column that says how many times each row was seen; `interventions` the one that says
        which variable was set from outside in each row, whose score leaves that row out (Cooper & Yoo 1999). Both may
        be arrays. `checkpoint` is where a long fit keeps what it has finished: killed at any moment, the same call
        resumes from there. Evidence and edges are then computed at once. Weights of rows are refused.
        """
        refuse_other_arguments(others)
        table = study.table_of(self, X, counts, interventions)
        self._forget(checkpoint)
        return self._adopt(completed_tables.with_row_labels(fitting.fit_table(self, table, checkpoint), X))

    def fit_scores(self, scores: LocalScores, *, checkpoint: Checkpoint | None = None) -> Self:
        """Compute the posterior from local scores that come from elsewhere, such as another program's (`read_jkl`).

        The prior and the constraints of the model are added; its score is not looked at. Nothing can be predicted.
        """
        self._forget(checkpoint)
        return self._adopt(fitting.fit_scores(self, scores, checkpoint))

    def plan(self, table: Any, *, counts: Any = None, interventions: Any = None) -> Plan:
        """What a fit, its edges and own sample (for some methods when first used) take: method, why, time, memory."""
        return fitting.plan_of(self, table, counts, interventions)

    def sample(
        self, count: int | None = None, *, precision: float | None = None, confidence: float = 0.95,
        seed: int | None = None, resume: DagSample | None = None, checkpoint: Checkpoint | None = None,
    ) -> DagSample:  # fmt: skip
        """Draw graphs from the posterior.

        Ask for a number, or for a precision: then as many independent graphs are drawn as bring the frequency of any
        statement within `precision` of the truth with this confidence (Hoeffding's inequality). Without a seed, a new
        one is taken each time. Chains resume from `resume`, an earlier sample, until there are `count` graphs in all;
        Ctrl-C ends them with what there is. With a `checkpoint`, the same call resumes a run that was killed.

        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior().fit(datasets.load("coronary"))
        >>> model.sample(precision=0.02, confidence=0.95, seed=1)
        DagSample of 4,612 independent graphs over 6 variables (exact-layers, structure-modular)
        """
        return fitting.draw_sample(self._fitted(), count, precision, confidence, seed, resume, checkpoint)

    @overload
    def probability(  # type: ignore[overload-overlap]
        self, feature: Statement, given: Statement | None = ..., *, confidence: float = ...
    ) -> Estimate: ...
    @overload
    def probability(
        self, feature: Sequence[Statement], given: Statement | None = ..., *, confidence: float = ...
    ) -> list[Estimate]: ...
    def probability(
        self, feature: Statement | Sequence[Statement], given: Statement | None = None, *, confidence: float = 0.95
    ) -> Estimate | list[Estimate]:
        """How probable a statement about the graph, or about values, is: exact where it can be, else from a sample.

        A statement is text (``"Smoking ~> Pressure"``, ``"P(A -> B | B ~> C)"``), a feature object, or any function of
        a networkx graph; `given` restricts to graphs in which another one holds. Of values it is text, such as
        ``'P(Pressure = ">140" | Smoking = "yes")'`` or ``"E(weight | age > 50)"``.
        """
        from dagpost.values.asking import answers_to

        return answers_to(self._fitted(), feature, given, confidence)  # type: ignore[no-any-return]

    def given(self, *statements: Statement, setting: Mapping[str, Value] | Value | None = None) -> Self:
        """The model among the graphs in which all these statements hold: a fitted model again, with all its methods.

        Conditions on parents, such as edges, leave everything exact; of others the drawn graphs in which they hold are
        left, with a warning if they are few. `setting` has values of what `mixture_weights_` is about, such as
        ``{"edge density": 0.5}``. `condition_` has the probability of the condition, and `log_evidence_` is then that
        of the data together with it.
        """
        from dagpost.posterior.given import conditioned

        return type(self)(**self.get_params(deep=False))._adopt(conditioned(self._fitted(), statements, setting))

    def value(
        self, target: str, given: Mapping[str, Any] | None = None, *, do: Mapping[str, Any] | None = None,
        where: Statement | None = None, draws: int = 4_000, confidence: float = 0.95, seed: int | None = None,
    ) -> ValueDistribution:  # fmt: skip
        """How a column is distributed, averaged over graphs: probabilities of levels, or mean and limits of numbers.

        `given` has the values of other columns (a list: one of these levels; a tuple: limits of a number), `do` those
        that are set, `where` a statement about the graph. Columns that are not named are averaged over.
        """
        from dagpost.values.answers import value_distribution

        return value_distribution(self._fitted(), target, given, do, where, confidence, draws, seed)

    def expectation(
        self, function: NumberFunction, given: Statement | None = None, *, confidence: float = 0.95
    ) -> Expectation:
        """The mean of a function from networkx graphs to numbers; `given`: over the graphs where a statement holds."""
        return self.own_sample().expectation(function, given, confidence=confidence)

    def probability_matrix(self, relation: str = "~>") -> pd.DataFrame:
        """Probability of `x relation y` for all pairs, x in the rows: exact where it can be, else from a sample.

        `relation` is "->" (edge), "~>" (directed path), "~>{3}" (path of at most 3 edges) or "--" (adjacent).
        """
        return lists.relation_table(self._fitted(), relation)

    def lagged_edges(self) -> pd.DataFrame:
        """The edges of a model fitted to `unroll(...)`, folded back to its series, most probable first.

        Columns: `from`, `to`, `lag` (how many steps ago the parent was; missing: static), `probability`, `edge`.
        """
        return lists.lagged_edges(self._fitted())

    def series_edges(self) -> pd.DataFrame:
        """How probably one series (row) is a parent of another at any lag; on the diagonal, of its own future."""
        return time_edges.series_edges(self._fitted().names, self.probability)

    def directions(self, *, confidence: float = 0.95) -> pd.DataFrame:
        """Which way each pair points, and who says so: the data, rules, the model, or nobody. One row a pair.

        Columns: `from`, `to`; `joined`, the probability of an edge between the two; `by_data`, that it is there and the
        data compel it to lead from `from` to `to` (`by_data_back`: back; `lower`, `upper` bound it); `by_rules` (and
        `_back`), that its direction follows only with your rules; `by_model`, only because the model lacks edges (from
        numbers to levels); `reversible`, that nothing decides it; `direction`, all of it in a word: "clear" if
        `by_data` has at least 90% of `joined`, "leaning" from 60% on, "rules", "model", or "open". Compelled by the
        data is what all graphs that say the same of the rows have. No hidden common cause is assumed.

        >>> from dagpost import DagPosterior, datasets
        >>> pairs = DagPosterior(seed=1).fit(datasets.load("coronary")).directions()
        >>> pairs.loc[0, ["from", "to", "direction"]].to_list()
        ['M. Work', 'P. Work', 'open']
        """
        from dagpost.posterior.directions import directions_of

        check_confidence(confidence)
        return directions_of(self._fitted(), confidence).table()

    def regime_effects(self) -> RegimeEffects:
        """Which variables each regime changed, with probabilities: `table`, `pairs`, `expected` (``regimes=...``)."""
        return lists.regime_effects(self._fitted())

    def parents_considered(self) -> pd.DataFrame:
        """How many parents and sets chains over graphs consider, for each variable, and what other sets may hold."""
        return lists.parents_considered(self._fitted())

    def family_probabilities(self, child: str) -> pd.Series[float]:
        """Probability of every allowed parent set of `child`, most probable first, indexed by frozensets of names."""
        return lists.family_table(self._fitted(), child, None)

    def top_families(self, child: str, count: int = 10) -> pd.Series[float]:
        """The `count` most probable parent sets of `child`, as readable text."""
        families = lists.family_table(self._fitted(), child, whole_number(count, "count"))
        families.index = [lists.set_text(parents, self.names_) for parents in families.index]
        return families

    def best(self, count: int = 1) -> DagSample:
        """The `count` most probable graphs, best first; `covered` is their mass, `provenance["tied"]` marks ties."""
        return self._fitted().best(whole_number(count, "count"))

    def log_joint(self, graph: GivenGraph) -> float:
        """Log p(graph, data) of one graph: of networkx, pairs ``(parent, child)`` of names, or a row of masks."""
        return lists.log_joint(self._fitted(), graph)

    def standing(self, graph: GivenGraph, sample: DagSample | None = None) -> GraphStanding:
        """How one graph stands: its log score, its posterior probability, its rank among those of a sample."""
        from dagpost.posterior.summaries import graph_standing

        log_joint = math.nan if self._fitted().completes else self.log_joint(graph)
        return graph_standing(self.own_sample() if sample is None else sample, graph, log_joint)

    def sensitivity(self) -> Sensitivity:
        """Whether the pairs found and clear directions hang on our choices: each made otherwise, one at a time.

        Tried are other settings of the score, another score, other bins, other priors on edges, one parent less and one
        more; each is a fit with exact sums. Made once and kept with the model.
        """
        from dagpost.posterior.variations import sensitivity_of

        return sensitivity_of(self._fitted())

    def own_sample(self) -> DagSample:
        """The sample that answers and predictions come from where none is given: drawn once, kept with the model."""
        return self._fitted().own_sample()

    def completed(self, count: int, seed: int | None = None) -> list[pd.DataFrame]:
        """Completed tables of a model with gaps, for other programs: multiple imputations, averaged over all graphs.

        They have the columns, levels and numbers of the table, one row an observation; a number that was cut is the
        label of its bin. Spread evenly over all tables that the chains kept, or those that a `seed` picks.
        """
        return completed_tables.completed(self._fitted(), count, seed)

    def missing_cells(self) -> pd.DataFrame:
        """What is known of each missing cell, one row each, from all completed tables that the chains kept.

        `row` is its label or number. Of levels: `likeliest`, `probability`, and `probabilities` of all; of numbers:
        `mean`, `sd` and quantiles.
        """
        return completed_tables.cells(self._fitted())

    def score_samples(self, X: Any, *, unseen: str | None = None, interventions: Any = None) -> Floats:
        """Log p(row | data) of new rows, given exogenous columns; over all graphs, with parameters integrated out.

        The rows are raw: they pass through the recipe of the model, which needs its columns by name, in any order, or
        an array with all columns of the training table. `unseen`: what becomes of a level not seen in training:
        ``"error"``; ``"prior"``, what it has under the prior; ``"missing"``, a gap; None: as the recipe says. Gaps are
        summed over, unless the recipe says otherwise; in an exogenous column they give nan. `interventions`: see `fit`.
        """
        from dagpost.prediction import fitted as predictions

        return predictions.log_predictive_of_rows(self._fitted(), X, unseen, interventions)

    @available_if(predicts_levels)
    def predict_proba(
        self, X: Any, *, target: str, unseen: str | None = None, interventions: Any = None
    ) -> pd.DataFrame:
        """Probability of every level of one column, which is not looked at, given the others, as in `score_samples`."""
        from dagpost.prediction import fitted as predictions

        return predictions.level_probabilities(self._fitted(), X, target, unseen, interventions)

    set_predict_proba_request = requests_of("predict_proba")

    def predict_number(
        self, X: Any, *, target: str, confidence: float = 0.95, unseen: str | None = None, interventions: Any = None
    ) -> pd.DataFrame:
        """Mean, sd, median and interval of a column of numbers, given the others of each row as in `predict_proba`."""
        from dagpost.prediction import fitted as predictions

        return predictions.number_predictions(self._fitted(), X, target, confidence, unseen, interventions)

    def to_bayesian_network(self, graph: GivenGraph | None = None) -> AnyNetwork:
        """One graph with the posterior means of its parameters: that given, or else the most probable that is found."""
        from dagpost.prediction.fitted import network_of

        return network_of(self._fitted(), graph)

    def effect(
        self, cause: Any, outcome: str, *, do: Any = None, outcome_level: object = None,
        given: Statement | None = None, draws: int = 10_000, confidence: float = 0.95, seed: int | None = None,
    ) -> Effect:  # fmt: skip
        """What setting one column does to another: the posterior of the total effect, its parts and what is assumed.

        `do=(value, other)` says what is compared; `cause` may name several columns, each with its two values:
        ``{"Smoking": ("yes", "no")}``. `given`: among the graphs in which a statement holds. See `causal.effect`.
        """
        from dagpost.causal.effects import effect_of_fitted

        seed = self.seed if seed is None else seed
        return effect_of_fitted(self._fitted(), cause, outcome, do, outcome_level, given, draws, confidence, seed)

    def effects(self, *, draws: int = 2_000, confidence: float = 0.95, seed: int | None = None) -> pd.DataFrame:
        """The total effect of every column on every other, one row each: mean, interval, signs, and the direct part."""
        from dagpost.causal.all_effects import effects_of_fitted

        return effects_of_fitted(self._fitted(), draws, confidence, self.seed if seed is None else seed)

    def direct_effects(self, confidence: float = 0.95) -> pd.DataFrame:
        """The coefficient of each edge given that it is there, in standard deviations (latent ones), with its sign."""
        from dagpost.prediction.gaussian_answers import direct_effects

        return direct_effects(self._fitted(), confidence)

    def latent_correlations(self, pairs: bool = False, confidence: float = 0.95) -> pd.DataFrame:
        """Posterior means of the correlations of (latent) numbers; `pairs`: one row each, with sd and interval."""
        from dagpost.prediction.gaussian_answers import correlation_table

        return correlation_table(self._fitted(), pairs, confidence)

    def save(self, path: str | os.PathLike[str], *, rows: bool = False) -> None:
        """Write the fitted model to one file; an older one is replaced whole.

        The file holds what is needed to ask, sample and predict; the rows only if `rows` says so (parameters of graphs
        beyond the own sample need them). **With gaps or latent numbers it always holds the rows**, and what was drawn.
        With more than 20 variables its own sample is in the file only if it was needed: call `own_sample()` once.
        """
        from dagpost.files.model_file import save_model

        save_model(self._fitted(), path, rows=rows)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, engine: str | Engine = "auto", threads: int | None = None,
        progress: bool | ProgressCallback | None = None,
    ) -> Self:  # fmt: skip
        """Read a model that `save` wrote, to work on this engine with this many threads."""
        from dagpost.files.model_file import load_model

        fitted, settings = load_model(path, engine, threads, progress, cls._get_param_names())
        return cls(**settings, engine=engine, threads=threads, progress=progress)._adopt(fitted)

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one HTML file that opens in any browser, offline; what takes longer than the fit is left out."""
        from dagpost.report.page import write_report

        return write_report(self._fitted(), path, title)

    def explore(self, *, port: int | None = None, open_browser: bool = True, title: str | None = None) -> Explorer:
        """Serve a page to this machine on which to assume something and see the rest change; `stop()` ends it."""
        from dagpost.explorer.serving import explore

        return explore(self._fitted(), port=port, title=title, open_browser=open_browser)

    def plot(self, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the graph in `ax` or a new figure; `plots.graph`, or with time `plots.in_time`, have the options."""
        from dagpost.plots.time_plot import picture_of

        return picture_of(self, ax, options)

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        """The settings, as scikit-learn shows them, and of a fitted model what it found."""
        settings = self.settings_text(N_CHAR_MAX)
        return f"{settings}: {lists.in_one_line(self.fitted_)}" if hasattr(self, "fitted_") else settings

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """What a notebook shows: the settings, and of a fitted model the sentence that matters, edges and a picture."""
        from dagpost.plots.notebook import model_html

        if hasattr(self, "fitted_"):
            return {"text/plain": repr(self), "text/html": model_html(self.fitted_, self.settings_text())}
        return super()._repr_mimebundle_(**options)

    def _forget(self, checkpoint: Checkpoint | None) -> None:
        """Let go of an earlier fit and its tables, once no setting is wrong: a broken-off fit leaves no model."""
        study.checked_method(self)
        fitting.checked_checkpoint(checkpoint)
        self.__dict__.pop("fitted_", None)

    def _adopt(self, fitted: Fitted) -> Self:
        self.fitted_ = fitted
        return self

    def _fitted(self) -> Fitted:
        if not hasattr(self, "fitted_"):
            from dagpost._tools.unfitted import UnfittedError

            raise UnfittedError("This DagPosterior has no data yet. Call fit(table) first.")
        return self.fitted_
