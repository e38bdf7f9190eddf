"""All commands in one application, in the order in which the help lists them."""

from __future__ import annotations

from dagpost.cli import best, data, demo, fit, info, predict, query, report, sample
from dagpost.cli.application import app

__all__ = ["app"]

for module in (fit, query, sample, best, predict, report, info, demo, data):
    module.register(app)
