"""Exact posteriors to check a sampler against: tables, truths, and distances from them."""

from __future__ import annotations

from dagpost.reference.answer import Answer as Answer
from dagpost.reference.answer_files import read_answer as read_answer
from dagpost.reference.case import Case as Case
from dagpost.reference.cases import load as load
from dagpost.reference.cases import names as names
from dagpost.reference.distances import Distances as Distances
from dagpost.reference.export import export as export
from dagpost.reference.scorer import score as score
from dagpost.reference.truth import Truth as Truth
