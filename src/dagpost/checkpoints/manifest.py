"""What the manifest of a checkpoint must be: tasks with what identifies them, their decisions, and their stages.

A stage has finished `done` steps; its parts hold the arrays of the steps from `first` to before `last`. A folder may
come from somebody else: a manifest that is anything else is not used, and no part is looked for outside of the folder.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from dagpost._tools.schema import Rule, Sizes, anything, choice, edges, list_of, mapping, optional, text, tiers, whole

PART = re.compile(r"part-(\d{6,12})\.bin")

_FILE = Rule("the name of a part", lambda value, sizes: text.holds(value, sizes) and PART.fullmatch(value) is not None)
_PART = {"file": _FILE, "bytes": whole(), "digest": text}
_STAGE = mapping(
    {
        "done": whole(),
        "parts": list_of(mapping({"first": whole(), "last": whole(), **_PART})),
        "running": optional(mapping(_PART)),
    }
)
_OBJECT = mapping({}, more=anything)
_SETTINGS = {
    "required": edges,
    "forbidden": edges,
    "tiers": tiers,
    "exogenous": list_of(text),
    "score": choice,
    "prior": choice,
    "method": choice,
}
_IDENTITY = mapping(_SETTINGS, more=anything, may_lack=tuple(_SETTINGS))
_TASK = mapping({"identity": _IDENTITY, "decisions": _OBJECT, "stages": mapping({}, more=_STAGE)})
_CONTENT = mapping({"tasks": mapping({}, more=_TASK)})


def is_manifest(content: Any) -> bool:
    """Whether this can be the content of a manifest."""
    return _CONTENT.holds(content, Sizes()) and all(
        _in_order(stage) for task in content["tasks"].values() for stage in task["stages"].values()
    )


def parts_in(content: Mapping[str, Any]) -> set[str]:
    """The files that a manifest names."""
    entries = [entry for task in content["tasks"].values() for entry in task["stages"].values()]
    states = [entry["running"] for entry in entries if entry["running"] is not None]
    return {part["file"] for part in [*states, *(part for entry in entries for part in entry["parts"])]}


def _in_order(stage: Mapping[str, Any]) -> bool:
    """Whether no part overlaps with another, or is of steps that are not done."""
    limits = [limit for part in stage["parts"] for limit in (part["first"], part["last"])]
    return all(before <= after for before, after in pairwise([0, *limits, stage["done"]]))
