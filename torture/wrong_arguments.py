"""Public functions with several wrong arguments at once, and with wrong values inside of lists, mappings and arrays.

tests/unit/project/test_wrong_arguments.py has each wrong value alone.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.tools.valid_calls import Call, Made, is_input, parameters_of, public_callables, valid_calls
from tests.tools.wrong_values import fault_of, wrong_values

from torture.campaign import Campaign, require
from torture.choices import Choices

#: Engines that need a device or start processes, and pictures, which take as long as all the others.
_LEFT_OUT = ("CudaEngine", "DaskEngine", "plots.", "DagPosterior.plot", "DagSample.plot")
_ROWS = 24


def run_case(seed: int, folder: Path) -> int:
    """Some wrong arguments for one function, which works or says in words what is wrong."""
    choices = Choices(seed)
    calls, parameters = _calls()
    name = choices.pick(sorted(calls))
    function, arguments = calls[name]
    wrong = wrong_values(folder)
    given = dict(arguments)
    said = []
    for parameter in parameters[name]:
        if choices.chance(0.5):
            label = choices.pick(list(wrong))
            # What a progress function raises is meant to come out.
            if parameter != "progress":
                given[parameter], how = _wrapped(choices, wrong[label]())
                said.append(f"{parameter}={how.format(label)}")
    before = Path.cwd()
    os.chdir(folder)
    try:
        fault = fault_of(function, given)
    finally:
        os.chdir(before)
        _close_figures()
    return require(fault is None, "Wrong arguments are refused in words", f"{name}({', '.join(said)})", fault)


def _wrapped(choices: Choices, value: Any) -> tuple[Any, str]:
    """A wrong value as it is, or inside of something else."""
    ways = ("{}", "[{}]", "({},)", "{{'A': {}}}", "{} twice in a list", "one {} a row", "an array of {}")
    way = choices.pick(ways)
    if way == ways[6]:
        found = np.empty(3, dtype=object)
        found[:] = [value, value, value]
        return found, way
    made = (value, [value], (value,), {"A": value}, [value, value], [value] * _ROWS)
    return made[ways.index(way)], way


def _close_figures() -> None:
    from matplotlib import pyplot

    pyplot.close("all")


@cache
def _calls() -> tuple[dict[str, Call], dict[str, list[str]]]:
    import matplotlib as mpl

    mpl.use("agg")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calls = valid_calls(Made(Path(tempfile.mkdtemp(prefix="dagpost-wrong-"))))
    parameters = {
        name: parameters_of(name, thing)
        for name, thing in public_callables()
        if is_input(name) and not name.startswith(_LEFT_OUT)
    }
    return {name: calls[name] for name in parameters if parameters[name]}, parameters


def _prepare() -> None:
    _calls()


CAMPAIGN = Campaign(
    name="wrong_arguments",
    words="Wrong arguments of public functions, several at once and nested, end in an error of ours",
    run_case=run_case,
    counted="calls",
    prepare=_prepare,
    share=0.5,
)
