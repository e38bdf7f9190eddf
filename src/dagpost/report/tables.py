"""The tables of a report as HTML, readable without JavaScript; the page's script makes them sortable.

Every piece of text that comes from outside goes through `text` or `name`, which escape it.
"""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence

import numpy as np

from dagpost._tools.arrays import Floats
from dagpost._tools.mixture import value_text
from dagpost._tools.text import printable
from dagpost.data.recipe_words import cells
from dagpost.families.masks import matrix_of_masks
from dagpost.plots.readable_part import MANY
from dagpost.plots.sources import percent
from dagpost.report.content import Content, graphs_listed
from dagpost.report.direction_words import about_classes
from dagpost.report.many_columns import EDGES, LEAST_PATH, MOST_PATHS, is_many
from dagpost.report.words import best, measure_of, omitted, provenance_of_part, setting_rows

#: Cells at least this probable are so full of colour that their figures turn from dark to light, or the other way.
_FULL = 0.72
_LONGEST_NAME = 40
#: Bars of less than this are not drawn.
_SEEN = 0.0005
#: A matrix of more columns than this has smaller figures.
_WIDE = 14
_ROUNDING = 1e-9
#: How each joined pair is joined: (first, second) is "→", "←" or "—" with first < second.
_Joints = dict[tuple[int, int], str]


def text(words: str) -> str:
    """Text as HTML, with control characters shown rather than obeyed."""
    return html.escape(printable(words))


def name(words: str, whole: bool = False) -> str:
    """A name from the data: its direction of writing stays inside it. The whole of a long one shows when pointed at."""
    shown = printable(words)
    if whole or len(shown) <= _LONGEST_NAME:
        return f"<bdi>{_breakable(shown)}</bdi>"
    return f'<bdi title="{html.escape(shown)}">{_breakable(shown[: _LONGEST_NAME - 1])}…</bdi>'


def _breakable(shown: str) -> str:
    """Text that may be broken after an underscore rather than anywhere."""
    return html.escape(shown).replace("_", "_<wbr>")


def number(probability: float) -> str:
    """A probability with four digits; one that only looks like 0 or 1 says so."""
    if 0.0 < probability < 0.00005:
        return "&lt;0.0001"
    # Weights that sum to 1 do so up to rounding.
    if 0.99995 <= probability < 1.0 - _ROUNDING:
        return "&gt;0.9999"
    return f"{probability:.4f}"


def bounds(lower: float, upper: float, digits: int) -> str:
    """What a probability is between, rounded outward: with fewer digits it must not say more than is known.

    >>> bounds(0.99999, 1.0, 4)
    '0.9999 to 1.0000'
    """
    step = 10.0**digits
    # Rounding of the product itself moves nothing that is on a step already.
    low, high = math.floor(lower * step + _ROUNDING) / step, math.ceil(upper * step - _ROUNDING) / step
    return f"{low:.{digits}f} to {high:.{digits}f}"


def table(caption: str, heads: Sequence[str], rows: Iterable[str], kind: str = "") -> str:
    """A table with a caption; `heads` and `rows` are HTML."""
    head = "".join(f'<th scope="col">{cell}</th>' for cell in heads)
    # Not <caption>, which is no wider than its table.
    label = f"about-{kind.split(maxsplit=1)[0]}"
    return f'<p class="caption" id="{label}">{text(caption)}</p>' + scrolled(
        f'<table class="{kind}" aria-labelledby="{label}"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>",
        label,
    )


def scrolled(inside: str, label: str) -> str:
    """A table in a frame that scrolls where it is too wide, and shows at its edges that there is more."""
    frame = f'<div class="scroll" tabindex="0" role="region" aria-labelledby="{label}">{inside}</div>'
    return f'<div class="table-box">{frame}</div>'


def paragraph(words: str) -> str:
    """Text as a paragraph."""
    return f"<p>{text(words)}</p>"


def folded(words: str, inside: str) -> str:
    """What opens when its words are clicked; `inside` is HTML."""
    return f"<details><summary>{text(words)}</summary>{inside}</details>\n"


def bar(probability: float, within: str = "", head: str = "") -> str:
    """A cell with a probability, over a bar as long as that.

    `within` is what it is between; `head` stands over the number on screens that are too narrow for columns.
    """
    more, label = f"<small>{within}</small>" if within else "", f' data-head="{head}"' if head else ""
    # Of many pairs there are many bars that are not seen.
    length = f' style="--p:{100.0 * probability:.1f}%"' if probability >= _SEEN else ""
    return f'<td class="number bar"{label}{length}>{number(probability)}{more}</td>'


def heat_cell(probability: float) -> str:
    """A cell of a matrix, darker where more probable."""
    full = " full" if probability >= _FULL else ""
    return f'<td class="heat{full}" style="--p:{100.0 * probability:.0f}%">{probability:.2f}</td>'


def omission(content: Content, part: str) -> str:
    """The sentence in the place of a part that was left out."""
    return f'<p class="omitted">{text(omitted(content, part))}</p>'


# Paths


def path_table(content: Content) -> str:
    """The matrix of path probabilities, darker where more probable."""
    if content.paths is None:
        return omission(content, "paths")
    if is_many(content):
        return _path_list(content, content.paths)
    heads = ["from \\ to", *(f"<span>{name(own)}</span>" for own in content.names)]
    rows = (_path_row(content.names, place, content.paths[place]) for place in range(len(content.names)))
    what = measure_of(content).capitalize()
    caption = f"{what} a path of arrows from the row to the column, directly or through others. "
    if not content.target.posterior:
        caption += f"{content.target.directions} "
    return table(
        caption + provenance_of_part(content, content.paths_exact, averaged=_averaged_paths(content)),
        heads,
        rows,
        "matrix wide" if len(content.names) > _WIDE else "matrix",
    )


def _averaged_paths(content: Content) -> bool:
    """Whether paths are averages over completed tables."""
    return content.gaps is not None and content.gaps.path_error is not None


def _path_list(content: Content, paths: Floats) -> str:
    """The most probable paths, one a row: of very many columns there is no room for a matrix."""
    rows, columns = np.nonzero(paths >= LEAST_PATH)
    falling = np.argsort(-paths[rows, columns], kind="stable")
    listed = [(int(rows[place]), int(columns[place])) for place in falling[:MOST_PATHS]]
    cells = (
        f"<tr><td>{name(content.names[start])}</td><td>{name(content.names[end])}</td>"
        f"{bar(float(paths[start, end]))}{bar(float(content.edges[start, end]))}</tr>"
        for start, end in listed
    )
    what = measure_of(content).capitalize()
    caption = f"{what} a path of arrows, directly or through others, and of the arrow itself. "
    if len(listed) < len(falling):
        more = f"{len(falling) - len(listed):,} more from {LEAST_PATH:g} on"
        caption += f"The {len(listed):,} most probable; {more} are not listed. "
    caption += provenance_of_part(content, content.paths_exact, averaged=_averaged_paths(content))
    return table(caption, ["From", "To", "Path", "Arrow"], cells, "reached")


def _path_row(names: Sequence[str], row: int, values: np.ndarray) -> str:
    cells = []
    for column, value in enumerate(values.tolist()):
        if row == column:
            cells.append('<td class="self"></td>')
            continue
        cells.append(heat_cell(value))
    return f'<tr><th scope="row">{name(names[row])}</th>{"".join(cells)}</tr>'


# Graphs and classes


def graph_table(content: Content) -> str:
    """The most probable graphs: the first one whole, the others by what they have else."""
    graphs = content.graphs
    if graphs is None:
        return omission(content, "graphs")
    if graphs.exact:
        how = f"In all, {percent(graphs.covered)} of the posterior{' given the assumption' if content.given else ''}."
    elif not content.target.posterior:
        how = f"In all, {percent(graphs.covered)} of the replicates."
    else:
        how = f"Their probability is their share of the weight of the graphs seen, in all {percent(graphs.covered)}."
    which = "of all graphs" if content.graphs_are_best else "of the graphs seen"
    which += " that meet the assumption" if content.assumes and content.graphs_are_best else ""
    found, measure = [_joints(masks) for masks in graphs.parents], content.target.measure.capitalize()
    rows = (
        f"<tr>{_count(place + 1, 'Rank')}{bar(float(graphs.probabilities[place]), head=measure)}"
        f'<td class="listed">{_described(place, joints, found[0], content.names)}</td></tr>'
        for place, joints in enumerate(found)
    )
    return table(
        f"{_first(content, len(found))} {which}. {how}",
        ["Rank", measure, "Edges"],
        rows,
        "graphs",
    )


def class_table(content: Content) -> str:
    """The most probable equivalence classes."""
    classes = content.classes
    if classes is None:
        return omission(content, "classes")
    # Bounds are known where the probability of each graph is.
    bounded = not bool(np.isnan(classes.lower[0]))
    found = [_joints(pattern) for pattern in classes.first_patterns(graphs_listed(content.names))]
    rows, measure = [], content.target.measure.capitalize()
    for place, joints in enumerate(found):
        share, certain = float(classes.probabilities[place]), ""
        if bounded:
            lower, upper = float(classes.lower[place]), float(classes.upper[place])
            # What is certain is better than an estimate outside it.
            share = min(max(share, lower), upper)
            certain = f'<td class="number" data-head="Certainly within">{bounds(lower, upper, 4)}</td>'
        rows.append(
            f"<tr>{_count(place + 1, 'Rank')}{bar(share, head=measure)}{certain}"
            f"{_count(int(classes.graphs[place]), 'Graphs seen')}"
            f'<td class="listed">{_described(place, joints, found[0], content.names)}</td></tr>'
        )
    certainly = ["Certainly within"] if bounded else []
    heads = ["Rank", measure, *certainly, "Graphs seen", "Edges"]
    caption = f"{_first(content, len(found))} of {len(classes):,} class{'' if len(classes) == 1 else 'es'} seen."
    said = f"<p>{text(f'{about_classes(content)} {provenance_of_part(content, False)}')}</p>"
    return table(caption, heads, rows, "classes") + folded("What is a class?", said)


def _count(number: int, head: str) -> str:
    """A cell with a count; `head` as in `bar`."""
    return f'<td class="number" data-head="{head}">{number:,}</td>'


def _first(content: Content, count: int) -> str:
    return f"The {best(content)}" if count == 1 else f"The {count} {best(content)}"


def _joints(masks: np.ndarray) -> _Joints:
    """How the pairs of a graph, or of a completed graph, are joined."""
    onward = matrix_of_masks(masks)
    joints = {}
    for first, second in np.argwhere(np.triu(onward | onward.T)).tolist():
        both = onward[first, second] and onward[second, first]
        joints[first, second] = "—" if both else ("→" if onward[first, second] else "←")
    return joints


def _described(place: int, joints: _Joints, first: _Joints, names: Sequence[str]) -> str:
    """The edges of a graph, or how it differs from the first one where that is shorter."""
    differing = sorted(pair for pair in joints.keys() | first.keys() if joints.get(pair) != first.get(pair))
    if place == 0 or 2 * len(differing) > len(joints):
        listed = [_joint(pair, sign, names) for pair, sign in sorted(joints.items())]
        return _some(listed, names) or "no edges"
    changes = []
    for pair in differing:
        if pair not in joints:
            changes.append(f"without {_joint(pair, first[pair], names)}")
        elif pair not in first:
            changes.append(f"also {_joint(pair, joints[pair], names)}")
        else:
            changes.append(f"{_joint(pair, joints[pair], names)} instead of {_joint(pair, first[pair], names)}")
    return "as the first, but " + _some(changes, names)


def _some(listed: Sequence[str], names: Sequence[str]) -> str:
    """Edges one after the other; of very many columns the first ones, and how many there are besides."""
    more = len(listed) - EDGES if len(names) > MANY else 0
    return "; ".join(listed) if more <= 0 else f"{'; '.join(listed[:EDGES])}; and {more:,} more"


def _joint(pair: tuple[int, int], sign: str, names: Sequence[str]) -> str:
    start, end = (pair[1], pair[0]) if sign == "←" else pair
    return f'<span class="edge">{name(names[start])} {"→" if sign == "←" else sign} {name(names[end])}</span>'


# Data and settings


def _column_table(content: Content) -> str:
    """The variables, as far as they are known."""
    known = any(column.kind for column in content.columns)
    heads = ["Variable", "Kind", "Values"] if known else ["Variable"]
    rows = (
        f"<tr><td>{name(column.name, whole=True)}</td>"
        + (f"<td>{text(column.kind)}</td><td><bdi>{text(column.description)}</bdi></td>" if known else "")
        + "</tr>"
        for column in content.columns
    )
    return table(f"{len(content.columns)} variables", heads, rows, "columns")


def _recipe_table(content: Content) -> str:
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
    done = _recipe_table(content)
    variables = folded("The variables, one by one", _column_table(content))
    return variables + (folded("What was done with each column", done) if done else "")


def settings_table(content: Content, more: Sequence[tuple[str, str]]) -> str:
    """How it was computed."""
    rows = (
        f'<tr><th scope="row">{text(key)}</th><td>{text(value)}</td></tr>'
        for key, value in (*setting_rows(content), *more)
    )
    return table("How it was computed", ["Setting", "Value"], rows, "settings")


def mixture_table(content: Content) -> str:
    """How much each value counts that the model averages over; nothing where it does not average."""
    given = "the data and the assumption" if content.given else "the data"
    tables = []
    for axis in [] if content.mixture is None else content.mixture["settings"]:
        setting, pairs = axis["setting"], zip(axis["values"], axis["shares"], strict=True)
        rows = (f"<tr><td>{text(value_text(value))}</td>{bar(own)}</tr>" for value, own in pairs)
        share, weighed = "Probability", f"weighted by its probability given {given}"
        if axis.get("fixed"):
            share, weighed = "Weight", "with a fixed weight"
        caption = f"The answers are averaged over the {setting}, each value {weighed}"
        tables.append(table(caption, [setting.capitalize(), share], rows, "mixture"))
    return "".join(tables)
