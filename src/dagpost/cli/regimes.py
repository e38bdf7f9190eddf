"""Regimes on the command line: the options about them, and what each changed, as commands show it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._tools.text import printable
from dagpost.cli.options import option
from dagpost.errors import InputError

if TYPE_CHECKING:
    from dagpost.data.regimes import Regimes
    from dagpost.posterior.fitted import Fitted


@dataclass(frozen=True)
class RegimeOptions:
    """The column that names the regimes, with what is believed of them."""

    regimes: Annotated[
        str | None,
        option(
            "COLUMN", "Column that names the experiment of each row, where it is not known which variables it changed."
        ),
    ] = None
    reference: Annotated[
        str | None,
        option("VALUE", "With --regimes: the one without intervention; that of the first row unless given."),
    ] = None
    expected_targets: Annotated[
        float | None, option("NUMBER", "With --regimes: how many variables one is expected to change; 1 unless given.")
    ] = None
    max_regimes: Annotated[
        int | None,
        option("NUMBER", "With --regimes: by how many one variable may be changed; all of them unless given."),
    ] = None

    def parsed(self) -> Regimes | None:
        """The same as the library takes it."""
        from dagpost.data.regimes import Regimes

        given = {name: value for name, value in asdict(self).items() if value is not None}
        column = given.pop("regimes", None)
        if column is not None:
            return Regimes(column, **given)
        if given:
            name = next(iter(given)).replace("_", "-")
            raise InputError(f"--{name} is about regimes. Name the column that says which each row is of: --regimes.")
        return None


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
