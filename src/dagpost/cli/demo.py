"""`dagpost demo`: a bundled study from the table to the report, in one command."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Annotated

import typer

from dagpost.cli.files import may_write
from dagpost.cli.options import RunOptions, setting
from dagpost.cli.output import as_content, edge_list, print_json, summary
from dagpost.errors import InputError

_MINIMUM = 0.05
_DRAWS, _WIDTH = 4_000, 100
_QUESTIONS = (
    ("directly", "Smoking -> Pressure"),
    ("by any path", "Smoking ~> Pressure"),
    ("through proteins", "Smoking -> Proteins & Proteins -> Pressure"),
    ("in two steps or fewer", "Smoking ~>{2} Pressure"),
)


def demo(
    *,
    output: Annotated[
        Path,
        setting("FILE", "Where to write the report; the model goes beside it.", "-o", "--output"),
    ] = Path("dagpost-demo.html"),
    run: RunOptions,
) -> None:
    """Learn the network of a bundled study and write a report.

    What goes with heart disease among 1,841 car workers?

    \b
    Example: dagpost demo
    """
    from dagpost.causal.sentences import in_sentences
    from dagpost.cli.pairs import pairs_content, print_about_pairs, print_pairs, print_pairs_left_out
    from dagpost.data import datasets
    from dagpost.model import DagPosterior
    from dagpost.posterior.directions import quick_directions
    from dagpost.posterior.variations import known_sensitivity

    if not output.name:
        raise InputError("The name of the report is empty, or a folder. Name a file with -o.")
    if not output.suffix:
        output = output.with_suffix(".html")
    model_file = output.with_suffix(".dagpost")
    if model_file == output:
        raise InputError(
            f"{str(output)!r} is where the model would go. Name the report otherwise, such as {output.stem}.html."
        )
    page = may_write(output, "report")
    may_write(model_file, "model")
    model = DagPosterior(seed=2, threads=run.threads, progress=run.progress).fit(datasets.load("coronary"))
    found = quick_directions(model.fitted_)
    answers = model.probability([statement for _, statement in _QUESTIONS])
    effect = model.effect("Smoking", "Pressure", draws=_DRAWS)
    model.save(model_file)
    written = model.report(page, title="Heart disease among 1,841 car workers")
    if run.as_json:
        edges = edge_list(model.edge_probabilities_)
        more = {"effect": effect.summary(), "report": str(written)}
        print_json({**as_content(model, edges, model_file), **pairs_content(found), **more})
        return
    typer.echo(datasets.describe("coronary"))
    typer.echo()
    shown = found.pairs(_MINIMUM)
    # The report has tried them.
    print_pairs(found, shown, tried=known_sensitivity(model.fitted_))
    print_pairs_left_out(found, shown, _MINIMUM)
    for line in summary(model):
        typer.echo(line)
    print_about_pairs(found, model_file)
    typer.echo()
    typer.echo("Do arrows lead from smoking to blood pressure?")
    for (words, _), answer in zip(_QUESTIONS, answers, strict=True):
        typer.echo(f"  {words:22} {answer}")
    typer.echo("What would smoking change?")
    for sentence in in_sentences(effect):
        typer.echo(textwrap.fill(sentence, _WIDTH, initial_indent="  ", subsequent_indent="  "))
    typer.echo()
    joined = min((pair.joined for pair in shown), key=lambda share: abs(share - 0.5))
    clear = sum(pair.word == "clear" for pair in shown)
    typer.echo(f"How to read this: two variables joined at {joined:.2f} mean that, summed over every graph there is,")
    typer.echo(f"those with an arrow between the two hold {joined:.0%} of the posterior probability. A direction is")
    typer.echo("clear where almost all of these, and all graphs that fit the data equally well, have the arrow the")
    typer.echo(
        f"same way: here {clear or 'none'} of {len(shown)}. Other choices of ours may change either (the report has"
    )
    typer.echo("tried some), and a cause that is not in the table could undo any direction.")
    typer.echo("Next: dagpost fit YOUR_TABLE.csv -o model.dagpost, then dagpost effect model.dagpost CAUSE OUTCOME")
    typer.echo(f"Model: {model_file}")
    typer.echo(f"Report, to open in a browser: {written}")
