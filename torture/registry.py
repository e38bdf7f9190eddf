"""The campaigns, in the order in which they are listed: one line each."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from torture.campaign import Campaign

MODULES = (
    "torture.tables",
    "torture.queries",
    "torture.commands",
    "torture.kills",
    "torture.resources",
    "torture.names",
    "torture.model_files",
    "torture.foreign_files",
    "torture.wrong_arguments",
)


def campaigns() -> dict[str, Campaign]:
    """All campaigns by name."""
    found: list[Campaign] = [import_module(name).CAMPAIGN for name in MODULES if find_spec(name) is not None]
    return {campaign.name: campaign for campaign in found}
