"""A recipe as a TOML file that people read and edit.

The file says of every column what it is and what is done with it, and in comments how to change that. Cuts and levels
are read back exactly as they were written. Reading runs no code; what is wrong in an edited file is an error that names
the file, the column, the key and what is allowed. Writing replaces an older file whole or not at all.

The functions here work on the description of a recipe, which is what JSON holds of it (recipe.py).
"""

from __future__ import annotations

import math
import os
import tomllib
from collections.abc import Mapping
from itertools import pairwise
from typing import Any, get_args

from dagpost._tools.text import nearest, shown
from dagpost._tools.toml_text import toml_comment, toml_key, toml_value
from dagpost._tools.whole_files import read_text, write_text
from dagpost.data.cutting import LARGEST_BINS, STRATEGIES, USUAL_BINS, USUAL_STRATEGY, bin_names, bins_and_strategy
from dagpost.data.files import MISSING_LEVEL
from dagpost.data.recipe_steps import Missing, Unseen
from dagpost.errors import InputError

_VERSION = "dagpost_recipe"
_LEVELS, _NUMBER, _REGIMES, _LEFT_OUT = "levels", "number", "regimes", "left out"
_USES = (_LEVELS, _NUMBER, _REGIMES, _LEFT_OUT)
#: What may stand at the top, with what it may be.
_WORDS: dict[str, tuple[str, ...]] = {
    "missing": get_args(Missing),
    "unseen": get_args(Unseen),
    "strategy": STRATEGIES,
}
_KEYS = ("use", "role", "why", "gaps", "censored", "levels", "ordered", "cuts", "rule")
_EXOGENOUS = "exogenous"
_USUAL: dict[str, object] = {"bins": USUAL_BINS, "strategy": USUAL_STRATEGY}
_AS_WRITTEN = "as the recipe says"
_RULES = f'a number of bins with a rule ({", ".join(STRATEGIES)}), as "4:quantile"'

_HEAD = """\
# What is done with each column of a table. Change what you like, and fit with it:
#
#   dagpost fit TABLE --recipe FILE
#
# use     "levels": every value is a level. "number": a number, cut into levels where a score needs levels.
#         "regimes": names the experiment of each row; the first of its levels is the reference. "left out": not a
#         variable.
# role    "exogenous": not modelled, such as age or study arm. It may be a parent of the others and has no parents.
# levels  for "levels": the values, in the order in which they are shown. Without this key, those of the table.
# ordered for "levels": true where they are listed from the lowest to the highest, false where they are in no order.
#         Without this key, numbers and two levels are in an order, and others are not.
# cuts    for "number": where it is cut, as [40, 60]; a value on a cut lies above it. Or into how many bins by which
#         rule, as "4:quantile". Without this key, as bins and strategy say, if at all.
# rule    by which rule the cuts were found. Take it out where you set cuts: they are then a decision of yours.
# why     what the column is, in words.
# gaps    how many cells have no value; missing says what is done about them.
# censored  of how many numbers only a limit is known, as "<0.05".
#
# A column that is not here is not a variable.
"""


def write_description(path: str | os.PathLike[str], described: Mapping[str, Any]) -> None:
    """Write the description of a fitted recipe; a file that is there is replaced whole."""
    write_text(path, toml_of(described))


def read_description(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The description of the recipe in a file."""
    content = read_text(path)
    try:
        found = tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # numbers of thousands of digits are a ValueError
        raise InputError(
            f"{os.fspath(path)}: is not a recipe, or not written as TOML ({error}). `dagpost info TABLE --recipe FILE` "
            "writes one."
        ) from None
    return _Reader(os.fspath(path)).description(found)


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
    return "\n".join([_HEAD, *top, *columns]) + "\n"


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


class _Reader:
    """Reads what a file holds, and refuses what it must not hold."""

    def __init__(self, path: str) -> None:
        self._path = path

    def description(self, found: dict[str, Any]) -> dict[str, Any]:
        if _VERSION not in found:
            raise self._error(f"is not a recipe: the key {_VERSION} is missing. {_HOW}")
        if found[_VERSION] != 1:
            raise self._error(
                f"is a recipe of version {shown(found[_VERSION])}, and version 1 is known here. Install a newer "
                "dagpost, or write the recipe again."
            )
        self._check_keys(found, (_VERSION, *_WORDS, "bins", "columns"), "")
        described: dict[str, Any] = {
            key: self._word(found[key], key, allowed) for key, allowed in _WORDS.items() if key in found
        }
        if "bins" in found:
            described["bins"] = self._bins(found["bins"], "bins", found["bins"])
        columns = found.get("columns")
        if not isinstance(columns, dict) or not columns:
            raise self._error("has no columns. Each column needs a part [columns.NAME] with use = ...")
        described["cut"], described[_EXOGENOUS] = {}, []
        described["steps"] = [self._step(name, column, described) for name, column in columns.items()]
        return described

    def _step(self, name: str, column: Any, described: dict[str, Any]) -> dict[str, Any]:
        where = f"column {shown(name)}: "
        if not isinstance(column, dict):
            raise self._error(f"{where}a part [columns.NAME] with use = ... is needed. Got {shown(column)}.")
        self._check_keys(column, _KEYS, where)
        if "use" not in column:
            raise self._error(f"{where}use is missing. It is one of {_listed(_USES)}.")
        use = self._word(column["use"], f"{where}use", _USES)
        if "role" in column:
            self._word(column["role"], f"{where}role", (_EXOGENOUS,))
            described[_EXOGENOUS].append(name)
        why = column.get("why", _AS_WRITTEN)
        if not isinstance(why, str):
            raise self._error(f"{where}why must be text. Got {shown(why)} instead.")
        step: dict[str, Any] = {"name": name, "use": use, "why": why}
        step |= {key: self._count(column.get(key, 0), f"{where}{key}") for key in ("gaps", "censored")}
        if "ordered" in column:
            step["ordered"] = self._ordered(column, use, where)
        gaps = step["gaps"]
        missing = [MISSING_LEVEL] if gaps and described.get("missing") == "level" else []
        if use == _REGIMES and "levels" not in column:
            raise self._error(f"{where}levels is missing: the regimes, the reference first.")
        if use in (_LEVELS, _REGIMES) and "levels" in column:
            step["levels"] = [*self._levels(column["levels"], where), *missing]
        if use == _NUMBER and "cuts" in column:
            cuts = self._cuts(column["cuts"], where)
            if not _is_rule(cuts):
                step |= {"cuts": cuts, "rule": _AS_WRITTEN, "levels": [*bin_names(tuple(cuts)), *missing]}
                cuts = self._rule(column["rule"], f"{where}rule") if "rule" in column else cuts
            # Cuts that the rule for all found are decided; a rule in the place of cuts asks for them.
            if "cuts" not in step or cuts != _rule_for_all(described):
                described["cut"][name] = cuts
        return step

    def _count(self, count: Any, what: str) -> int:
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise self._error(f"{what} must be a whole number of at least 0. Got {shown(count)} instead.")
        return count

    def _ordered(self, column: Mapping[str, Any], use: str, where: str) -> bool:
        ordered = column["ordered"]
        if not isinstance(ordered, bool) or use != _LEVELS:
            raise self._error(f'{where}ordered must be true or false, and is for use = "levels". Got {shown(ordered)}.')
        if ordered and "levels" not in column:
            raise self._error(f"{where}ordered = true needs levels: all of them, from the lowest to the highest.")
        return ordered

    def _levels(self, levels: Any, where: str) -> list[Any]:
        allowed = isinstance(levels, list) and all(isinstance(level, str | bool | int | float) for level in levels)
        if not allowed or not levels:
            raise self._error(
                f'{where}levels must be a list of texts, numbers or truth values, as ["no", "yes"]. Got '
                f"{shown(levels)} instead."
            )
        if MISSING_LEVEL in levels:
            raise self._error(
                f'{where}{MISSING_LEVEL!r} is what gaps are called. Take it out; missing = "level" gives gaps a level.'
            )
        # True is 1 to Python, but another level.
        kinds = [(isinstance(level, str), isinstance(level, bool), level) for level in levels]
        repeated = [level for place, level in enumerate(levels) if kinds[place] in kinds[:place]]
        if repeated:
            raise self._error(f"{where}the level {shown(repeated[0])} is there twice. Take one out.")
        if any(isinstance(level, float) and not math.isfinite(level) for level in levels):
            raise self._error(f"{where}levels must be finite numbers. Got {shown(levels)} instead.")
        return list(levels)

    def _cuts(self, cuts: Any, where: str) -> Any:
        if isinstance(cuts, str):
            return self._rule(cuts, f"{where}cuts")
        given = cuts if isinstance(cuts, list) else [cuts]
        numbers = [isinstance(cut, int | float) and not isinstance(cut, bool) and abs(cut) < math.inf for cut in given]
        if not given or not all(numbers) or any(low >= high for low, high in pairwise(given)):
            raise self._error(
                f"{where}cuts must be numbers in increasing order, as [40, 60], or {_RULES}. Got {shown(cuts)} instead."
            )
        try:
            return [float(cut) for cut in given]
        except OverflowError:
            raise self._error(f"{where}one of the cuts has more digits than numbers have here.") from None

    def _rule(self, rule: Any, what: str) -> list[Any]:
        found = bins_and_strategy(str(rule))
        if found is None:
            raise self._error(f"{what} must be {_RULES}. Got {shown(rule)} instead.")
        return [self._bins(found[0], what, rule), found[1]]

    def _bins(self, bins: Any, what: str, given: Any) -> int:
        if isinstance(bins, bool) or not isinstance(bins, int) or not 2 <= bins <= LARGEST_BINS:
            raise self._error(
                f"{what}: bins must be a whole number from 2 to {LARGEST_BINS}. Got {shown(given)} instead."
            )
        return bins

    def _word(self, value: Any, what: str, allowed: tuple[str, ...]) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise self._error(f"{what} must be one of {_listed(allowed)}. Got {shown(value)} instead.")
        return value

    def _check_keys(self, found: Mapping[str, Any], known: tuple[str, ...], where: str) -> None:
        for key in found:
            if key not in known:
                raise self._error(f"{where}the key {shown(key)} is not known.{nearest(key, known)}")

    def _error(self, words: str) -> InputError:
        return InputError(f"{self._path}: {words}")


_HOW = "`dagpost info TABLE --recipe FILE` writes one."


def _listed(words: tuple[str, ...]) -> str:
    return ", ".join(f'"{word}"' for word in words)
