"""All commands in one application, in the order in which the help lists them."""

from __future__ import annotations

from dagpost.cli import asking, best, bundled, demo, fit, info, predict, report, sample
from dagpost.cli.application import app

__all__ = ["app"]

for module in (fit, asking, sample, best, predict, report, info, demo, bundled):
    module.register(app)
