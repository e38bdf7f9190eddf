"""A recipe as a TOML file that people read and edit.

The file says of every column what it is and what is done with it, and in comments (recipe_head.txt) how to change that.
Cuts and levels are read back exactly as they were written. Reading runs no code; what is wrong in an edited file is an
error that names the file, the column and what is allowed. Writing replaces an older file whole or not at all.

The functions here work on the description of a recipe, which is what JSON holds of it (recipe.py).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dagpost._tools.text import nearest, shown
from dagpost._tools.toml_text import toml_comment, toml_key, toml_value
from dagpost._tools.whole_files import write_text
from dagpost.data.cutting import USUAL_BINS, USUAL_STRATEGY, bin_names, bins_and_strategy
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe_steps import Rule, rule_of
from dagpost.errors import InputError

_VERSION = "dagpost_recipe"
_LEVELS, _NUMBER, _REGIMES = "levels", "number", "regimes"
#: What may stand at the top beside the version and the columns.
_TOP = ("missing", "unseen", "strategy", "bins")
_KEYS = ("use", "role", "why", "gaps", "censored", "levels", "ordered", "cuts", "rule")
_EXOGENOUS = "exogenous"
_USUAL: dict[str, object] = {"bins": USUAL_BINS, "strategy": USUAL_STRATEGY}
_AS_WRITTEN = "as the recipe says"
_HOW = "`dagpost info TABLE --recipe FILE` writes one."


def write_description(path: str | os.PathLike[str], described: Mapping[str, Any]) -> None:
    """Write the description of a fitted recipe; a file that is there is replaced whole."""
    write_text(path, toml_of(described))


def description_in(text: str) -> dict[str, Any]:
    """The description of the recipe in the text of a file; whether its values can be, `Recipe.from_json` checks."""
    try:
        found = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a ValueError
        raise InputError(f"is not a recipe, or not written as TOML ({error}). {_HOW}") from None
    return _description(found)


# Writing


def toml_of(described: Mapping[str, Any]) -> str:
    """The text of a file."""
    top = [
        f"{_VERSION} = 1",
        "# cells without a value: have chains complete them (augment), drop their rows, give them a level, or refuse",
        _line("missing", described["missing"]),
        "# levels of new rows that are not listed here: an error, a gap (missing), or as probable as the prior says",
        _line("unseen", described["unseen"]),
        "# how numbers are cut that have no cuts of their own: quantile, uniform or kmeans. Without both keys, numbers",
        "# are cut only for a score that needs levels",
        *(
            f"# {_line(key, usual)}" if described.get(key) is None else _line(key, described[key])
            for key, usual in _USUAL.items()
        ),
    ]
    own = described.get("cut") or {}
    usual = _rule_for_all(described)
    given = described.get(_EXOGENOUS) or ()
    columns = [
        _column(step, own.get(step["name"]), usual, exogenous=step["name"] in given) for step in described["steps"]
    ]
    head = Path(__file__).with_name("recipe_head.txt").read_text(encoding="utf-8")
    return "\n".join([head, *top, *columns]) + "\n"


def _column(step: Mapping[str, Any], own: Any, usual: list[Any], *, exogenous: bool) -> str:
    lines = ["", f"[columns.{toml_key(step['name'])}]", _line("use", step["use"])]
    lines += [_line("role", _EXOGENOUS), _line("why", step["why"])] if exogenous else [_line("why", step["why"])]
    lines += [_line(key, step[key]) for key in ("gaps", "censored") if step.get(key)]
    if step["use"] in (_LEVELS, _REGIMES) and step["levels"] is not None:
        lines.append(_line("levels", [level for level in step["levels"] if level != MISSING_LEVEL]))
    if step["use"] == _LEVELS and step.get("ordered") is not None:
        lines.append(_line("ordered", step["ordered"]))
    if step["use"] == _NUMBER and step["cuts"] is not None:
        lines += [toml_comment(step["rule"]), _line("cuts", step["cuts"])]
        if own is None or _is_rule(own):
            lines.append(_line("rule", _rule_text(usual if own is None else own)))
    elif step["use"] == _NUMBER and own is not None:
        lines.append(_line("cuts", _rule_text(own) if _is_rule(own) else own))
    return "\n".join(lines)


def _rule_for_all(described: Mapping[str, Any]) -> list[Any]:
    return [usual if described.get(key) is None else described[key] for key, usual in _USUAL.items()]


def _line(key: str, value: object) -> str:
    return f"{key} = {toml_value(value)}"


def _rule_text(rule: Any) -> str:
    return f"{rule[0]}:{rule[1]}"


def _is_rule(rule: Any) -> bool:
    return isinstance(rule, list | tuple) and len(rule) == 2 and isinstance(rule[1], str)


# Reading


def _description(found: dict[str, Any]) -> dict[str, Any]:
    if found.get(_VERSION) != 1:
        raise InputError(
            f"is not a recipe that is known here: the key {_VERSION} must be 1. Got {shown(found.get(_VERSION))}. "
            f"{_HOW}"
        )
    _check_keys(found, (_VERSION, *_TOP, "columns"), "")
    columns = found.get("columns")
    if not isinstance(columns, dict) or not columns:
        raise InputError("has no columns. Each column needs a part [columns.NAME] with use = ...")
    described = {key: found[key] for key in _TOP if key in found} | {"cut": {}, _EXOGENOUS: []}
    described["steps"] = [_step(name, column, described) for name, column in columns.items()]
    return described


def _step(name: str, column: Any, described: dict[str, Any]) -> dict[str, Any]:
    where = f"column {shown(name)}: "
    if not isinstance(column, dict) or "use" not in column:
        raise InputError(f"{where}a part [columns.NAME] with use = ... is needed. Got {shown(column)}.")
    _check_keys(column, _KEYS, where)
    use, role = column["use"], column.get("role")
    if role not in (None, _EXOGENOUS):
        raise InputError(f'{where}role must be "{_EXOGENOUS}". Got {shown(role)} instead.')
    described[_EXOGENOUS] += [] if role is None else [name]
    step = {"name": name, "use": use, "why": column.get("why", _AS_WRITTEN)}
    step |= {key: column[key] for key in ("gaps", "censored", "ordered") if key in column}
    missing = [MISSING_LEVEL] if column.get("gaps") and described.get("missing") == "level" else []
    levels = column.get("levels")
    if use in (_LEVELS, _REGIMES) and levels is not None:
        if isinstance(levels, list) and MISSING_LEVEL in levels:
            raise InputError(
                f'{where}{MISSING_LEVEL!r} is what gaps are called. Take it out; missing = "level" gives gaps a level.'
            )
        step["levels"] = [*levels, *missing] if isinstance(levels, list) else levels
    if use == _NUMBER and "cuts" in column:
        cut = _cut(name, column["cuts"])
        if cut.points is not None:
            step |= {"cuts": list(cut.points), "rule": _AS_WRITTEN, "levels": [*bin_names(cut.points), *missing]}
            cut = _cut(name, str(column["rule"])) if "rule" in column else cut
        own: list[Any] = [cut.bins, cut.strategy] if cut.points is None else list(cut.points)
        # Cuts that the rule for all found are decided; a rule in the place of cuts asks for them.
        if "cuts" not in step or own != _rule_for_all(described):
            described["cut"][name] = own
    return step


def _cut(name: str, given: Any) -> Rule:
    """Where a column is cut: points, or a number of bins with a rule, as "4:quantile"."""
    return rule_of(name, bins_and_strategy(given) or given if isinstance(given, str) else given)


def _check_keys(found: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
    for key in found:
        if key not in known:
            raise InputError(f"{where}the key {shown(key)} is not known.{nearest(key, known)}")
