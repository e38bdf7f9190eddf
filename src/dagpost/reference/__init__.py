"""Exact posteriors to check a sampler against: tables, truths, and distances from them."""

from __future__ import annotations

from dagpost.reference.case import Case as Case
from dagpost.reference.export import export as export
from dagpost.reference.lookup import load as load
from dagpost.reference.lookup import names as names
from dagpost.reference.truth import Truth as Truth
