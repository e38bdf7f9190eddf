"""What is a method? Everything that dagpost asks of one is declared here, with its default.

A method is a frozen dataclass: its fields are its settings, and what it is stands in class attributes. It says its name
and target, the words that the command line and the report use, what it needs, what it costs and how it draws. A new one
is one file with a subclass and one line in `registry.py`; one of another package needs no line (_tools/registry.py).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

from dagpost._tools.json_settings import to_json
from dagpost._tools.schema import ArrayRule, Rule
from dagpost.errors import InputError
from dagpost.families.numbering import MAX_NODES
from dagpost.methods.registry import METHODS
from dagpost.methods.targets import MODULARITIES, Target

if TYPE_CHECKING:
    import numpy as np

    from dagpost._tools.arrays import Floats, Masks
    from dagpost.engines import Engine
    from dagpost.mcmc.records import ChainRecord, ChainRun
    from dagpost.posterior.workspace import Workspace
    from dagpost.priors.study import Study

#: Drawing one graph, on one thread, and what it takes in memory beside its masks.
_SECONDS_A_GRAPH = 50e-6
_BYTES_A_GRAPH = 100


@dataclass(frozen=True, eq=False)
class Draws:
    """Graphs as a method gives them: parent masks and log p(graph, data), and what else is known.

    `log_proposal` and `log_extensions` are as in `DagSample`. `log_evidence` may be a function, for sums that are made
    only if somebody asks. `about` is added to the provenance of the sample.
    """

    parents: Masks
    log_joint: Floats
    log_proposal: Floats | None = None
    log_extensions: Floats | None = None
    log_evidence: float | Callable[[], float] = math.nan
    chains: ChainRecord | None = None
    about: Mapping[str, Any] = field(default_factory=dict)
    #: A remark for the user, such as that the run was interrupted.
    remark: str = ""


class Wanted(NamedTuple):
    """The graphs that are wanted: of which variables, how many, from which seed, going on from which run of chains.

    `may_stop`: fewer will do once chains agree, by a rule of their method.
    """

    names: tuple[str, ...]
    number: int
    seed: np.random.SeedSequence
    previous: ChainRun | None = None
    may_stop: bool = False


class Decided(NamedTuple):
    """What a fit does: by which method (None: it depends on the weights), for which posterior, of what, and where."""

    method: Method | None
    modularity: str
    study: Study
    engine: Engine


class Summed(NamedTuple):
    """Log evidence and edge probabilities (parent, child) under a target of the method's own."""

    log_evidence: float
    edges: Floats


class Cost(NamedTuple):
    """A stage of a plan in words, with its seconds and bytes.

    `uncertainty`: how many times as long, or as short, it may take. `here`: whether the bytes are in the memory of this
    machine, not on a device or a cluster.
    """

    stage: str
    what: str
    seconds: float
    size: float
    uncertainty: float = 1.0
    here: bool = True


class Method(ABC):
    """How graphs are found, and what can be said from them.

    A subclass sets the class attributes and overrides what it does differently.
    """

    #: What users call it.
    name: ClassVar[str]
    #: A few words for the help of the command line.
    summary: ClassVar[str]
    #: What to cite beside the paper that dagpost builds on.
    citation: ClassVar[str] = ""
    #: What its graphs are: independent draws of equal weight, draws that only weights make right, draws of chains, or a
    #: list of the best ones.
    draws: ClassVar[Literal["independent", "weighted", "chains", "listed"]]
    #: How its graphs are weighed unless the user asks for something else (posterior/weights.py).
    estimator: ClassVar[str] = "counting"
    #: The posterior it belongs to; None: it has a target of its own.
    modularity: ClassVar[str | None] = None
    #: Whether it needs the table of the sums over all orders, and so the weights of all families.
    needs_orders: ClassVar[bool] = False
    #: Whether it needs the rows of a table, not only scores.
    needs_rows: ClassVar[bool] = False
    #: Whether the sums over all graphs are made however long they take.
    needs_graphs: ClassVar[bool] = False
    #: Whether it works on each strongly connected component of the allowed edges by itself (exact/components.py).
    by_components: ClassVar[bool] = False
    #: The most columns that it takes in one piece; more, where it works on each component by itself.
    most_columns: ClassVar[int] = MAX_NODES
    #: Whether fitting computes evidence and edges at once; otherwise they are computed when they are first used.
    edges_at_fit: ClassVar[bool] = True
    #: Up to how many variables its usual sample takes seconds at most.
    quick_nodes: ClassVar[float] = 20
    #: Whether it can average over a setting of the score (posterior/mixture.py): it knows the exact evidence under each
    #: value, as `log_mass` has it, or lists graphs by their weight.
    mixes: ClassVar[bool] = False
    #: What `at_fit` keeps, arrays and facts, with what they must be; they are in the file of the model too.
    kept_arrays: ClassVar[Mapping[str, ArrayRule]] = {}
    kept_facts: ClassVar[Mapping[str, Rule]] = {}

    def __init_subclass__(cls, **options: Any) -> None:
        """Make a method with a name known, wherever it is defined."""
        super().__init_subclass__(**options)
        if "name" in cls.__dict__:
            if cls.draws in ("weighted", "listed") and cls.estimator == "counting":
                raise InputError(f"{cls.__name__} gives {cls.draws} graphs: set its estimator, for instance to 'iw'.")
            METHODS.add(cls)

    @property
    def target(self) -> Target:
        """What is counted."""
        assert self.modularity is not None
        return MODULARITIES[self.modularity]

    @classmethod
    def targets(cls) -> Sequence[Target]:
        """All targets it can have; files name them."""
        needs_settings = any(entry.default is entry.default_factory for entry in fields(cls))  # type: ignore[arg-type]
        return () if cls.modularity is not None or needs_settings else (cls().target,)

    @property
    def guarantees_precision(self) -> bool:
        """Whether a number of draws guarantees a precision: independent draws, as many as one likes."""
        return self.draws == "independent" and self.target.posterior

    def to_json(self) -> Any:
        """The method as files hold it: its name, or its class and settings."""
        ours = type(self).__module__.startswith("dagpost.")
        return self.name if ours and not fields(self) else to_json(self)  # type: ignore[arg-type]

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse settings that do not fit the columns of a table."""

    def fixed_order(self, names: tuple[str, ...]) -> Sequence[int] | None:
        """The order of the columns, earliest first, that all its graphs fit because it was given; None: there is none.

        Directions that follow from it are not findings.
        """
        return None

    def check_room(self, nodes: int, max_parents: int, engine: Engine) -> None:
        """Refuse, before any family is scored, what cannot fit."""
        from dagpost.engines.host.backend import backend_of

        if self.needs_orders:
            backend_of(engine).require_order(nodes, max_parents)

    def usual_count(self, samples: int) -> int:
        """How many graphs a model draws by itself, where its setting is `samples`."""
        return samples

    def at_fit(self, study: Study, workspace: Workspace, seed: int | None) -> None:
        """Compute what only the rows can give, and keep it in the workspace."""

    def summed(self, workspace: Workspace, names: tuple[str, ...]) -> Summed | None:
        """Exact evidence and edges under a target of its own; None where there are none."""
        return None

    def log_mass(self, workspace: Workspace, names: tuple[str, ...]) -> float:
        """Log of the sum, over all that it may draw, of the weights in proportion to which it draws."""
        raise InputError(f"{type(self).__name__} must define log_mass() to average over a setting of the score.")

    @abstractmethod
    def draw(self, workspace: Workspace, wanted: Wanted) -> Draws:
        """Find graphs; chains go on from the previous run until they have as many as wanted in all."""

    def ran_on(self, workspace: Workspace) -> str:
        """The engine that its sums, chains or replicates ran on, for the provenance of what they found."""
        return workspace.backend.name if self.needs_orders else "threads"

    def tables_at_hand(self, workspace: Workspace) -> bool:
        """Whether drawing is quick because the tables for it are still in memory."""
        return False

    # What it costs

    def times_scored(self) -> int:
        """How often the families are scored."""
        return 1

    def cost_of_tables(self, nodes: int, max_parents: int, workers: int) -> Cost | None:
        """Time and memory of what it makes of the weights before it draws, beside exact sums."""
        return None

    def cost_of_draws(self, count: int, nodes: int, max_parents: int, workers: int) -> Cost | None:
        """Time and memory of drawing `count` graphs once the tables are there.

        For chains, `max_parents` is the size up to which parent sets are in play at all (`Score.parents_in_play`).
        """
        size = count * (_BYTES_A_GRAPH + 2 * nodes)
        return Cost("samples", f"{count:,} graphs by {self.name}", count * _SECONDS_A_GRAPH / workers, size)

    def bytes_of_tables(self, nodes: int, max_parents: int, count: int) -> int:
        """What its tables take on one thread, beside the weights of the families."""
        from dagpost.exact.order import table_bytes

        return 2 * table_bytes(nodes) if self.needs_orders else 0
