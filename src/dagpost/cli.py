"""The command line. Every command is a thin layer over the library; nothing is computed here.

Results go to standard output, everything else to standard error, so that `--json` output can be piped. Exit status: 0
done, 2 wrong use or bad input, 130 interrupted.
"""

from __future__ import annotations

import functools
import json
import math
import os
import shlex
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dagpost._version import __version__
from dagpost.errors import DagpostError, DagpostWarning, InputError
from dagpost.estimates import MODULARITY_WORDS
from dagpost.names import printable

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.estimator import DagPosterior
    from dagpost.posterior import DagSample

app = typer.Typer(
    help="The posterior over Bayesian network structures: how probable is every edge, given a table?",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

_INTERRUPTED = 130


def _command(function: Callable[..., None]) -> Callable[..., None]:
    """Register a command that turns our own errors into one readable message and exit status 2."""

    @functools.wraps(function)
    def guarded(*arguments: Any, **options: Any) -> None:
        try:
            with warnings.catch_warnings():
                warnings.showwarning = _show_remark
                if options.get("quiet"):
                    warnings.simplefilter("ignore", DagpostWarning)
                function(*arguments, **options)
            sys.stdout.flush()
        except DagpostError as error:
            typer.echo(f"dagpost: {_printable_lines(str(error))}", err=True)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            typer.echo("dagpost: interrupted.", err=True)
            raise typer.Exit(_INTERRUPTED) from None
        except BrokenPipeError:
            # The reader of our output has gone, as `head` does; point the stream elsewhere so that closing it is quiet.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(0) from None

    app.command(no_args_is_help=function.__name__ != "demo")(guarded)
    return guarded


def _show_remark(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"dagpost: {_printable_lines(str(message))}", err=True)


def _printable_lines(text: str) -> str:
    """Text from the data without anything that a terminal would obey, line breaks kept."""
    return "\n".join(printable(line) for line in text.split("\n"))


JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
QuietOption = Annotated[bool, typer.Option("--quiet", help="No bars and no remarks.")]
SeedOption = Annotated[int | None, typer.Option(help="Seed of the sample; a new one each time unless given.")]
ThreadsOption = Annotated[int | None, typer.Option(help="Threads to use; every core unless given.")]
ModelArgument = Annotated[Path, typer.Argument(help="A model file written by `dagpost fit`.", show_default=False)]


@_command
def fit(
    table: Annotated[
        str, typer.Argument(help="A CSV or Parquet file; - reads a CSV from standard input.", show_default=False)
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where to keep the fitted model.", show_default=False)
    ] = None,
    score: Annotated[str, typer.Option(help="bdeu, bde, k2, bic, or bge for continuous columns.")] = "bdeu",
    ess: Annotated[
        float | None, typer.Option(help="Equivalent sample size of the BDeu score; 1 unless given.", show_default=False)
    ] = None,
    prior: Annotated[str, typer.Option(help="uniform, indegree, or edge:P for independent edges.")] = "uniform",
    modularity: Annotated[
        str, typer.Option(help="structure: every graph counts once; order: once for every order it fits.")
    ] = "structure",
    max_parents: Annotated[int, typer.Option(help="Most parents a variable may have.")] = 5,
    method: Annotated[
        str,
        typer.Option(
            help="How graphs are sampled: auto, exact-layers, linear-extensions, iw-dds, kbest, dds, partition-mcmc, "
            "structure-mcmc, hybrid-mcmc, partial-order-mcmc, order-mcmc, trees, given-order or bootstrap; settings "
            'after a colon, as in "partition-mcmc:chains=8,thinning=50".'
        ),
    ] = "auto",
    samples: Annotated[int, typer.Option(help="Graphs drawn when an answer needs a sample.")] = 30_000,
    required: Annotated[
        list[str] | None, typer.Option(help='An edge that every graph has, as "A -> B". May be repeated.')
    ] = None,
    forbidden: Annotated[
        list[str] | None, typer.Option(help='An edge that no graph has, as "A -> B". May be repeated.')
    ] = None,
    counts: Annotated[str | None, typer.Option(help="Column that says how many times each row was seen.")] = None,
    interventions: Annotated[
        str | None, typer.Option(help="Column that names the variable set from outside in each row.")
    ] = None,
    discretise: Annotated[
        str | None, typer.Option(help="Cut continuous columns first: quantile, uniform or kmeans.")
    ] = None,
    bins: Annotated[int, typer.Option(help="Number of levels that --discretise makes.")] = 3,
    seed: SeedOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    as_json: JsonOption = False,
) -> None:
    """Compute the posterior of a table.

    Example: dagpost fit table.csv -o table.dagpost
    """
    from dagpost.data import discretise as discretise_table
    from dagpost.data import read_table
    from dagpost.estimator import DagPosterior
    from dagpost.features import path
    from dagpost.scores import BDeu

    _check_folder(output)
    if ess is not None and score != "bdeu":
        raise InputError(f"--ess is a setting of the bdeu score; {score!r} has none.")
    data = read_table(table, counts=counts, interventions=interventions)
    if discretise is not None:
        data = discretise_table(data, bins=bins, strategy=discretise)  # type: ignore[arg-type]
    model = DagPosterior(
        score=BDeu(1.0 if ess is None else ess) if score == "bdeu" else score,
        prior=_parse_prior(prior),
        modularity=modularity,  # type: ignore[arg-type]
        max_parents=max_parents,
        method=_parse_method(method),
        samples=samples,
        required=[_parse_edge(text) for text in required or []],
        forbidden=[_parse_edge(text) for text in forbidden or []],
        threads=threads,
        seed=seed,
        progress=False if quiet else None,
    )
    if not quiet:
        _announce(model, len(data.names), data.observations)
    model.fit(data)
    if output is not None:
        model.save(output)
    _show(model, as_json=as_json, model_file=output, minimum=0.0 if as_json else 0.05)
    if not as_json and not quiet:
        statement = printable(path(model.names_[0], model.names_[1]))
        hint = shlex.join(["dagpost", "query", str(output), statement]) if output else "add -o FILE to keep the model"
        typer.echo(f"Next: {hint}", err=True)


@_command
def edges(
    model: ModelArgument,
    minimum: Annotated[float, typer.Option(help="Leave out edges that are less probable than this.")] = 0.0,
    as_json: JsonOption = False,
) -> None:
    """Show the probability of every edge of a fitted model.

    Example: dagpost edges table.dagpost --minimum 0.1
    """
    from dagpost.estimator import DagPosterior

    _show(DagPosterior.load(model), as_json=as_json, model_file=model, minimum=minimum)


@_command
def sample(
    model: ModelArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Where to keep the graphs.", show_default=False)],
    number: Annotated[int | None, typer.Option("-n", "--number", help="How many graphs to draw.")] = None,
    precision: Annotated[
        float | None, typer.Option(help="Instead of a number: how near the truth a frequency shall be.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="How sure, with --precision.")] = 0.95,
    resume: Annotated[
        Path | None, typer.Option(help="Let chains go on from this sample until there are NUMBER graphs in all.")
    ] = None,
    seed: SeedOption = None,
    as_json: JsonOption = False,
) -> None:
    """Draw graphs from the posterior of a fitted model and keep them.

    Example: dagpost sample table.dagpost -n 20000 --seed 1 -o graphs.dagpost
    """
    from dagpost.estimator import DagPosterior
    from dagpost.posterior import DagSample

    _check_folder(output)
    before = None if resume is None else DagSample.load(resume)
    fitted = DagPosterior.load(model)
    drawn = fitted.sample(number, precision=precision, confidence=confidence, seed=seed, resume=before)
    drawn.save(output)
    if as_json:
        _print_json({"sample": str(output), "graphs": len(drawn), "distinct": len(drawn.unique()), **drawn.summary()})
        return
    typer.echo(f"{drawn!r}: {len(drawn.unique()):,} distinct. Kept in {output}")
    if drawn.chains is not None and drawn.diagnostics().trusted:
        typer.echo(drawn.diagnostics().verdict)
    if number is not None and len(drawn) < number and drawn.chains is not None:
        # Ctrl-C ended the chains; what they had is kept, but a script that goes on must know.
        raise typer.Exit(130)
    typer.echo(f'Next: dagpost query {output} "A ~> B"', err=True)


@_command
def query(
    source: Annotated[Path, typer.Argument(help="A model or a sample file.", show_default=False)],
    statements: Annotated[
        list[str], typer.Argument(help='Such as "A ~> B", "A -> C <- B", "P(A -> B | B ~> C)".', show_default=False)
    ],
    confidence: Annotated[float, typer.Option(help="Of the intervals, where an answer is not exact.")] = 0.95,
    as_json: JsonOption = False,
) -> None:
    """Answer statements about the graph: exactly where that is possible, else from a sample, and say which.

    Example: dagpost query table.dagpost "Smoking ~> Pressure" "P(Smoking -> Family | Smoking ~> Pressure)"
    """
    origin = _load(source)
    answers = origin.probability(statements, confidence=confidence)
    if as_json:
        _print_json([{"statement": s, **answer.as_dict()} for s, answer in zip(statements, answers, strict=True)])
        return
    width = max(len(printable(statement)) for statement in statements)
    for statement, answer in zip(statements, answers, strict=True):
        typer.echo(f"{printable(statement):{width}}  {answer}")


@_command
def predict(
    model: ModelArgument,
    rows: Annotated[
        Path, typer.Argument(help="New rows: a table with the columns of the old one.", show_default=False)
    ],
    target: Annotated[
        str | None, typer.Option(help="Instead of whole rows: the probability of every level of this column.")
    ] = None,
    unseen: Annotated[
        str, typer.Option(help="Levels that were not seen in training: error, or prior for their probability under it.")
    ] = "error",
    as_json: JsonOption = False,
) -> None:
    """How probable new rows are, or one column of them given the others, averaged over graphs.

    Example: dagpost predict table.dagpost new.csv --target Pressure
    """
    from dagpost.data.files import read_frame
    from dagpost.estimator import DagPosterior

    fitted, new = DagPosterior.load(model), read_frame(rows)
    if target is None:
        logs = fitted.score_samples(new, unseen=unseen)
        if as_json:
            _print_json({"log_probability": logs.tolist(), "mean": float(logs.mean())})
            return
        for log in logs:
            typer.echo(f"{log:.6f}")
        typer.echo(f"Mean log probability of {len(logs):,} rows: {logs.mean():.4f}", err=True)
        return
    if not hasattr(fitted, "predict_proba"):
        raise InputError("--target is for discrete columns; those of this model are continuous. Leave it out.")
    chances = fitted.predict_proba(new, target=target, unseen=unseen)
    levels = [str(level) for level in chances.columns]
    if as_json:
        _print_json({"target": target, "levels": levels, "probabilities": chances.to_numpy().tolist()})
        return
    typer.echo(",".join(f"P({printable(target)} = {printable(level)})" for level in levels))
    for row in chances.to_numpy():
        typer.echo(",".join(f"{chance:.6f}" for chance in row))


@_command
def best(
    source: Annotated[Path, typer.Argument(help="A model file, or a table as for `dagpost fit`.", show_default=False)],
    number: Annotated[int, typer.Option("-k", "--number", help="How many graphs to list.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """List the most probable graphs, each counted once, with their share of the posterior.

    Example: dagpost best table.dagpost -k 10
    """
    from dagpost.estimator import DagPosterior
    from dagpost.storage import is_archive

    model = DagPosterior.load(source) if is_archive(source) else DagPosterior().fit(source)
    found = model.best(number)
    shares = found.posterior_probabilities()
    listed = [list(graph.edges) for graph in found]
    covered, tied = found.summary()["covered"], found.provenance["tied"]
    if as_json:
        graphs = [
            {"log_joint": float(log), "probability": share, "edges": edges}
            for log, share, edges in zip(found.log_joint, shares, listed, strict=True)
        ]
        _print_json({"graphs": graphs, "covered": covered, "tied": tied})
        return
    for rank, (log, share, edges) in enumerate(zip(found.log_joint, shares, listed, strict=True), start=1):
        arrows = ", ".join(f"{printable(parent)} -> {printable(child)}" for parent, child in edges) or "no edges"
        probability = "" if share is None else f"probability {share:.4f}, "
        typer.echo(f"{rank}. {probability}log score {log:.4f}: {arrows}")
    if tied:
        typer.echo("The next graph is as good as the last one listed.")
    if covered is not None:
        typer.echo(f"Together they hold {covered:.1%} of the posterior (each graph counted once).")


@_command
def demo(as_json: JsonOption = False) -> None:
    """Learn the network of a bundled study: what goes with heart disease among 1,841 car workers.

    Example: dagpost demo
    """
    from dagpost.data import datasets
    from dagpost.estimator import DagPosterior

    if not as_json:
        typer.echo(datasets.describe("coronary"))
        typer.echo()
    model = DagPosterior(seed=1).fit(datasets.load("coronary"))
    _show(model, as_json=as_json, model_file=None, minimum=0.0 if as_json else 0.05)
    if as_json:
        return
    typer.echo()
    typer.echo("Does smoking influence blood pressure?")
    statements = [
        ("directly", "Smoking -> Pressure"),
        ("by any path", "Smoking ~> Pressure"),
        ("through proteins", "Smoking -> Proteins & Proteins -> Pressure"),
        ("in two steps or fewer", "Smoking ~>{2} Pressure"),
    ]
    for (words, _), answer in zip(statements, model.probability([s for _, s in statements]), strict=True):
        typer.echo(f"  {words:22} {answer}")
    typer.echo()
    typer.echo("How to read this: an arrow A -> B at 0.73 means that, summed over every graph there is, those in")
    typer.echo("which A is a direct parent of B hold 73% of the posterior probability. Where A -> B and B -> A are")
    typer.echo("both likely, the data tell that the two go together, but not which way.")
    typer.echo("Next: dagpost fit YOUR_TABLE.csv -o model.dagpost")


def _announce(model: DagPosterior, nodes: int, observations: int) -> None:
    """Say what a long run will take before it starts."""
    from dagpost.engines.threads import available_cores
    from dagpost.exact import order, structure
    from dagpost.fitting import QUICK_SECONDS
    from dagpost.memory import available_bytes, readable
    from dagpost.methods import CHAINS, OWN_TARGETS, name_of, resolve_method

    workers = model.threads or available_cores()
    max_parents = min(model.max_parents, nodes - 1)
    name = name_of(resolve_method(model.method))
    table = f"{nodes} variables, {observations:,} observations"
    if name in OWN_TARGETS:
        return
    fits = order.fits(nodes, max_parents, workers=workers)
    cost = structure if model.modularity == "structure" else order
    exact_is_quick = fits and cost.expected_seconds(nodes, workers) <= QUICK_SECONDS
    if (name in CHAINS and not exact_is_quick) or (name == "auto" and not fits):
        count = f"{model.samples:,} graphs"
        typer.echo(f"{table}: chains until there are {count}; after their burn-in, Ctrl-C ends them earlier.", err=True)
        return
    if name in CHAINS:
        return
    seconds, size = order.expected_seconds(nodes, workers), order.table_bytes(nodes)
    if size > available_bytes():
        return
    if model.modularity == "structure":
        seconds = structure.expected_seconds(nodes, workers)
        size = structure.memory_needed(nodes, max_parents, workers)
    if seconds > 2.0:
        words = MODULARITY_WORDS[model.modularity]
        typer.echo(f"{table}: exact sums ({words}) take about {_duration(seconds)} and {readable(size)}.", err=True)


def _duration(seconds: float) -> str:
    for unit, length in (("days", 86_400.0), ("hours", 3_600.0), ("minutes", 60.0)):
        if seconds >= 2.0 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def _show(model: DagPosterior, *, as_json: bool, model_file: Path | None, minimum: float) -> None:
    listed = _edge_list(model.edge_probabilities_)
    if as_json:
        _print_json(
            {
                "names": list(model.names_),
                "modularity": model.modularity,
                "log_evidence": None if math.isnan(model.log_evidence_) else model.log_evidence_,
                "exact": model.exact_,
                "method": model.method_,
                "target": model.target_,
                "verdict": model.verdict_,
                "model": None if model_file is None else str(model_file),
                "edges": [{"parent": a, "child": b, "probability": p} for a, b, p in listed if p >= minimum],
            }
        )
        return
    _print_edges(listed, minimum)
    if model.exact_:
        typer.echo(f"Exact ({MODULARITY_WORDS[model.target_]}); log evidence {model.log_evidence_:.4f}.")
    else:
        words = MODULARITY_WORDS[model.target_]
        typer.echo(f"Estimated from graphs by {model.method_}: {model.method_reason_} ({words}).")
    if model.verdict_ is not None:
        typer.echo(model.verdict_)
    if model_file is not None:
        typer.echo(f"Model: {model_file}")


def _edge_list(edges: pd.DataFrame) -> list[tuple[str, str, float]]:
    """All edges, most probable first."""
    names = [str(name) for name in edges.columns]
    matrix = edges.to_numpy()
    pairs = [(parent, child) for parent in range(len(names)) for child in range(len(names)) if parent != child]
    pairs.sort(key=lambda pair: -matrix[pair])
    return [(names[parent], names[child], float(matrix[parent, child])) for parent, child in pairs]


def _print_edges(listed: list[tuple[str, str, float]], minimum: float) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = [edge for edge in listed if edge[2] >= minimum]
    table = Table(box=None, pad_edge=False)
    table.add_column("parent", no_wrap=True)
    table.add_column("")
    table.add_column("child", no_wrap=True)
    table.add_column("probability", justify="right")
    table.add_column("")
    for parent, child, probability in shown:
        bar = "█" * round(20 * probability)
        table.add_row(Text(printable(parent)), "->", Text(printable(child)), f"{probability:.4f}", Text(bar))
    console = Console()
    console.print(table)
    if len(shown) < len(listed):
        console.print(f"({len(listed) - len(shown)} edges below {minimum} not shown)", highlight=False)


def _print_json(content: object) -> None:
    typer.echo(json.dumps(content, ensure_ascii=False, indent=1, allow_nan=False))


def _load(source: Path) -> DagPosterior | DagSample:
    """A model or a sample, whichever the file holds."""
    from dagpost.estimator import DagPosterior
    from dagpost.posterior import DagSample
    from dagpost.storage import kind_of

    return DagPosterior.load(source) if kind_of(source) == "model" else DagSample.load(source)


def _check_folder(output: Path | None) -> None:
    """Before a long run: the result must have somewhere to go."""
    if output is not None and output.is_dir():
        raise InputError(f"{str(output)!r} is a folder. Name a file in it.")
    if output is not None and not output.parent.is_dir():
        raise InputError(f"There is no folder {str(output.parent)!r} to write {output.name!r} to.")


def _parse_edge(text: str) -> tuple[str, str]:
    parent, arrow, child = (part.strip().strip("\"'") for part in text.partition("->"))
    if not (parent and arrow and child):
        raise InputError(f'An edge is written "A -> B". Got {text!r} instead.')
    return parent, child


def _parse_method(text: str) -> Any:
    """A method by its name, with settings after a colon: whole numbers, shares, True or False, or names in order."""
    from dataclasses import fields

    from dagpost.methods import resolve_method

    name, colon, settings = text.partition(":")
    method = resolve_method(name)
    if not colon:
        return method
    chosen: dict[str, Any] = {}
    for setting in settings.split(","):
        key, equals, value = (part.strip() for part in setting.partition("="))
        if not (key and equals and value) or isinstance(method, str):
            raise InputError(
                f"Settings of a method are written NAME:setting=value,setting=value, for methods that have some. Got "
                f"{text!r} instead."
            )
        chosen[key] = _parse_value(value)
    try:
        return type(method)(**chosen)
    except TypeError:
        known = ", ".join(field.name for field in fields(method))
        raise InputError(f"{name} has the settings {known}. Got {text!r} instead.") from None


def _parse_value(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return [name.strip() for name in text.split(">")]


def _parse_prior(text: str) -> Any:
    from dagpost.priors import EdgePrior

    kind, colon, number = text.partition(":")
    if not colon:
        return text
    try:
        if kind == "edge":
            return EdgePrior(float(number))
    except ValueError:
        pass
    raise InputError(f"The prior must be uniform, indegree or edge:P with P between 0 and 1. Got {text!r} instead.")


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"dagpost {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Entry point of the `dagpost` command."""
    app()


if __name__ == "__main__":
    main()
