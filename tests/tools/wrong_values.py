"""Values that fit no parameter, or few: what people hand over by mistake, and what breaks code that does not look."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dagpost.errors import DagpostError

_LONGEST_MESSAGE = 3_200


class Unshowable:
    """An object that cannot be written out, compared or counted."""

    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = None  # type: ignore[assignment]


class Refusing:
    """A function that fails whatever it is given."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("out of order")


def _nested(depth: int) -> list[Any]:
    outer: list[Any] = []
    for _ in range(depth):
        outer = [outer]
    return outer


def _numbers() -> Iterator[int]:
    yield from range(3)


def _given(value: Any) -> Any:
    return value


def _twice() -> pd.DataFrame:
    return pd.DataFrame([[0, 1], [1, 0]], columns=["A", "A"])


def wrong_values(folder: Path) -> dict[str, Callable[[], Any]]:
    """A maker of each wrong value, by a short name; the paths among them lie in `folder`."""
    directory, damaged, unreadable = folder / "directory", folder / "damaged.bin", folder / "unreadable.csv"
    directory.mkdir(exist_ok=True)
    damaged.write_bytes(bytes(range(256)))
    if not unreadable.exists():
        unreadable.write_text("A,B\n0,1\n", encoding="utf-8")
        unreadable.chmod(0)
    values: dict[str, Any] = {
        "None": None,
        "True": True,
        "-1": -1,
        "0": 0,
        "1.5": 1.5,
        "2**70": 2**70,
        "10**400": 10**400,
        "nan": math.nan,
        "inf": math.inf,
        "1j": 1j,
        "empty text": "",
        "unknown name": "no such name",
        "statement": "A -> B",
        "surrogate": "\ud800",
        "zero byte": "\x00",
        "marks": "\ue000o\ue001",
        "long text": "x" * 100_000,
        "open brackets": "(" * 5_000,
        "bytes": b"bytes",
        "empty list": [],
        "list in list": [[]],
        "deep list": _nested(3_000),
        "list of None": [None],
        "list of numbers": [1, 2],
        "list of texts": ["A", "no such name"],
        "ragged": [[1], [1, 2]],
        "dict": {},
        "dict of nothing": {"A": None},
        "dict of numbers": {1: 2},
        "set": {1, "A"},
        "pairs": [("A", "B"), ("B", "A")],
        "loop": [("A", "A")],
        "pair of unhashable": [(["A"], {"B": 1})],
        "objects": np.array([object(), None, "A"], dtype=object),
        "complex array": np.ones((4, 3), dtype=complex),
        "3-D array": np.zeros((2, 3, 4)),
        "0-D array": np.array(3),
        "empty array": np.zeros((0, 3)),
        "array of nan": np.full((4, 3), math.nan),
        "huge masks": np.full((2, 3), 2**63, dtype=np.uint64),
        "texts in array": np.array([["a", "b"], ["c", "d"]]),
        "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
        "frame without rows": pd.DataFrame(columns=["A", "B", "C"]),
        "frame": pd.DataFrame({"A": [0.5, 2.0], "Z": ["x", None]}),
        "directory": directory,
        "missing file": folder / "missing" / "file.csv",
        "missing file as text": str(folder / "missing.dagpost"),
        "damaged file": damaged,
        "unreadable file": unreadable,
        "bytes path": os.fsencode(folder / "missing"),
        "type": int,
    }
    makers: dict[str, Callable[[], Any]] = {name: partial(_given, value) for name, value in values.items()}
    makers |= {
        "object": object,
        "unshowable": Unshowable,
        "function of nothing": lambda: lambda: 1,
        "refusing function": Refusing,
        "function of nonsense": lambda: lambda *_, **__: "nonsense",
        "generator": _numbers,
        "frame with columns twice": _twice,
    }
    return makers


def fault_of(function: Callable[..., Any], arguments: dict[str, Any]) -> str | None:
    """What is wrong with how a call ends; None where it works, or is refused in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(**arguments)
        except DagpostError as error:
            return fault_of_message(str(error))
        except Exception as error:  # noqa: BLE001
            return f"{type(error).__name__}: {error}"[:300]
    return None


def fault_of_message(message: str) -> str | None:
    """What is wrong with a message; None where it is a sentence that can be read."""
    first = message.split("\n", maxsplit=1)[0].rstrip()
    if not re.search(r"[.?:)]$", first):
        return f"not a sentence: {first!r}"
    if re.search(r"\bat 0x[0-9a-f]", message):
        return f"an address in memory: {message!r}"
    return None if len(message) <= _LONGEST_MESSAGE else f"{len(message):,} characters"
