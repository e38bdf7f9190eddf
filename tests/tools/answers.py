"""All that an answer says. Estimates are equal where their values are; tests often mean more than that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dagpost import Estimate


def facts(answers: Estimate | Sequence[Estimate]) -> list[dict[str, Any]]:
    """The fields of one answer or of several, so that equal means equal in all of them."""
    several = [answers] if isinstance(answers, Estimate) else answers
    return [answer.as_dict() for answer in several]
