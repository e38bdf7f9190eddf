"""How well does a model predict rows that it has not seen? Every observation is held out once.

The observations are dealt out to folds at random. For each fold the model is fitted to the others, and the held-out
ones are scored by their log probability, averaged over graphs with the parameters integrated out (`score_samples`).
Levels are those of the whole table, so a rare level that is only among the held-out rows is one like any other. A row
that stands for several observations is dealt out observation by observation; rows keep their interventions.

Which fold an observation is in depends on the seed alone: two models that are validated with one seed can be compared
observation by observation. Nothing depends on where the folds run: as tasks of a cluster, each on one thread of a
worker, where the engine has one and a fold's tables fit there; else one after the other on the model's own engine.

Time and memory: those of a fit, for each fold (under way).
"""

from __future__ import annotations

import html
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dagpost._tools import memory
from dagpost._tools.arrays import Floats, Integers
from dagpost._tools.checks import has_method, kind, seed_number, whole_number
from dagpost._tools.progress import reporter_for
from dagpost.data import Table
from dagpost.data.recipe_words import notice_of_gaps
from dagpost.engines import Engine, ThreadEngine
from dagpost.engines.base import CancelFlag
from dagpost.errors import InputError, collected_warnings, warn
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method
from dagpost.methods.choice import choose_method
from dagpost.posterior.fitting import notify_of_gaps
from dagpost.posterior.plan import weightless
from dagpost.posterior.study import checked_method, decide, rules_of, study_of_table, table_of
from dagpost.posterior.weighing import work_of
from dagpost.scores import parameter_prior_of, resolve_score, scores_within

#: Its fold, its row and its score, here and once more in the fold under way.
_BYTES_AN_OBSERVATION = 64

if TYPE_CHECKING:
    from dagpost.model import DagPosterior


@dataclass(frozen=True, eq=False, repr=False)
class CrossValidation:
    """Log p(observation | the other folds) of every observation, in the order of the rows; `folds` says where it was.

    A row that stands for several observations has as many entries, one after the other.
    """

    log_scores: Floats
    folds: Integers
    #: The method that drew the graphs, in every fold the same.
    method: str
    #: Of the table.
    data_fingerprint: str

    @property
    def mean(self) -> float:
        """Mean log score of an observation: the larger, the better the model predicts."""
        return float(self.log_scores.mean())

    @property
    def standard_error(self) -> float:
        """Standard error of `mean` (of the observations; that folds share training rows is not in it)."""
        return _standard_error(self.log_scores)

    def gain_over(self, other: CrossValidation) -> tuple[float, float]:
        """By how much the mean log score is better than another model's on the same folds, and the standard error."""
        kind(other, "other", CrossValidation, "a CrossValidation")
        if self.data_fingerprint != other.data_fingerprint or not np.array_equal(self.folds, other.folds):
            raise InputError(
                "These were validated on different tables or folds. Give both the same table, 'folds' and 'seed'."
            )
        gain = self.log_scores - other.log_scores
        return float(gain.mean()), _standard_error(gain)

    def __repr__(self) -> str:
        return (
            f"CrossValidation of {len(self.folds):,} observations in {int(self.folds.max()) + 1} folds: log score "
            f"{self.mean:.3f} (standard error {self.standard_error:.3f}) an observation"
        )

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"


def cross_validate(
    model: DagPosterior,
    X: Any,
    *,
    folds: int = 10,
    counts: Any = None,
    interventions: Any = None,
    seed: int | None = None,
) -> CrossValidation:
    """Score every observation of a table by a model that was fitted without it.

    Parameters
    ----------
    model
        A `DagPosterior` with the settings to validate; it need not be fitted, and is left as it is.
    X, counts, interventions
        The table, as for `DagPosterior.fit`.
    folds
        How many parts the observations are dealt out to; each is held out once.
    seed
        Of the folds and of the graphs that are drawn; that of the model unless given, a new one if it has none.

    >>> from dagpost import DagPosterior, cross_validate, datasets
    >>> table = datasets.load("coronary")
    >>> found = cross_validate(DagPosterior(samples=1000), table, folds=5, seed=1)
    >>> found
    CrossValidation of 1,841 observations in 5 folds: log score -3.639 (standard error 0.021) an observation
    >>> gain, standard_error = found.gain_over(cross_validate(DagPosterior(max_parents=0), table, folds=5, seed=1))
    >>> bool(gain > 4 * standard_error)  # the columns depend on each other, which helps to predict
    True
    """
    has_method(model, "model", "own_sample", "a DagPosterior")
    checked_method(model)
    seed_number(seed)
    for score in scores_within(resolve_score(model.score)):
        parameter_prior_of(score, "Prediction needs to know")
    table = table_of(model, X, counts, interventions)
    _check_folds(folds, table.observations)
    memory.require(
        _BYTES_AN_OBSERVATION * table.observations,
        f"To score each of {table.observations:,} observations",
        "Validate on a part of them.",
    )
    entropy = np.random.SeedSequence(model.seed if seed is None else int(seed)).entropy
    decided = decide(model, table)
    asked, _, study, engine = decided
    # What "auto" means is decided once, and not by the worker that has the fold.
    if isinstance(asked, Augmentation):
        method: Method = asked
        if table.gap_count:
            notify_of_gaps(model, table)
    else:
        workspace = weightless(decided)
        method = choose_method(asked, model.modularity, workspace)[0]
    settings = {
        **model.get_params(deep=False),
        "score": study.score,
        "method": method,
        "threads": None,
        "progress": False,
    }
    # The table is what they made of it: all folds have the same levels.
    settings["recipe"] = settings["missing"] = None
    del settings["engine"], settings["seed"]
    task = _Task(type(model), settings, table, folds, int(entropy))  # type: ignore[arg-type]
    dealt, log_scores = task.folds_of_observations(), np.empty(table.observations)
    remarks: Counter[str] = Counter()
    with reporter_for(model.progress).stage("folds", folds) as stage:
        for fold, (found, said) in enumerate(_run(task, method, engine)):
            log_scores[dealt == fold] = found
            remarks.update(said)
            stage.advance(1)
    for remark, times in remarks.items():
        warn(f"In {times} of {folds} folds: {remark}")
    return CrossValidation(log_scores, dealt, method.name, table.fingerprint())


class _Task(NamedTuple):
    """All that a fold needs beside its number; handed to a cluster once."""

    kind: type[Any]
    settings: dict[str, Any]
    table: Table
    folds: int
    entropy: int

    def folds_of_observations(self) -> Integers:
        """The fold of every observation, in the order of the rows."""
        generator = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(0,)))
        dealt = np.arange(self.table.observations, dtype=np.int64) % self.folds
        return generator.permutation(dealt)

    def settings_for(self, training: Table) -> dict[str, Any]:
        """The settings of the model of a fold; all gaps may be among what it holds out."""
        method = self.settings["method"]
        own = SimpleNamespace(**self.settings)
        if isinstance(method, Augmentation) and not study_of_table(own, method, training).table.gap_count:
            return {**self.settings, "method": method.given_table}
        return self.settings

    def seed_of(self, fold: int) -> int:
        """The seed of the graphs that are drawn in a fold."""
        return int(np.random.SeedSequence(self.entropy, spawn_key=(1, fold)).generate_state(1, np.uint64)[0])


def _run(task: _Task, method: Method, engine: Engine) -> Iterator[tuple[Floats, list[str]]]:
    if engine.tasks.holds(_bytes_of_fold(method, task)):
        yield from engine.tasks.run(partial(_fold_on_worker, task), range(task.folds))
        return
    for fold in range(task.folds):
        yield _fold(task, fold, engine)


def _fold_on_worker(task: _Task, fold: int, cancel: CancelFlag) -> tuple[Floats, list[str]]:
    del cancel
    return _fold(task, fold, ThreadEngine(1))


def _fold(task: _Task, fold: int, engine: Engine) -> tuple[Floats, list[str]]:
    """The log scores of the observations of one fold, and what there was to remark on."""
    table = task.table
    counts = table.weights
    rows = np.repeat(np.arange(table.rows), counts)
    held_out = np.bincount(rows[task.folds_of_observations() == fold], minlength=table.rows)
    training = table.with_counts(counts - held_out)
    model = task.kind(**task.settings_for(training), engine=engine, seed=task.seed_of(fold))
    with collected_warnings() as said:
        model.fit(training)
        found = model.score_samples(table.with_counts(held_out))
    # The gaps of all rows were spoken of already.
    remarks = [remark for remark in dict.fromkeys(said) if remark != notice_of_gaps(training)]
    return np.repeat(found, held_out[held_out > 0]), remarks


def _bytes_of_fold(method: Method, task: _Task) -> int:
    """Roughly what a fold takes on a worker: its tables over all sets of columns, its families, the rows."""
    settings, names = task.settings, task.table.names
    limit = int(settings["max_parents"])
    work = work_of(method, settings["modularity"], rules_of(SimpleNamespace(**settings), task.table), names, limit)
    largest = max(work.groups)
    families = 8 * work.families * len(scores_within(resolve_score(settings["score"])))
    rows = sum(column.nbytes for column in task.table.columns) + 24 * task.table.observations
    return 3 * families + rows + method.bytes_of_tables(largest, min(limit, largest - 1), settings["samples"])


def _check_folds(folds: object, observations: int) -> None:
    if observations < 2:
        raise InputError(f"To hold some observations out there must be at least 2. There are {observations}.")
    whole_number(folds, "folds", least=2, most=observations, hint="There cannot be more folds than observations.")


def _standard_error(values: Floats) -> float:
    return float(values.std(ddof=1) / math.sqrt(len(values)))
