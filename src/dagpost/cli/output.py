"""What results look like: columns, the sentences under them, JSON.

Nothing is cut to the width of a terminal, so that names arrive whole in a pipe; a line that is too long for a terminal
is wrapped there. No colours.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dagpost._tools.setting_text import averaged_words, given_columns, joined_before, readable_setting
from dagpost._tools.text import readable_level
from dagpost.methods.choice import AS_ASKED

if TYPE_CHECKING:
    import pandas as pd

    from dagpost.model import DagPosterior
    from dagpost.posterior.sample import DagSample

EdgeList = list[tuple[str, str, float]]

_NOT_PLAIN = re.compile(r"[^\n -~]")


def print_json(content: object) -> None:
    """JSON on standard output: names unchanged except for what a terminal would obey, numbers that JSON knows only."""
    text = json.dumps(_as_json(content), ensure_ascii=False, indent=1, allow_nan=False)
    typer.echo(_NOT_PLAIN.sub(lambda found: found[0] if found[0].isprintable() else json.dumps(found[0])[1:-1], text))


def _as_json(content: Any) -> Any:
    """The same as JSON can hold it: what is not known, or not finite, is null."""
    if isinstance(content, Mapping):
        return {str(key): _as_json(value) for key, value in content.items()}
    if isinstance(content, list | tuple):
        return [_as_json(value) for value in content]
    if content is None or (isinstance(content, float) and not math.isfinite(content)):
        return None
    return readable_level(content)


def given_content_of(origin: DagPosterior | DagSample) -> dict[str, Any]:
    """What a model or a sample is given, as JSON can hold it: `{"given": {...}}`, or nothing."""
    from dagpost.posterior.condition_words import given_content

    return given_content(_provenance_of(origin))


def print_given(origin: DagPosterior | DagSample, *, err: bool = False) -> None:
    """One line on what a model or a sample is given, how probable that is, and how many graphs are left."""
    from dagpost.posterior.condition_words import given_line
    from dagpost.posterior.sample import DagSample

    if isinstance(origin, DagSample):
        line = given_line(origin.provenance, len(origin))
    else:
        condition = origin.fitted_.condition
        graphs = None if condition is None or not condition.drawn else len(origin.own_sample())
        line = given_line(_provenance_of(origin), graphs)
    if line:
        typer.echo(line, err=err)


def _provenance_of(origin: DagPosterior | DagSample) -> Mapping[str, Any]:
    from dagpost.posterior.condition_words import given_provenance

    return given_provenance(origin.fitted_.condition) if hasattr(origin, "fitted_") else origin.provenance


def edge_list(edges: pd.DataFrame) -> EdgeList:
    """All edges, most probable first."""
    from dagpost.files.frames import long_table

    return list(long_table(edges).itertuples(index=False, name=None))


def print_columns(
    rows: Sequence[Sequence[str]], *, right: Sequence[int] = (), indent: str = "", err: bool = False
) -> None:
    """Cells under each other, two blanks apart, also where letters are twice as wide as others."""
    from rich.cells import cell_len

    widths = [max(cell_len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for column, cell in enumerate(row):
            blank = " " * (widths[column] - cell_len(cell))
            cells.append(blank + cell if column in right else cell + blank)
        lines.append((indent + "  ".join(cells)).rstrip())
    typer.echo("\n".join(lines), err=err)


def drawable(sign: str, plain: str) -> str:
    """A sign, or what stands for it where standard output has no such letter."""
    try:
        sign.encode(sys.stdout.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return plain
    return sign


def as_content(model: DagPosterior, edges: EdgeList, model_file: Path | None) -> dict[str, Any]:
    """A model's results as JSON can hold them; those of pairs are added by `pairs_content`."""
    from dagpost.posterior.lists import mixture_facts

    results = model.fitted_.results
    return {
        "names": list(model.names_),
        **given_content_of(model),
        "exogenous": list(model.fitted_.exogenous),
        "modularity": model.modularity,
        "log_evidence": model.fitted_.log_evidence,
        "exact": model.exact_,
        "method": model.method_,
        "method_reason": model.method_reason_,
        "target": model.target_,
        "verdict": model.verdict_,
        "joined_before": model.fitted_.joined_before,
        "model": None if model_file is None else str(model_file),
        "mixture": mixture_facts(model.fitted_),
        # Every pair under each kind of model, where there are several.
        **({"by_kind": model.joined_by_kind_.to_dict("records")} if hasattr(model, "joined_by_kind_") else {}),
        **({"completed_tables": results.tables} if results.tables else {}),
        "edges": edges_content(edges, None if results.edge_errors is None else model.edge_errors_),
    }


def sample_content(sample: DagSample, edges: EdgeList) -> dict[str, Any]:
    """The edges of a sample as JSON can hold them, and what it is worth."""
    return {"names": list(sample.names), "exact": False, **sample.summary(), "edges": edges_content(edges)}


def edges_content(edges: EdgeList, errors: pd.DataFrame | None = None) -> list[dict[str, Any]]:
    """Edges as JSON can hold them; averages over completed tables with their standard errors."""
    if errors is None:
        return [{"parent": a, "child": b, "probability": p} for a, b, p in edges]
    known: Any = errors.to_dict()
    return [{"parent": a, "child": b, "probability": p, "error": known[b][a]} for a, b, p in edges]


def about_sample(sample: DagSample) -> list[str]:
    """What a sample is, and how far to trust it."""
    return [f"{sample!r}.", *([sample.diagnosed.verdict] if sample.from_chains else [])]


def summary(model: DagPosterior) -> list[str]:
    """How the edges were found, under which prior and given what, and how far to trust them."""
    words = "; ".join(filter(None, (model.target_.words, given_columns(model.fitted_.exogenous))))
    before = [said] if (said := joined_before(model.fitted_.joined_before)) else []
    if model.exact_:
        with_it = "" if model.condition_ is None else " of the data and what is given"
        evidence = "" if math.isnan(model.log_evidence_) else f"; log evidence{with_it} {model.log_evidence_:.4f}"
        return [f"Exact ({words}){evidence}.", *_averaged(model), *before]
    if model.fitted_.results.tables:
        from dagpost.plots.sources import averaged_words

        how = f"{averaged_words(model.fitted_)} ({words})"
        return [f"{how}: {model.method_reason_}.", *_averaged(model), *before, model.verdict_ or ""]
    reason = "" if model.method_reason_.startswith(AS_ASKED) else f": {model.method_reason_}"
    lines = [f"Estimated from graphs by {model.method_} ({words}){reason}.", *_averaged(model), *before]
    trust = model.verdict_ or _trust(model)
    return [*lines, trust] if trust else lines


def _averaged(model: DagPosterior) -> list[str]:
    """How probable each value is that the model averages over."""
    from dagpost.posterior.lists import mixture_facts

    found = mixture_facts(model.fitted_)
    if found is None:
        return []
    said = [averaged_words(axis) for axis in found["settings"]]
    return [*said, *([found["disagreement"]] if "disagreement" in found else [])]


def _trust(model: DagPosterior) -> str:
    """How large the sampling error is, where no chain says so itself."""
    from dagpost.posterior.estimate import LARGEST_ERROR, error_near_one_half

    if not model.target_.posterior:
        return "A share of replicates says how stable an edge is under resampling, not how probable it is."
    worth = model.own_sample().effective_samples
    if not worth > 0.0 or math.isinf(worth):
        return ""
    error = error_near_one_half(worth)
    if error >= LARGEST_ERROR:
        return f"Do not trust it: the graphs are worth only {worth:.1f} independent ones. Fit with more --samples."
    return f"Trust it to about ±{max(error, 0.01):.2f}: the weighted graphs are worth {worth:,.0f} independent ones."


def assumptions(model: DagPosterior) -> str:
    """What all of it rests on."""
    settings = model.fitted_.settings
    regimes = model.fitted_.most_regimes
    kinds = ((model.max_parents_ - regimes, "parent"), (regimes, "regime"))
    most = " and ".join(f"{count} {kind}{'' if count == 1 else 's'}" for count, kind in kinds[: 1 + bool(regimes)])
    limit = "" if model.target_.most_parents is not None else f", at most {most} a variable"
    given = f"{readable_setting(settings['score'])} score, {readable_setting(settings['prior'])} prior{limit}"
    from dagpost.scores import Score

    score = model.fitted_.score
    assumed = score.assumes() if isinstance(score, Score) else ""
    return f"Given: {given}.{assumed and f' {assumed}'} Arrows are not yet causes."
