"""Everything that it takes to compute a result again: Python code, the recipe, and the data's digest.

What no file keeps, such as a function of the user's, is named in a comment in its place.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, NamedTuple

from dagpost._tools.json_settings import from_json, to_json
from dagpost._tools.registry import Registry
from dagpost._tools.text import printable
from dagpost.data.recipe import Recipe
from dagpost.data.recipe_file import toml_of
from dagpost.data.regimes import Regimes
from dagpost.methods.registry import METHODS
from dagpost.posterior.condition_words import GIVEN_FROM, GIVEN_SETTING, GIVEN_STATEMENTS
from dagpost.priors.registry import PRIORS
from dagpost.report.content import Content
from dagpost.report.tables import folded, text
from dagpost.scores.registry import SCORES

#: What stands for the user's files.
TABLE, RECIPE = "table.csv", "recipe.toml"
_REGISTRIES: Mapping[str, Registry[Any]] = {"score": SCORES, "prior": PRIORS, "method": METHODS}
_USUAL = {"modularity": "structure", "max_parents": 5, "samples": 30_000, "seed": None, "missing": None}


class Asked(NamedTuple):
    """The settings of a fit as they were asked for, in the order in which code names them.

    `choices` are the score, the prior and the method as JSON holds them; `by_hand` says of each that no file keeps what
    it is. `recipe` is the text of a file with all that it decided, where anything was asked of it.
    """

    choices: Mapping[str, Any]
    by_hand: Mapping[str, str]
    plain: Mapping[str, Any]
    rules: Mapping[str, Any]
    recipe: str | None
    regimes: Mapping[str, Any] | None
    beside: Mapping[str, str]
    time: Mapping[str, Any] | None


def asked_of(content: Content) -> Asked | None:
    """What was asked for; None where a sample was picked by hand or does not say what it was drawn from."""
    settings = content.asked
    if not settings or settings.get("score") is None:
        return None
    choices, by_hand = {}, {}
    for key, registry in _REGISTRIES.items():
        described = settings.get(key)
        if isinstance(described, Mapping) and not registry.knows(described):
            by_hand[key] = printable(described.get("kind"))
        elif isinstance(described, str) and key != "method":
            by_hand[key] = printable(described)
        elif described is not None:
            choices[key] = described
    recipe = content.recipe
    return Asked(
        choices,
        by_hand,
        {key: settings[key] for key, usual in _USUAL.items() if settings.get(key, usual) != usual},
        _rules(content, settings),
        None if recipe is None or not _is_needed(recipe, settings) else toml_of(recipe.to_json()),
        settings.get("regimes"),
        settings.get("beside") or {},
        None if content.unrolling is None else _unrolling(content.unrolling),
    )


def _rules(content: Content, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Edges, tiers and exogenous columns, less those that come with time, regimes or a recipe."""
    own = {key: settings[key] for key in ("required", "forbidden", "tiers") if settings.get(key)}
    implied: set[str] = set() if content.unrolling is None else {*content.unrolling.exogenous}
    if content.recipe is not None:
        implied |= {indicator.name for step in content.recipe.steps_ for indicator in step.indicators}
        implied |= {*map(str, content.recipe.exogenous)}
    left = [name for name in settings.get("exogenous", ()) if name not in implied]
    return own | ({"exogenous": left} if left else {})


def _is_needed(recipe: Recipe, settings: Mapping[str, Any]) -> bool:
    """Whether the usual recipe may not decide the same."""
    given = settings.get("recipe")
    asked, usual = recipe.to_json(), Recipe(missing=settings.get("missing") or "augment").to_json()
    return bool(given and given.get("steps")) or any(asked[key] != value for key, value in usual.items())


def _unrolling(record: Any) -> dict[str, Any]:
    """What was asked of `unroll`."""
    asked = {"time": record.time, "subject": record.subject, "lags": record.lags, "step": record.step}
    asked |= {"static": list(record.static) or None, "wide": record.wide or None}
    asked |= {"contemporaneous": None if record.contemporaneous else False}
    return {key: value for key, value in asked.items() if value is not None}


# In Python


def python_code(content: Content) -> str | None:
    """The program that computes the same again."""
    asked = asked_of(content)
    if asked is None:
        return None
    imports, arguments = {"DagPosterior"}, []
    for key in _REGISTRIES:
        if key in asked.by_hand:
            if key != "score" or content.observations is not None:
                arguments.append(f"{key}=...,  # {asked.by_hand[key]}: no file keeps it, put it in its place")
            continue
        described = asked.choices.get(key)
        if isinstance(described, Mapping):
            arguments.append(f"{key}={_made(described, _REGISTRIES[key], imports)},")
        elif described not in (None, "auto"):
            arguments.append(f"{key}={described!r},")
    edges = {key: [tuple(edge) for edge in asked.rules[key]] for key in ("required", "forbidden") if key in asked.rules}
    rules = {**asked.rules, **edges}
    arguments += [f"{key}={value!r}," for key, value in (*asked.plain.items(), *rules.items())]
    if asked.regimes is not None:
        imports.add("Regimes")
        usual = vars(Regimes("column"))
        changed = {key: value for key, value in asked.regimes.items() if key == "column" or value != usual[key]}
        arguments.append(f"regimes=Regimes({_named(changed)}),")
    if asked.recipe is not None:
        arguments.append(f"recipe={RECIPE!r},  # the report has this file")
    lines = ["model = DagPosterior(", *(f"    {argument}" for argument in arguments), ")"] if arguments else []
    lines = lines or ["model = DagPosterior()"]
    source, more = repr(TABLE), "".join(f", {what}={name!r}" for what, name in asked.beside.items())
    if asked.time is not None:
        imports.add("unroll")
        time = {**asked.time, **({"wide": "{series}_{time}"} if asked.time.get("wide") else {})}
        source = f"unroll({source}, {_named(time)})"
    fit = f"model.fit({source}{more}){_uncounted(content, asked)}"
    if content.observations is None:
        fit = "model.fit_scores(scores)  # the local scores, as read_jkl or local_scores gives them"
    return "\n".join([f"from dagpost import {', '.join(sorted(imports))}", "", *lines, fit, *_end(content)])


def _made(described: Any, registry: Registry[Any], imports: set[str]) -> str:
    """The expression that makes a choice, and choices within it; the classes that it needs are added to `imports`."""
    if isinstance(described, list | tuple):
        return f"[{', '.join(_made(own, registry, imports) for own in described)}]"
    if not isinstance(described, Mapping):
        return repr(described)
    kind, given = _settings_changed(described, registry)
    imports.add(kind)
    return f"{kind}({', '.join(f'{key}={_made(value, registry, imports)}' for key, value in given.items())})"


def _uncounted(content: Content, asked: Asked) -> str:
    """A remark where rows stand for several observations and no column is known that says for how many."""
    recipe = content.recipe
    if recipe is None or content.observations is None or "counts" in asked.beside:
        return ""
    rows = recipe.rows_ - recipe.dropped_rows_
    return f"  # {rows:,} rows with counts: name their column, counts=..." if 0 < rows < content.observations else ""


def _end(content: Content) -> list[str]:
    """The sample that the report is of, and whether the data are the same."""
    check = [f"assert model.fitted_.data.fingerprint == {content.fingerprint!r}"] if content.fingerprint else []
    sample, (statements, picked, setting) = content.sample, _given(content)
    own = [*map(repr, statements), *([f"setting={setting!r}"] if setting else [])]
    check += [f"model = model.given({', '.join(own)})"] if own else []
    if content.of_sample and sample is not None:
        seed, count = sample.provenance.get("seed"), content.given.get(GIVEN_FROM, [len(sample)])[0]
        # The kind of draws, which graphs that were picked still have.
        drawn = f"model.best({count})" if sample.draws == "listed" else f"model.sample({count}, seed={seed})"
        drawn += f".given({', '.join(map(repr, picked))})" if picked else ""
        return [*check, f"graphs = {drawn}", 'graphs.report("report.html")']
    return [*check, 'model.report("report.html")']


def _given(content: Content) -> tuple[list[str], list[str], dict[str, float]]:
    """What the model was given, what its sample was given afterwards, and values of what the model averages over."""
    statements = list(content.given.get(GIVEN_STATEMENTS, ()))
    first = content.given[GIVEN_FROM][1] if GIVEN_FROM in content.given else len(statements)
    return statements[:first], statements[first:], content.given.get(GIVEN_SETTING, {})


def _settings_changed(described: Mapping[str, Any], registry: Registry[Any]) -> tuple[str, dict[str, Any]]:
    """The class of a choice and its settings that are not the usual ones."""
    chosen = from_json(dict(described), registry)
    usual = {own.name: own.default if own.default is not MISSING else MISSING for own in fields(chosen)}
    own = to_json(chosen)
    if not isinstance(own, Mapping):
        return type(chosen).__name__, {}
    given = {key: value for key, value in own.items() if key not in ("kind", "package")}
    return str(own["kind"]), {key: value for key, value in given.items() if value != usual.get(key, MISSING)}


def _named(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}={value!r}" for key, value in settings.items())


# On the page


def reproduction_section(content: Content) -> str:
    """The blocks to copy, each with what it is."""
    code, asked = python_code(content), asked_of(content)
    if code is None or asked is None:
        return ""
    recipe = "" if asked.recipe is None else _block(f"The recipe, as {RECIPE}:", asked.recipe)
    return folded("Compute it again", _block(f"In Python, with your data in {TABLE}:", code) + recipe)


def _block(caption: str, code: str) -> str:
    """Code as HTML, line by line: control characters of names are shown, ends of lines are not."""
    lines = "\n".join(map(text, code.split("\n")))
    return f'<p>{text(caption)}</p>\n<pre class="code paste">{lines}</pre>\n'
