"""What the regimes of a model changed, as commands show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from dagpost._tools.text import printable

if TYPE_CHECKING:
    from dagpost.posterior.fitted import Fitted


def print_regimes(fitted: Fitted) -> None:
    """For each regime what it changed; nothing where there are none."""
    from dagpost.posterior.regime_effects import has_regimes, regime_effects_of

    if not has_regimes(fitted):
        return
    effects = regime_effects_of(fitted)
    for line in (effects.question, *(f"  {own}" for own in effects.sentences()), effects.note):
        if line:
            typer.echo(printable(line))


def regimes_content(fitted: Fitted) -> dict[str, Any]:
    """The same as JSON can hold it."""
    from dagpost.posterior.regime_effects import has_regimes, regime_effects_of

    return {"regimes": regime_effects_of(fitted).to_json()} if has_regimes(fitted) else {}
