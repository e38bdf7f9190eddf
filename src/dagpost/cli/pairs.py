"""Pairs of variables as commands show them: how probably joined, which way, and who says so.

The words and marks are those of posterior/directions.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dagpost._tools.text import printable, shortened
from dagpost.cli.files import shell_command
from dagpost.cli.output import drawable, print_columns
from dagpost.data.level_order import orders_to_read_signs
from dagpost.posterior.directions import Directions, about_cuts
from dagpost.posterior.pair_direction import MARKS, PairDirection
from dagpost.posterior.sensitivity import Sensitivity, label_under_choices

if TYPE_CHECKING:
    from dagpost._tools.arrays import Floats
    from dagpost.data.recipe import Recipe
    from dagpost.posterior.fitted import DataFacts
    from dagpost.prediction.gaussian_answers import DirectEffect

_BAR = 20
_BLOCK = ("█", "#")


def print_pairs(
    found: Directions,
    shown: Sequence[PairDirection],
    edges: Floats | None = None,
    *,
    tried: Sensitivity | None = None,
    errors: Floats | None = None,
    effects: Mapping[tuple[int, int], DirectEffect] | None = None,
    kinds: Mapping[str, Floats] | None = None,
) -> None:
    """One pair a line: with a bar, or with the probabilities of the two edges where these are given.

    Beside the latter stand the standard errors of being joined, where there are `errors`, the signs of direct
    `effects`, and how probably a pair is joined under each of several `kinds` of models. Clear directions that do not
    survive other choices are marked so, where these were tried.
    """
    plain = _plain()
    numbers = ("",) if edges is None else ("->", "<-") if errors is None else ("error", "->", "<-")
    signs = ("sign",) if effects else ()
    heading = ("pair", "", "", "joined", *numbers, *(kinds or ()), *signs, "direction")
    rows = []
    for pair in shown:
        ends = [printable(found.names[node]) for node in (pair.source, pair.target)]
        if edges is None:
            cells = [f"{pair.joined:.2f}", _BLOCK[plain] * round(_BAR * pair.joined)]
        else:
            own = () if errors is None else (errors[pair.source, pair.target],)
            ways = ((pair.source, pair.target), (pair.target, pair.source))
            cells = [f"{number:.4f}" for number in (pair.joined, *own)]
            cells += ["ruled out" if found.fixed[way[::-1]] else f"{edges[way]:.4f}" for way in ways]
        cells += [f"{own[pair.source, pair.target]:.4f}" for own in (kinds or {}).values()]
        if effects:
            cells.append(_sign(effects, pair))
        rows.append((ends[0], pair.mark(plain=plain), ends[1], *cells, label_under_choices(pair, tried)))
    print_columns([heading, *rows], right=(3,) if edges is None else tuple(range(3, len(heading) - 1)))


def print_pairs_left_out(found: Directions, shown: Sequence[PairDirection], least: float) -> None:
    """How many pairs are joined too improbably to be shown, if any."""
    number = int(found.asked.sum()) - len(shown)
    if number:
        typer.echo(f"({number:,} pair{'' if number == 1 else 's'} below {least} not shown)")


def print_about_pairs(found: Directions, source: Path | None, recipe: Recipe | None = None) -> None:
    """What the directions rest on, or how to have them; and what makes them less reliable."""
    if found.computed:
        typer.echo(found.assumption)
    else:
        model, graphs = ("MODEL" if source is None else source), Path("graphs.dagpost")
        draw = shell_command("sample", model, "-n", "10000", "-o", graphs)
        typer.echo(
            "Directions were not computed: that needs a sample of graphs, and drawing one could take longer than the "
            f"fit.\nTo have them: {printable(draw)}\n        then: {printable(shell_command('edges', graphs))}"
        )
    for remark in (found.note, about_cuts(found, recipe)):
        if remark:
            typer.echo(remark)


def print_about_signs(data: DataFacts) -> None:
    """What the signs of direct effects are about, and which levels are the higher ones."""
    orders = shortened(orders_to_read_signs(data.names, data.levels))
    typer.echo(
        printable(f"Signs are those of direct effects, given the edge{orders and f' ({orders})'}; ? is unclear.")
    )


def pairs_content(found: Directions, least: float = 0.0) -> dict[str, Any]:
    """All pairs that are joined at least so probably, and what is said of them, as JSON can hold it."""
    return {
        "pairs": [record for record in found.table().to_dict("records") if record["joined"] >= least],
        "pairs_confidence": found.confidence,
        "pairs_note": found.note or None,
    }


def _sign(effects: Mapping[tuple[int, int], DirectEffect], pair: PairDirection) -> str:
    """The sign of the edge onward, or where no graph has it, of the one back."""
    ways = ((pair.source, pair.target), (pair.target, pair.source))
    return next((effects[way].sign for way in ways if way in effects), "")


def effects_content(found: Directions, effects: Mapping[tuple[int, int], DirectEffect] | None) -> dict[str, Any]:
    """The direct effects of edges given that they are there, as JSON can hold them."""
    if not effects:
        return {}
    listed = [
        {"parent": found.names[parent], "child": found.names[child], "sign": own.sign, **own._asdict()}
        for (parent, child), own in sorted(effects.items())
    ]
    return {"direct_effects": listed}


def _plain() -> bool:
    """Whether the output has no letters for the marks."""
    return not drawable("".join([_BLOCK[0], *(mark for mark, _ in MARKS.values())]), "")
