"""The data of a result in sentences, for a methods section: what there was, and what was done with columns and gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dagpost._tools.text import printable, shortened
from dagpost.data.encoding import number_text
from dagpost.data.recipe_steps import Step
from dagpost.methods.augmentation import Augmentation
from dagpost.report import citations
from dagpost.report.content import Content
from dagpost.report.words import counted

#: Columns that are named one by one.
_NAMED = 6


def about_table(content: Content) -> str:
    """How many observations of how many variables, of which kinds."""
    variables = counted(len(content.names), "variable")
    if content.observations is None:
        return f"The analysis is of {variables}."
    kinds = [column.kind for column in content.columns]
    levels, numbers = kinds.count("discrete"), kinds.count("continuous")
    which = f" ({levels} with levels, {numbers} with numbers)" if levels and numbers else ""
    which = which or (" with levels" if levels else " with numbers" if numbers else "")
    return f"We analysed {counted(content.observations, 'observation')} of {variables}{which}."


def about_columns(content: Content) -> list[str]:
    """What was left out and cut, which rows were dropped, what was taken as given, and how time was unrolled."""
    said = [printable(line) for line in content.time[:1]]
    recipe = content.recipe
    if recipe is not None:
        said += _left_out(recipe.steps_)
        said += _cut(recipe.steps_)
        if recipe.dropped_rows_:
            said.append(f"{recipe.dropped_rows_:,} of {recipe.rows_:,} rows with missing values were dropped.")
        gaps = sum(step.gaps for step in recipe.steps_ if step.used)
        if gaps and not recipe.dropped_rows_ and recipe.missing == "level":
            said.append(f"Missing values ({gaps:,} cells) were a level of their own.")
    if content.exogenous and not content.time:
        given = shortened([printable(name) for name in content.exogenous])
        said.append(
            f"Taken as given and not modelled: {given}; they may have effects, and have no causes among the variables."
        )
    return said


def about_gaps(content: Content, cite: Callable[..., str]) -> list[str]:
    """What was drawn by chains: missing values, and latent numbers."""
    facts = content.gaps
    if facts is None:
        return []
    said = []
    if facts.cells:
        said.append(
            f"{facts.cells:,} of {facts.of:,} cells had no value; they were taken to be missing at "
            f"random{cite(citations.GAPS)}."
        )
    what = "missing values" if facts.latent is None else "what is not known of the latent numbers"
    said.append(
        f"Markov chains drew {what} again and again, together with graphs{cite(Augmentation.citation)}, and results "
        f"are averages over {facts.tables:,} {facts.called} (largest standard error of the probability of an edge: "
        f"{facts.edge_error:.4f})."
    )
    return said


def _left_out(steps: Sequence[Step]) -> list[str]:
    out = [step for step in steps if step.use == "left out"]
    if not out:
        return []
    named = [f"{printable(step.name)}: {printable(step.why.partition(':')[0])}" for step in out]
    listed = "; ".join(named[:_NAMED]) + (f"; and {len(out) - _NAMED} more" if len(out) > _NAMED else "")
    return [f"{counted(len(out), 'column')} {'was' if len(out) == 1 else 'were'} left out ({listed})."]


def _cut(steps: Sequence[Step]) -> list[str]:
    cut = [step for step in steps if step.used and step.cuts is not None]
    if not cut:
        return []
    named = [
        f"{printable(step.name)} at {', '.join(number_text(point) for point in step.cuts or ())} ({step.rule})"
        for step in cut
    ]
    listed = "; ".join(named[:_NAMED]) + (f"; and {len(cut) - _NAMED} more" if len(cut) > _NAMED else "")
    return [f"Numbers were cut into levels: {listed}."]
