"""The table that the score of a fitted model is about, and the way from there to the columns of the user's table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dagpost._tools.text import shown
from dagpost.data.unknown_cells import written_out, written_out_like
from dagpost.errors import InputError
from dagpost.posterior.augmented_workspace import AugmentedWorkspace
from dagpost.scores import NormalWishartPrior, Score, resolve_score, scores_within

if TYPE_CHECKING:
    from dagpost.data.table import Table
    from dagpost.posterior.fitted import Fitted
    from dagpost.scores.latent_images import Images


def modelled_table(fitted: Fitted) -> Table:
    """The rows of a model as its score takes them, of latent numbers where it does; refused where there are none."""
    table = fitted.rows("Latent numbers")
    return fitted.once("modelled", lambda: resolve_score(fitted.score).modelled(table, fitted.exogenous))


def modelled_levels(fitted: Fitted) -> tuple[tuple[Any, ...] | None, ...]:
    """The levels of every column as the score takes them, None where they are numbers: in linear networks all are."""
    score = resolve_score(fitted.score)
    if images_of(fitted) is None and isinstance(scores_within(score)[0].parameter_prior(), NormalWishartPrior):
        return (None,) * len(fitted.names)
    return fitted.data.levels


def images_of(fitted: Fitted) -> Images | None:
    """The columns as images of latent numbers, row for row those of the completed tables; None where they are not."""
    return fitted.once("images", lambda: _images(fitted))


def _images(fitted: Fitted) -> Images | None:
    if isinstance(fitted.score, str) or type(fitted.score).images is Score.images:
        return None
    latent = modelled_table(fitted)
    table = written_out_like(fitted.rows("Latent numbers"), latent)
    workspace = fitted.workspace
    latent = workspace.table if isinstance(workspace, AugmentedWorkspace) else written_out(latent)
    return resolve_score(fitted.score).images(table, latent)


def refuse_beyond(images: Images, column: int, name: str, value: float) -> None:
    """Refuse to set a column to a number beyond what was seen, where nothing says what it would do."""
    margin = images.margin(column)
    if not margin.slope and not margin.values[0] <= value <= margin.values[-1]:
        raise InputError(
            f"'do' must set a number within the range of {name!r}, {margin.values[0]:g} to {margin.values[-1]:g}. Got "
            f"{shown(value)} instead."
        )
