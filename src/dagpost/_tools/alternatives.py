"""What else could have been chosen: a score or a prior with one of its choices made otherwise."""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

Setting = TypeVar("Setting")


class Alternative(NamedTuple, Generic[Setting]):
    """Another value of one choice, in words ("equivalent sample size", "10"), and the object that has it."""

    choice: str
    value: str
    setting: Setting
