"""`dagpost sample`: graphs drawn from the posterior of a model, kept in a file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dagpost._tools.text import printable
from dagpost.cli.application import BrokenOffError
from dagpost.cli.files import default_name, load_model, may_write, shell_command
from dagpost.cli.options import GivenOption, ModelArgument, RunOptions, SeedOption, option, output_option, setting
from dagpost.cli.output import print_given, print_json
from dagpost.cli.unfinished import checkpoint_for, how_to_resume, keeping, saving

if TYPE_CHECKING:
    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample


def sample(
    *,
    model: ModelArgument,
    output: Annotated[
        Path | None,
        output_option("Where to keep the graphs. Unless given: in this folder, as NAME-graphs.dagpost."),
    ] = None,
    given: GivenOption = None,
    number: Annotated[
        int | None,
        option("NUMBER", "How many graphs to draw; as the model says unless given.", "-n", "--number"),
    ] = None,
    precision: Annotated[
        float | None, option("P", "Instead of a number: how near the truth a frequency shall be.")
    ] = None,
    confidence: Annotated[float, setting("P", "How sure, with --precision.")] = 0.95,
    resume: Annotated[
        Path | None, option("SAMPLE", "Resume the chains of this sample until there are NUMBER graphs in all.")
    ] = None,
    seed: SeedOption = None,
    run: RunOptions,
) -> None:
    """Draw graphs from the posterior of a fitted model and keep them.

    A run that was interrupted, by Ctrl-C or otherwise, resumes where it stopped when the same command is given again.

    \b
    Example: dagpost sample coronary.dagpost -n 20000 --seed 1 -o graphs.dagpost
    """
    from dagpost._tools.checks import whole_number
    from dagpost.cli.plan import announce
    from dagpost.posterior.estimate import check_confidence
    from dagpost.posterior.plan import plan_sample
    from dagpost.posterior.sample import DagSample

    check_confidence(confidence)
    if number is not None:
        whole_number(number, "count")
    target = may_write(output or Path(f"{default_name(model, given)}-graphs.dagpost"), "sample")
    before = None if resume is None else DagSample.load(resume)
    fitted = load_model(model, given=given, threads=run.threads, quiet=run.quiet)
    asked = fitted.fitted_.usual_count if number is None else number
    checkpoint = checkpoint_for(target, quiet=run.quiet)
    with keeping(checkpoint):
        if not run.quiet and precision is None:
            more = asked - (0 if before is None else len(before))
            announce(plan_sample(fitted.fitted_, max(more, 0)), f"{more:,} graphs of {len(fitted.names_)} variables")
        drawn = fitted.sample(
            number, precision=precision, confidence=confidence, seed=seed, resume=before, checkpoint=checkpoint
        )
        with saving(checkpoint):
            drawn.save(target)
    # Ctrl-C ends chains with the graphs that they have.
    broken_off = drawn.chains is not None and len(drawn) < asked
    if checkpoint is not None and not broken_off:
        checkpoint.remove()
    _show(fitted, drawn, target, run)
    if broken_off:
        raise BrokenOffError(
            f"{target} holds the {len(drawn):,} of {asked:,} graphs that the chains had by then; "
            f"{how_to_resume(checkpoint)}, and --resume {shlex.quote(str(target))} adds to them."
        )


def _show(model: DagPosterior, drawn: DagSample, target: Path, run: RunOptions) -> None:
    if run.as_json:
        print_json({"sample": str(target), "graphs": len(drawn), "distinct": len(drawn.distinct), **drawn.summary()})
        return
    print_given(model)
    typer.echo(printable(f"{drawn!r}: {len(drawn.distinct):,} distinct. Kept in {target}"))
    if drawn.chains is not None and drawn.diagnostics().trusted:
        typer.echo(printable(drawn.diagnostics().verdict))
    if not run.quiet:
        from dagpost.features import path

        # A model says nothing of how exogenous columns depend on each other.
        modelled = [name for name in drawn.names if name not in drawn.exogenous]
        end = next(name for name in modelled if name != drawn.names[0])
        statement = printable(path(drawn.names[0], end))
        typer.echo(f"Next: {printable(shell_command('query', target, statement))}", err=True)
