"""What is in a table: every column, what is done with it and why, and what computing with it would cost.

Any table is described, also one that cannot be fitted as it is; then the reason comes last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from dagpost._tools.text import duration, printable, printable_lines
from dagpost.cli.arguments import columns_like
from dagpost.cli.messages import in_words
from dagpost.cli.output import print_columns
from dagpost.cli.recipe import load_frame, table_of
from dagpost.errors import DagpostError, InputError
from dagpost.families.numbering import MAX_NODES
from dagpost.methods.augmentation import Augmentation
from dagpost.methods.choice import AUTO

if TYPE_CHECKING:
    from dagpost.cli.recipe import TableOptions
    from dagpost.data.recipe import Recipe
    from dagpost.data.table import Table
    from dagpost.scores import Score


@dataclass(frozen=True)
class AboutTable:
    """A table with its recipe; the problem, where it cannot be fitted; None, where it cannot be read.

    `score` is the one that a fit would choose.
    """

    table: Table | None
    recipe: Recipe
    problem: str = ""
    score: Score | None = None

    def content(self) -> dict[str, Any]:
        """What JSON holds of it."""
        described = self.recipe.to_json()
        return {
            "rows": self.recipe.rows_,
            "dropped_rows": self.recipe.dropped_rows_,
            **({} if self.table is None else _facts(self.table)),
            "columns": described["steps"],
            "score": None if self.score is None else {"name": self.score.name, "assumes": self._assumed()},
            "problem": self.problem or None,
        }

    def show(self, costs: list[dict[str, Any]]) -> None:
        """Print it."""
        if self.table is None:
            typer.echo(f"Table of {len(self.recipe.steps_)} columns and {self.recipe.rows_:,} rows")
        else:
            typer.echo(self.table.summary())
        for line in self.recipe.lines():
            typer.echo(f"  {printable(line)}")
        typer.echo(self.recipe.summary())
        if self.table is not None:
            _show_gaps(self.table)
            typer.echo(f"Fingerprint {self.table.fingerprint()}")
        if self.problem:
            typer.echo(f"As it is, it cannot be fitted. {printable_lines(self.problem)}")
            return
        chains = any(cost["method"] == Augmentation.name for cost in costs)
        what = "a fit takes" if chains else "exact edges cost"
        typer.echo(f"What {what}, roughly, and what fit would do:")
        print_columns([_cost_row(cost) for cost in costs], indent="  ")
        if self.score is not None:
            typer.echo(f"--score auto: {printable_lines(self._assumed())}")

    def _assumed(self) -> str:
        """What the score that a fit would choose assumes."""
        from dagpost.scores.automatic import notice_of_choice

        assert self.table is not None
        assert self.score is not None
        levels = f"All columns are levels, and their relations may be of any form (score {self.score.name!r})."
        return in_words(notice_of_choice(self.score, self.table) or levels)


def look_at(source: str, options: TableOptions, *, max_parents: int, threads: int | None) -> AboutTable:
    """Read a table as `fit` does that chooses the score; where that cannot be done, only look at its columns."""
    recipe, frame = options.recipe(), load_frame(source)
    recipe.exogenous = columns_like(options.not_modelled, list(frame.columns), "--exogenous")
    try:
        table = table_of(frame, source, recipe, AUTO, options)
    except InputError as error:
        described = recipe.describe(frame, counts=options.counts, interventions=options.interventions)
        return AboutTable(None, described, in_words(error.marked))
    assert table.recipe is not None
    from dagpost.model import DagPosterior
    from dagpost.posterior.study import decide

    model = DagPosterior(max_parents=max_parents, threads=threads)
    try:
        if len(table.names) > MAX_NODES:
            # Many columns may need further rules.
            model.plan(table)
        return AboutTable(table, table.recipe, score=decide(model, table).study.score)
    except DagpostError as error:
        return AboutTable(table, table.recipe, in_words(error.marked))


def _show_gaps(table: Table) -> None:
    """How many cells have no value, where, and what will be done."""
    from dagpost.data.recipe_words import notice_of_gaps

    if said := notice_of_gaps(table):
        typer.echo(printable_lines(in_words(said)))


def _facts(table: Table) -> dict[str, Any]:
    incomplete = 0 if table.gaps is None else int(table.gaps.any(axis=0).sum())
    return {
        "gaps": table.gap_count,
        "incomplete_rows": incomplete,
        "observations": table.observations,
        "interventions": 0 if table.interventions is None else int((table.interventions != 0).sum()),
        "fingerprint": table.fingerprint(),
    }


def costs_of(table: Table, max_parents: int, threads: int | None) -> list[dict[str, Any]]:
    """Time and memory of exact answers, or of a fit with gaps, under both priors, and what `--method auto` does."""
    from dagpost._tools.memory import available_bytes
    from dagpost.engines import ThreadEngine
    from dagpost.methods.targets import MODULARITIES
    from dagpost.model import DagPosterior
    from dagpost.posterior.plan import cost_of_exact_edges

    costs = []
    given = 0 if table.recipe is None else len(table.recipe.exogenous)
    # Sums over orders are of all columns, and of no more than these.
    within_reach = [name for name in MODULARITIES if name == "structure" or len(table.names) <= MAX_NODES]
    for modularity in within_reach:
        model = DagPosterior(modularity=modularity, max_parents=max_parents, threads=threads)  # type: ignore[arg-type]
        plan = model.plan(table)
        summed = len(table.names) - (given if modularity == "structure" else 0)
        # Of chains there are exact edges of a completed table only, and as many such tables as the plan says.
        chains = plan.method == Augmentation.name
        cost = plan if chains else cost_of_exact_edges(modularity, summed, max_parents, ThreadEngine(threads))
        costs.append(
            {
                "modularity": modularity,
                "seconds": cost.seconds,
                "bytes": cost.size,
                "fits": cost.size <= available_bytes(),
                "method": plan.method,
                "reason": plan.reason,
                "edges": "exact" if plan.exact else "sampled",
            }
        )
    return costs


def _cost_row(cost: dict[str, Any]) -> tuple[str, ...]:
    from dagpost._tools.memory import readable

    return (
        f"--modularity {cost['modularity']}",
        duration(cost["seconds"]),
        readable(cost["bytes"]) + ("" if cost["fits"] else " (more than is free)"),
        f"edges {cost['edges']}, graphs by {cost['method']}",
    )
