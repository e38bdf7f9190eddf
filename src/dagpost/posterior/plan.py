"""Before a long run: what will be done, by which method and why, and roughly what it takes in time and memory.

The times of tables are those by which the library itself decides, from the engine that makes them (sums.py); where it
has none, of scores and of samples, constants measured on a machine of 2024, of chains by number of columns
(chain_costs.py). What else the machine is busy with is not in them, and is said.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from dagpost.cli.wording import duration, in_options

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.engines import Engine
    from dagpost.model import DagPosterior

#: Shorter runs are not announced.
_LONG_SECONDS = 2.0
#: Scoring a parent set: for itself, and for every row.
_SECONDS_A_FAMILY, _SECONDS_A_ROW = 250e-9, 0.16e-9
#: Programs that wait for a core, for each that there is, from which on a machine is called busy.
_BUSY = 0.75
_SECONDS_A_GRAPH = 50e-6
_BYTES_A_GRAPH = 100


class Step(NamedTuple):
    """A stage of the work, in words, with its cost."""

    name: str
    what: str
    seconds: float
    size: float
    #: The time may be so many times as long, or as short.
    spread: float = 1.0
    #: Whether it stands in the memory of this machine, not of a device or a cluster.
    here: bool = True


class Plan(NamedTuple):
    """The steps, the method that will be used and why, and whether edges will be exact or rest on chains."""

    steps: list[Step]
    method: str
    reason: str
    exact: bool
    chains: bool

    @property
    def seconds(self) -> float:
        """Of all steps."""
        return sum(step.seconds for step in self.steps)


def plan_of(model: DagPosterior, table: Table) -> Plan:
    """What fitting a model to a table will do; what cannot fit is refused here already."""
    import numpy as np

    from dagpost._tools.progress import NO_PROGRESS
    from dagpost.methods.drawing import (
        CHAINS,
        OWN_TARGETS,
        choose_method,
        draws_quickly,
        name_of,
        resolve_method,
        scores_candidates_only,
    )
    from dagpost.posterior.fitting import should_sum_exactly
    from dagpost.posterior.settings import resolve_engine
    from dagpost.posterior.workspace import ExactWorkspace

    nodes, limit = len(table.names), min(model.max_parents, len(table.names) - 1)
    engine = resolve_engine(model.engine, model.threads, nodes)
    asked = resolve_method(model.method)
    some_only = scores_candidates_only(asked, nodes, model.max_parents, engine)
    # Without weights: enough to ask what fits and what is affordable.
    tables = ExactWorkspace(np.empty((nodes, 0)), limit, engine, NO_PROGRESS)
    method, reason = choose_method(asked, model.modularity, tables)
    name = name_of(method)
    own = name in OWN_TARGETS
    exact = name in ("trees", "given-order") or (
        not own and not some_only and should_sum_exactly(name, model.modularity, tables)
    )
    families = _families(nodes, limit, some_only)
    steps = [_scores(table, families, engine.workers, some_only, method)]
    steps += [] if own else _tables(name, model.modularity, nodes, limit, engine, exact)
    drawn = not exact or draws_quickly(name, nodes)
    steps += _samples(method, model.samples, nodes, limit, engine.workers, drawn=drawn)
    return Plan(steps, name, reason, exact, name in CHAINS and not exact)


def plan_of_sample(model: DagPosterior, count: int) -> Plan:
    """What drawing so many graphs from a fitted model will do, tables that its file does not keep included."""
    from dagpost.methods.drawing import CHAINS, OWN_TARGETS

    tables, name = model._tables, model.method_
    nodes, limit = tables.nodes, tables.max_parents
    exact = name == "exact-layers"
    steps = [] if name in OWN_TARGETS else _tables(name, model.modularity, nodes, limit, tables.engine, exact)
    steps += _samples(model._method, count, nodes, limit, tables.engine.workers, drawn=True)
    return Plan(steps, name, model.method_reason_, exact, name in CHAINS)


def announce(plan: Plan, what: str) -> None:
    """Say what a long run will do and take; nothing of a short one."""
    from dagpost._tools.memory import available_bytes

    # What cannot fit is refused at once.
    too_large = any(step.here and step.size > available_bytes() for step in plan.steps)
    if plan.seconds < _LONG_SECONDS or too_large:
        return
    typer.echo(f"{what}. What will be done:", err=True)
    for line in plan_lines(plan):
        typer.echo(line, err=True)
    typer.echo(f"Method: {plan.method} ({in_options(plan.reason)}).", err=True)
    if busy := _busy():
        typer.echo(busy, err=True)
    if plan.chains:
        typer.echo("After their burn-in, Ctrl-C ends the chains early, with the graphs that they have.", err=True)


def plan_lines(plan: Plan) -> list[str]:
    """One line a step."""
    from dagpost._tools.memory import readable

    width = max(len(step.what) for step in plan.steps)
    return [f"  {step.name:8} {step.what:{width}}  {_about(step)}, {readable(step.size)}" for step in plan.steps]


def _about(step: Step) -> str:
    if step.seconds * step.spread < 1.0:
        return duration(step.seconds)
    if step.spread > 1.0:
        return f"{duration(step.seconds / step.spread)} to {duration(step.seconds * step.spread)}"
    return f"about {duration(step.seconds)}"


def _busy() -> str:
    """A remark on a machine that has other things to do; where the system does not say, nothing."""
    try:
        # Both of the whole machine, also where this process may use a part of it only.
        waiting, cores = os.getloadavg()[0], os.cpu_count() or 1
    except (AttributeError, OSError):
        return ""
    if waiting < _BUSY * cores:
        return ""
    times = (waiting + cores) / cores
    return f"The machine is busy with other work, so it may all take up to {times:.0f} times as long."


def _families(nodes: int, limit: int, some_only: bool) -> int:
    from dagpost.families.family_sums import MOST_FAMILIES
    from dagpost.families.numbering import family_count

    count = nodes * family_count(nodes - 1, limit)
    return min(count, MOST_FAMILIES) if some_only else count


def _scores(table: Table, families: int, workers: int, some_only: bool, method: Any) -> Step:
    from dagpost.methods.own_targets import Bootstrap

    seconds = families * (_SECONDS_A_FAMILY + _SECONDS_A_ROW * table.rows) / workers
    what = f"{families:,} parent sets{', of promising candidates' if some_only else ''}"
    if isinstance(method, Bootstrap):
        what += f", anew in each of {method.replicates:,} replicates"
        seconds *= 1 + method.replicates
    return Step("scores", what, seconds, 8 * families)


def _tables(name: str, modularity: str, nodes: int, limit: int, engine: Engine, exact: bool) -> list[Step]:
    from dagpost.engines.host.backend import backend_of
    from dagpost.exact import order, structure
    from dagpost.methods.drawing import CHAINS

    sums = backend_of(engine)
    here = sums.in_this_process
    if exact and modularity == "structure":
        size = structure.memory_needed(nodes, limit, engine.workers)
        return [Step("tables", "exact sums over all graphs", sums.structure_seconds(nodes), size, here=here)]
    if exact or name not in CHAINS or name == "hybrid-mcmc":
        size = order.table_bytes(nodes)
        return [Step("tables", "exact sums over all orders", sums.order_seconds(nodes), size, here=here)]
    return []


def _samples(method: Any, count: int, nodes: int, limit: int, workers: int, *, drawn: bool) -> list[Step]:
    from dagpost.methods.chain_costs import expected_seconds
    from dagpost.methods.drawing import CHAINS, name_of
    from dagpost.methods.own_targets import Bootstrap

    name = name_of(method)
    if isinstance(method, Bootstrap) or not drawn:
        return []
    size = count * (_BYTES_A_GRAPH + 2 * nodes)
    if name in CHAINS:
        seconds, spread = expected_seconds(method, count, nodes, limit, workers)
        what = f"{count:,} graphs from {method.chains} chains"
        return [Step("samples", what, seconds, size, spread)]
    return [Step("samples", f"{count:,} graphs by {name}", count * _SECONDS_A_GRAPH / workers, size)]
