"""Choices with settings (scores, priors, methods) as JSON, and back.

A frozen dataclass that a registry knows is written as ``{"kind": "BDeu", "equivalent_sample_size": 1.0}``; one of
another package also says which, so that a reader without it can be told what to install. Anything else, such as an
object with a function in it, is written down as it shows itself, and cannot be made again.
"""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from dagpost._tools.registry import Registry
from dagpost.errors import InputError

_OURS = "dagpost"


def to_json(choice: Any) -> dict[str, Any] | str:
    """A choice as JSON can hold it; text is itself.

    >>> from dagpost import BDeu
    >>> to_json(BDeu(2)), to_json("auto")
    ({'kind': 'BDeu', 'equivalent_sample_size': 2.0}, 'auto')
    """
    if isinstance(choice, str):
        return choice
    kind = type(choice)
    # A class of a registry has a name of its own; one that inherits its name is another thing under that name.
    if is_dataclass(choice) and vars(kind).get("name"):
        own = [(field, getattr(choice, field.name)) for field in fields(choice) if field.init]
        settings = {field.name: _plain(value) for field, value in own if value is not None or field.default is not None}
        package = kind.__module__.partition(".")[0]
        described = {"kind": kind.__name__, **({} if package == _OURS else {"package": package}), **settings}
        if _is_json(described) and not {"kind", "package"} & settings.keys():
            return described
    return repr(choice)


def from_json(description: dict[str, Any] | str, *registries: Registry[Any]) -> Any:
    """The choice that `to_json` wrote down, looked for in some registries; text is itself.

    >>> from dagpost.scores import SCORES
    >>> from_json({"kind": "BDeu", "equivalent_sample_size": 2.0}, SCORES)
    BDeu(equivalent_sample_size=2.0)
    """
    if isinstance(description, str):
        return description
    settings = dict(description)
    kind, package = str(settings.pop("kind")), settings.pop("package", None)
    for registry in registries:
        found = registry.of_class(kind, str(package or _OURS))
        if found is not None:
            try:
                return found(**settings)
            except TypeError as error:
                raise InputError(
                    f"The {registry.kind} {kind} does not take the settings {settings!r}: {error}."
                ) from error
    what = " or ".join(registry.kind for registry in registries)
    origin = f"the package {str(package)!r}" if package else "the package that defines it"
    raise InputError(
        f"{kind!r} is not a {what} that is known here. Install {origin}, or import it before reading the file; if it "
        "is part of dagpost, the file was written by a later version."
    )


def _plain(value: Any) -> Any:
    """A setting as JSON gives it back: no NumPy numbers, no tuples; choices within a choice are described too."""
    if is_dataclass(value):
        described = to_json(value)
        return value if isinstance(described, str) else described
    if isinstance(value, np.generic):
        return value.item()
    return [_plain(entry) for entry in value] if isinstance(value, tuple | list) else value


def _is_json(described: dict[str, Any]) -> bool:
    try:
        return bool(json.loads(json.dumps(described)) == described)
    except (TypeError, ValueError):
        return False
