"""The campaigns, in the order in which they are listed: one line each."""

from __future__ import annotations

import sys
from importlib import import_module

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
    """All campaigns by name; one that needs a library that is not installed is left out, which is said."""
    found: dict[str, Campaign] = {}
    for module in MODULES:
        try:
            campaign: Campaign = import_module(module).CAMPAIGN
        except ModuleNotFoundError as error:
            print(f"torture: {module} is left out: there is no module {error.name}.", file=sys.stderr)
        else:
            found[campaign.name] = campaign
    return found
