"""How does a call differ from the one that a checkpoint belongs to, in words?"""

from __future__ import annotations

import re
from typing import Any

from dagpost._tools.setting_text import readable_edges, readable_setting, readable_tiers
from dagpost._tools.spelling import bare
from dagpost._tools.text import printable, shown

_READABLE: dict[str, Any] = {
    "required": readable_edges,
    "forbidden": readable_edges,
    "tiers": readable_tiers,
    "exogenous": lambda names: ", ".join(map(printable, names)) or "none",
}
_NOT_SETTINGS = ("dagpost", "data")
_LONGEST_SHOWN = 60
_FINGERPRINT = re.compile(r"[0-9a-f]{32,}")


def difference(name: str, there: Any, here: Any) -> str:
    """What differs, with both values, except for fingerprints, which mean nothing to people.

    >>> from dagpost._tools.spelling import in_python
    >>> in_python(difference("required", [], [["A", "B"]]))
    'required: none there, A -> B here'
    >>> difference("data", "0" * 32, "1" * 32)
    'data: others there than here'
    """
    label = name if name in _NOT_SETTINGS or not name.isidentifier() else bare(name)
    if any(isinstance(value, str) and _FINGERPRINT.fullmatch(value) for value in (there, here)):
        return f"{label}: others there than here"
    return f"{label}: {_shown(name, there)} there, {_shown(name, here)} here"


def _shown(name: str, value: Any) -> str:
    try:
        text: str = _READABLE.get(name, readable_setting)(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        # Of a checkpoint that somebody changed: what it says is not a setting.
        text = shown(value)
    return text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + " ..."
