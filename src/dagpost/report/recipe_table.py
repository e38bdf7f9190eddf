"""The variables one by one, and what was done with each column, where that is more than taking levels as they are."""

from __future__ import annotations

from dagpost.data.recipe_words import cells
from dagpost.report.content import Content
from dagpost.report.tables import column_table, folded, name, table, text


def recipe_table(content: Content) -> str:
    """One row a column: its name, what it is, what was done with it, and the levels that came of it."""
    recipe = content.recipe
    if recipe is None or not (recipe.dropped_rows_ or any(step.use != "levels" or step.gaps for step in recipe.steps_)):
        return ""
    rows = []
    for step in recipe.steps_:
        _, what, done, levels = cells(step, recipe.exogenous)
        rows.append(
            f"<tr><td>{name(step.name, whole=True)}</td><td>{text(what)}</td><td>{text(done)}</td>"
            f"<td><bdi>{text(levels)}</bdi></td></tr>"
        )
    heads = ["Column", "What it is", "What was done", "Levels"]
    return table(f"{recipe.summary()}.", heads, rows, "recipe")


def data_folds(content: Content) -> str:
    """Both tables, folded."""
    done = recipe_table(content)
    variables = folded("The variables, one by one", column_table(content))
    return variables + (folded("What was done with each column", done) if done else "")
