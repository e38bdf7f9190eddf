"""The report as one HTML file: the template, the tables, the numbers for the script, and the scripts it needs.

The page loads nothing: styles and scripts are inside it. Its Content-Security-Policy allows just these scripts, by
their hashes, and no request of any kind, so that a name from the data could do nothing even if it were taken for code.
The numbers stand in the page as JSON that no HTML parser can take for markup.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

from dagpost._tools.text import printable, shown
from dagpost._tools.whole_files import check_place, write_text
from dagpost._version import __version__
from dagpost.errors import InputError
from dagpost.features.names import quoted
from dagpost.plots.marks import head_of, looks_as_data
from dagpost.posterior.sensitivity import label_under_choices
from dagpost.report import assumption, direction_words, tables, words
from dagpost.report.about import about
from dagpost.report.content import Content, gather
from dagpost.report.data_sentences import about_columns
from dagpost.report.gap_section import gap_section, latent_section
from dagpost.report.graph_section import graph_section
from dagpost.report.many_columns import BLANKET, first_threshold, is_many, pairs_for_file, pairs_shown
from dagpost.report.methods_paragraph import cited, methods_section
from dagpost.report.pair_table import decided_by, effect_of, pair_table, sign_of, within_of
from dagpost.report.regime_section import regime_section
from dagpost.report.reproduction import reproduction_section
from dagpost.report.rules_section import rules_section
from dagpost.report.sensitivity_table import choices_of, sensitivity_section
from dagpost.report.size_section import size_section, tip
from dagpost.report.time_section import time_section
from dagpost.report.view_data import base_view, graphs_of, terms

SCRIPTS = (
    *("numbers.js", "views.js", "present.js", "courses.js", "graph.js", "pointing.js", "drawing.js", "redraw.js"),
    *("focus.js", "panel.js", "tables.js", "intervals.js", "unpacking.js", "closing.js", "draws.js"),
    *("assumptions.js", "assumption_words.js", "assumption_menu.js", "assumption_list.js", "page.js"),
)
#: What is assumed stands before the rest: rules for paper and narrow screens are at the end, and win.
STYLES = ("graph.css", "assumptions.css", "report.css")
#: Sections in the order of the page, and what leads to each; those that a report does not have are left out.
_SECTIONS = {
    "graph-section": "Graph",
    "trust": "How to read this",
    "time": "In time",
    "regimes": "Regimes",
    "sizes": "Signs and sizes",
    "pairs": "Pairs",
    "choices": "Choices",
    "rules": "Rules",
    "paths": "Paths",
    "graphs": "Graphs and classes",
    "data": "Data",
    "latent": "Latent numbers",
    "gaps": "Missing values",
    "method": "Method",
    "cite": "Cite",
}
#: Parts of the page that are sections, or nothing.
_WHOLE_SECTIONS = ("time", "regimes", "sizes", "rules", "gaps")
#: Where the slider stands at first; lower, if nothing would be seen.
_THRESHOLD = 0.5
#: In the JSON: enough digits to tell a number that only looks like 0 or 1 from 0 and 1.
_DIGITS = 12
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_report(source: Any, path: str | os.PathLike[str], title: str | None = None) -> Path:
    """Write the report of a model or a sample; the path that was written comes back."""
    target = _checked_target(path)
    if title is not None and not isinstance(title, str):
        raise InputError(f"The 'title' of a report must be text. Got {shown(title)} instead.")
    write_text(target, page(gather(source), title, datetime.datetime.now(datetime.UTC)))
    return target


def page(content: Content, title: str | None, written: datetime.datetime) -> str:
    """The whole page."""
    scripts = [_template(script) for script in SCRIPTS]
    data = {**data_of(content), "graphs": graphs_of(content)}
    graph = graph_section(content, data["threshold"], [pair.get("sign", "") for pair in data["pairs"]])
    standing = words.standing(content)
    headline = title if title and title.strip() else words.heading(content) + assumption.in_heading(content)
    versions = [
        ("Report written", f"{written:%Y-%m-%d %H:%M} UTC"),
        ("Versions", f"dagpost {__version__}, Python {platform.python_version()}, NumPy {version('numpy')}"),
    ]
    works = cited(content)
    parts = {
        "policy": _policy(scripts),
        "title": tables.text(headline),
        "style": "".join(map(_template, STYLES)),
        "summary": tables.text(words.summary(content)),
        "given": assumption.banner(content),
        "found": tables.text(direction_words.found(content)),
        "standing": tables.text(standing.word),
        "mood": standing.mood,
        "about": about(content, data["graphs"]),
        "graph": graph.pictures,
        "frame": graph.frame,
        "measure": content.target.measure,
        "legend": graph.legend,
        "gaps": latent_section(content.gaps) + gap_section(content.gaps),
        "regimes": regime_section(content),
        "time": time_section(content),
        # Whole sections, or nothing: signs and sizes; what the rules of the user decided.
        "sizes": size_section(content),
        "rules": rules_section(content),
        # Parts of the section on the method: a paragraph to paste; all that is needed to compute this again.
        "methods": methods_section(content),
        "reproduce": reproduction_section(content),
        "pair_note": tables.folded("What are the numbers?", tables.paragraph(direction_words.about_pairs(content))),
        "pairs": pair_table(content),
        "choices": sensitivity_section(content),
        "paths": tables.path_table(content),
        "best": words.best(content),
        "graphs": tables.graph_table(content),
        "classes": tables.class_table(content),
        "rows": tables.text(" ".join([_rows(content), *about_columns(content)])),
        "columns": tables.data_folds(content),
        "settings": tables.settings_table(content, versions) + tables.mixture_table(content),
        "citation": "".join(map(tables.paragraph, works.splitlines())),
        "version": tables.text(__version__),
        "data": as_data(data),
        "scripts": "\n".join(f"<script>{script}</script>" for script in scripts),
    }
    template = _template("page.html")
    parts["navigation"] = _navigation(template + "".join(parts[part] for part in _WHOLE_SECTIONS))
    return filled(template, parts)


def data_of(content: Content) -> dict[str, Any]:
    """The numbers that the script needs; variables are numbered as the columns are."""
    directions, pairs = content.directions, _pairs(content)
    total = int(directions.asked.sum())
    return {
        "names": [printable(name) for name in content.names],
        # As statements name them: what is assumed in the page is said in the statement language.
        "written": [quoted(name) for name in content.names],
        "exogenous": list(content.directions.exogenous),
        "looks": looks_as_data(),
        "pairs": pairs,
        "decided": decided_by(directions).lower(),
        "unlisted": [total - len(pairs), _rounded(content.edges.sum() - sum(pair["joined"] for pair in pairs))],
        "many": is_many(content),
        "posterior": content.target.posterior,
        "measure": content.target.measure,
        "threshold": _first_threshold(content, pairs),
        "more": pairs_for_file(content, pairs_shown(content)),
        "families": None if content.families is None else [_families(own) for own in content.families],
        "familiesNote": _note(content, "families", content.families_exact),
        "blankets": None if content.blankets is None else _blankets(content),
        "blanketsNote": _note(content, "blankets", False),
        # What the scripts need to say everything again under assumptions.
        "terms": terms(),
        "base": base_view(content),
    }


def _pairs(content: Content) -> list[dict[str, Any]]:
    """Each pair of the table: its ends, its word and what that says, its numbers, its effect."""
    directions, said, choices = content.directions, pairs_shown(content), choices_of(content.sensitivity)
    # Compelled onward and back, by rules or the model either way, reversible.
    decided = directions.by_rules + directions.by_model
    matrices = (directions.by_data, directions.by_data.T, decided + decided.T)
    effects, signs = _effects(content)
    return [
        {
            "from": pair.source,
            "to": pair.target,
            "joined": _rounded(pair.joined),
            "word": pair.word,
            "head": head_of(pair.word) is not None,
            "said": label_under_choices(pair, content.sensitivity),
            "parts": [_rounded(matrix[way]) for matrix in (*matrices, directions.reversible)]
            if directions.computed
            else None,
            **_known(
                within=within_of(content, pair),
                effect=effects.get(way) or effect_of(content, pair),
                sign=signs.get(way) or sign_of(content, pair),
                choices=choices.get(frozenset(way)),
            ),
        }
        for pair in said
        for way in [(pair.source, pair.target)]
    ]


def _known(**said: str | None) -> dict[str, str]:
    """What there is something to say of; of many pairs there are many."""
    return {key: words for key, words in said.items() if words}


def _effects(content: Content) -> tuple[dict[tuple[int, int], str], Mapping[tuple[int, int], str]]:
    """What is said of the effect between two columns, and its sign, by pairs either way."""
    if content.sizes is None:
        return {}, {}
    steps = () if content.recipe is None else content.recipe.steps_
    in_order = {step.name: step.in_order is not False for step in steps}
    found: dict[tuple[int, int], str] = {}
    for own in content.sizes.pairs:
        for way in ((own.cause, own.outcome), (own.outcome, own.cause)):
            found.setdefault(way, tip(own))
    return found, content.sizes.signs([in_order.get(name, True) for name in content.names])


def as_data(data: Any) -> str:
    r"""JSON that can stand in a page: nothing in it can end the element or begin another one.

    >>> as_data(["</script>"])
    '["\\u003c/script\\u003e"]'
    """
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def _rounded(probability: float) -> float:
    return float(f"{float(probability):.{_DIGITS}g}")


def _families(families: Any) -> list[list[Any]]:
    return [[list(parents), _rounded(probability)] for parents, probability in families]


def _blankets(content: Content) -> list[list[list[float]]]:
    """For every variable the others by their probability to be in its Markov blanket."""
    assert content.blankets is not None
    listed = []
    for node, row in enumerate(content.blankets.tolist()):
        others = [[other, _rounded(value)] for other, value in enumerate(row) if other != node and value > 0.0]
        listed.append(sorted(others, key=lambda entry: -entry[1])[: BLANKET if is_many(content) else None])
    return listed


def _note(content: Content, part: str, exact: bool) -> str:
    if part in content.omitted:
        return words.omitted(content, part)
    averaged = part == "families" and content.gaps is not None and content.gaps.exact_given_table
    return words.provenance_of_part(content, exact, averaged=averaged)


def _first_threshold(content: Content, pairs: list[dict[str, Any]]) -> float:
    joined = [pair["joined"] for pair in pairs]
    highest = max(joined, default=1.0)
    usual = _THRESHOLD if highest >= _THRESHOLD else max(int(highest * 20) / 20, 0.01)
    return first_threshold(joined, usual) if is_many(content) else usual


def _rows(content: Content) -> str:
    if content.rows:
        return content.rows + "."
    if content.observations is not None:
        return f"{content.observations:,} observations; the rows are not kept with these results."
    return "Nothing is known of the rows: these results come from scores."


# The page


def _navigation(text: str) -> str:
    """Links to the sections that are there."""
    return "".join(
        f'<a href="#{place}">{words}</a>\n' for place, words in _SECTIONS.items() if f'<section id="{place}"' in text
    )


def filled(template: str, parts: dict[str, str]) -> str:
    """The template with every mark replaced; what is put in is not looked at again."""
    pieces = []
    for number, piece in enumerate(template.split("{{")):
        mark, closed, rest = piece.partition("}}")
        pieces.append(piece if number == 0 or not closed else parts[mark.strip()] + rest)
    return "".join(pieces)


def _policy(scripts: list[str]) -> str:
    digests = (base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii") for script in scripts)
    hashes = " ".join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _template(name: str) -> str:
    return files("dagpost.report").joinpath("templates", name).read_text(encoding="utf-8")


def _checked_target(path: Any) -> Path:
    """The path, if a file can be written there; otherwise an error before any work is done."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InputError(
            f"The 'path' of a report must be text or a pathlib.Path, such as 'report.html'. Got {shown(path)} instead."
        )
    if not os.fspath(path):
        raise InputError("The 'path' of a report is empty. Name a file, such as 'report.html'.")
    target = Path(path)
    check_place(target)
    return target
