"""One record of a fitted model: the data's facts, the settings, the weights, and what was found with them.

Model, file, report and command line read it through its fields. It does not change; what is computed only when somebody
asks (results, the model's own sample, what was counted for predictions) is computed once and remembered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np

from dagpost._tools import memory
from dagpost._tools.spelling import either
from dagpost._tools.text import names_in, readable_level
from dagpost.data.gaps import UnknownCells
from dagpost.errors import InputError, ResourceError, warn
from dagpost.families.parent_lists import words_of
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.base import Method, Wanted
from dagpost.methods.kbest import KBest
from dagpost.methods.targets import Target
from dagpost.posterior.augmented import Augmented, augmented_of
from dagpost.posterior.condition_words import given_provenance
from dagpost.posterior.drawn_sample import make_sample, run_of, warn_of_chains
from dagpost.posterior.mixture import draw
from dagpost.posterior.results import Results, compute
from dagpost.posterior.sample import DagSample
from dagpost.posterior.workspace import Workspace
from dagpost.scores import class_of

if TYPE_CHECKING:
    from dagpost.data.recipe import Recipe
    from dagpost.data.table import Table
    from dagpost.data.unrolled import Unrolling
    from dagpost.posterior.condition import Condition

Made = TypeVar("Made")

#: Beside the masks: four numbers a graph, and as much again while they are made.
_BYTES_A_GRAPH = 100
#: The model's own sample takes no more than this, and has as many graphs at least.
_SAMPLE_BYTES, _FEWEST_GRAPHS = 2**29, 1000
#: Under this name a model remembers how probable it is before the data that a pair is joined.
JOINED_BEFORE = "joined before"
#: What is remembered of the data and the settings: it is the same under any condition.
_WITHOUT_CONDITION = ("prior", JOINED_BEFORE, "statistics", "local models", "background", "row labels")
#: Settings that say what a sample was drawn from.
_PROVENANCE = ("score", "prior", "max_parents", "required", "forbidden", "tiers")


@dataclass(frozen=True)
class DataFacts:
    """What is known of the data: the columns with their levels (None: continuous, or unknown), and the rows' digest.

    `observations` is None where a model was made from scores. `targets` are the distinct sets of columns that were set
    from outside together in some row, the empty one included if some row had none; where there were no interventions,
    there are none.
    """

    names: tuple[str, ...]
    levels: tuple[tuple[Any, ...] | None, ...]
    observations: int | None
    fingerprint: str
    interventions: bool = False
    targets: tuple[tuple[str, ...], ...] = ()
    #: What was done with each column; None where a model was made from scores.
    recipe: Recipe | None = field(default=None, compare=False)
    #: How the table was unrolled, where it has present and earlier values.
    time: Unrolling | None = None

    @property
    def given_names(self) -> tuple[str, ...]:
        """The columns of the data, those that were left out included."""
        return self.names if self.recipe is None else tuple(step.name for step in self.recipe.steps_)

    @classmethod
    def of_table(cls, table: Table) -> DataFacts:
        """The facts of a table."""
        from dagpost.data.recipe import Recipe

        levels = tuple(None if own is None else tuple(map(readable_level, own)) for own in table.levels)
        recipe = Recipe.of_table(table) if table.recipe is None else table.recipe
        facts = table.names, levels, table.observations, table.fingerprint(), table.interventions is not None
        return cls(*facts, targets_of(table), recipe, table.time)


def targets_of(table: Table) -> tuple[tuple[str, ...], ...]:
    """The distinct sets of columns that were set together in some row."""
    if table.interventions is None:
        return ()
    masks = np.unique(table.interventions[table.weights > 0])
    return tuple(names_in(int(mask), table.names) for mask in masks)


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a fit leaves.

    `settings` are those of the model when it was fitted, as JSON can hold them; `score` is the score object (or, for a
    model made from scores, words); `reason` says why the method was chosen. `table` is None where the rows are not
    kept.
    """

    data: DataFacts
    settings: Mapping[str, Any]
    score: Any
    method: Method
    reason: str
    workspace: Workspace
    table: Table | None = None
    #: What is taken for true, where this is a model under a condition (condition.py).
    condition: Condition | None = None
    _remembered: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self.data.names

    @property
    def gaps(self) -> int:
        """How many cells of the table have no value and were completed."""
        return 0 if self.table is None else self.table.gap_count

    @property
    def unknown(self) -> UnknownCells:
        """What of the table is not known and was drawn in chains."""
        if self.table is None or not self.completes:
            return UnknownCells()
        found, own = UnknownCells.of(self.workspace.table), UnknownCells.of(self.table)  # type: ignore[attr-defined]
        # Rows that count more than once are written out for the chains.
        return found._replace(censored=own.censored, missing=own.missing)

    @property
    def completes(self) -> bool:
        """Whether its answers are averages over completed tables: of gaps, or of latent numbers."""
        return isinstance(self.method, Augmentation)

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The columns that are not modelled: all that is said is conditional on these."""
        return tuple(self.settings.get("exogenous", ()))

    @property
    def most_regimes(self) -> int:
        """By how many regimes a variable may be changed; 0 where there are none."""
        regimes = 0 if self.data.recipe is None else sum(len(step.indicators) for step in self.data.recipe.steps_)
        ordinary = min(int(self.settings["max_parents"]), len(self.names) - regimes - 1)
        return self.workspace.max_parents - ordinary if regimes else 0

    @property
    def modularity(self) -> str:
        """Whether a graph counts once, or once for every order."""
        return str(self.settings["modularity"])

    @property
    def target(self) -> Target:
        """What is counted."""
        return self.method.target

    @property
    def results(self) -> Results:
        """Evidence and edges; computed when first asked for."""
        return self.once("results", lambda: compute(self) if self.condition is None else self.condition.computed(self))

    @property
    def log_evidence(self) -> float:
        """Log evidence; nan where it is not known, or where the weights of kinds of models are not by evidence."""
        return self.results.log_evidence if class_of(self.score).has_evidence else math.nan

    @property
    def augmented(self) -> Augmented | None:
        """What chains over completed tables found, where the table has gaps; the own sample is drawn for it.

        None under a condition: tables then do not count alike (completed_condition.py).
        """
        if not self.completes or self.condition is not None:
            return None
        return self.once("augmented", lambda: augmented_of(self.own_sample().chains))

    @property
    def drawn(self) -> DagSample | None:
        """The model's own sample, where it has been drawn."""
        sample: DagSample | None = self._remembered.get("sample")
        return sample

    def own_sample(self) -> DagSample:
        """The sample that answers and predictions come from where none is given: drawn once, then remembered."""
        if self.condition is not None and self.condition.drawn:
            return self.once("sample", self.condition.drawn.own_sample)
        return self.once("sample", lambda: self.draw(self.usual_count, self.settings["seed"], may_stop=True))

    def quick_sample(self) -> DagSample | None:
        """Its own sample, if it is there or quickly drawn."""
        if self.drawn is None and not self.can_draw_quickly:
            return None
        try:
            return self.own_sample()
        except ResourceError:
            return None

    @property
    def usual_count(self) -> int:
        """How many graphs its own sample has: of very many columns, those that fit into half a gigabyte."""
        return usual_count(self.method, int(self.settings["samples"]), len(self.names))

    @property
    def draws_quickly(self) -> bool:
        """Whether its own sample takes seconds at most."""
        return self.workspace.largest <= self.method.quick_nodes

    @property
    def can_draw_quickly(self) -> bool:
        """The same, or whether the tables for it are still in memory."""
        return self.draws_quickly or self.method.tables_at_hand(self.workspace)

    def rows(self, asked_by: str) -> Table:
        """The table, or an error that says what needs it."""
        if self.table is None:
            raise InputError(
                f"{asked_by} need the rows of the table, and this model has none: it was made from scores, or saved "
                f"without them. Fit it to a table; {either('save(path, rows=True)', 'dagpost fit --rows')} keeps the "
                "rows."
            )
        return self.table

    def once(self, name: str, make: Callable[[], Made]) -> Made:
        """What `make` gives, made once and remembered under a name."""
        if name not in self._remembered:
            self._remembered[name] = make()
        made: Made = self._remembered[name]
        return made

    def remember(self, name: str, value: Any) -> None:
        """Take over what was computed elsewhere, such as what a file holds."""
        self._remembered[name] = value

    def recall(self, name: str) -> Any:
        """What is remembered under a name, or None; under a condition, what does not depend on it is the base's."""
        known = self._remembered.get(name)
        if known is None and self.condition is not None and name in _WITHOUT_CONDITION:
            return self.condition.base.recall(name)
        return known

    @property
    def joined_before(self) -> float | None:
        """How probable it is before the data that two columns are joined, on average; None where that is not known.

        Over the pairs that rules leave open: what the prior, the rules and the limits amount to.
        """
        found: float | None = self.recall(JOINED_BEFORE)
        return found

    @property
    def provenance(self) -> dict[str, Any]:
        """Where its samples come from."""
        return {
            "data_fingerprint": self.data.fingerprint,
            "observations": self.data.observations,
            **{key: self.settings[key] for key in _PROVENANCE},
            # Named where there is any.
            **({"exogenous": list(self.exogenous)} if self.exogenous else {}),
            **{key: self.settings[key] for key in ("apart", "sinks", "regimes", "beside") if self.settings.get(key)},
            **({"interventions": True} if self.data.interventions else {}),
            **({"targets": [list(names) for names in self.data.targets]} if self.data.targets else {}),
            **({"time": self.data.time.to_json()} if self.data.time is not None else {}),
            **given_provenance(self.condition),
        }

    def draw(
        self,
        count: int,
        seed: int | None,
        *,
        method: Method | None = None,
        guarantee: tuple[float, float] | None = None,
        resume: DagSample | None = None,
        may_stop: bool = False,
    ) -> DagSample:
        """Find `count` graphs, by the method of the model unless another is given; chains go on from `resume`.

        Fewer will do if chains `may_stop` by a rule of their own.
        """
        if self.condition is not None and self.condition.drawn:
            return self.condition.drawn.draw(count, seed, method=method, guarantee=guarantee, resume=resume)
        method = self.method if method is None else method
        needed = count * (_BYTES_A_GRAPH + (12 + 8 * words_of(len(self.names))) * len(self.names))
        # The search for the best graphs checks for itself.
        if method.draws != "listed":
            memory.require(needed, f"A sample of {count:,} graphs", "Draw fewer at a time, or ask for less precision.")
        sequence = self.workspace.new_seed(seed if resume is None else resume.provenance.get("seed"))
        about = {**self.provenance, "seed": sequence.entropy, "method": method.to_json()}
        previous = None if resume is None else run_of(resume, count, about)
        found = draw(method, self.workspace, Wanted(self.names, count, sequence, previous, may_stop))
        about |= {"engine": method.ran_on(self.workspace), **found.about}
        if about["seed"] is None:
            del about["seed"]
        sample = make_sample(self.names, found, method, guarantee, about)
        if found.remark:
            warn(found.remark)
        if method.draws == "chains":
            warn_of_chains(sample)
        return sample

    def best(self, count: int) -> DagSample:
        """The `count` most probable graphs of all, best first, each counted once; fewer if there are not that many."""
        if not self.workspace.parts:
            drawn = either("top_graphs(model)", "dagpost report")
            if self.completes:
                raise InputError(
                    f"The most probable graphs cannot be searched for: {self.unknown.done}, and given "
                    f"each of the {class_of(self.score).tables} they are others. The most probable of the graphs that "
                    f"were drawn are in {drawn}."
                )
            raise InputError(
                f"{KBest.name!r} needs tables over all sets of variables; {len(self.names)} are too many. The most "
                f"probable of the graphs that were drawn are in {drawn}. To search all graphs, use fewer columns."
            )
        return self.draw(count, None, method=KBest())

    def likeliest(self) -> Any:
        """The masks of the most probable graph; where it cannot be found, or is not meant, of the own sample."""
        drawn = self.condition is not None and self.condition.drawn
        if self.workspace.parts and self.method.modularity is not None and not drawn:
            return self.best(1).parents[0]
        sample = self.own_sample()
        # With gaps, weights are those of different completed tables: the graph that was drawn most often counts.
        likeliest = sample.distinct.rows[0] if self.completes else sample.log_joint.argmax()
        return sample.parents[int(likeliest)]


def usual_count(method: Method, samples: int, nodes: int) -> int:
    """How many graphs the own sample of a model has, where its setting is `samples`."""
    most = max(_FEWEST_GRAPHS, _SAMPLE_BYTES // (8 * words_of(nodes) * nodes))
    return method.usual_count(min(samples, most))


class Found(Generic[Made]):
    """An attribute of a model that is read from its `Fitted`; as scikit-learn expects, it is not there before."""

    def __init__(self, read: Callable[[Fitted], Made]) -> None:
        self._read = read

    @overload
    def __get__(self, model: None, kind: type) -> Self: ...
    @overload
    def __get__(self, model: object, kind: type) -> Made: ...
    def __get__(self, model: Any, kind: type) -> Any:
        if model is None:
            return self
        if "fitted_" not in model.__dict__:
            raise AttributeError("This DagPosterior has no data yet. Call fit(table) first.")
        return self._read(model.fitted_)
