"""The command line. Every command is a thin layer over the library; nothing is computed here.

Results go to standard output, everything else to standard error, so that `--json` output can be piped. Exit status: 0
done, 2 wrong use or bad input, 130 interrupted. Nothing is imported before `main` runs, so that Ctrl-C is met politely
from the first moment on.
"""

from __future__ import annotations

from typing import Any

__all__ = ["app", "main"]


def main() -> None:
    """Entry point of the `dagpost` command."""
    from dagpost.cli.process import run

    run(_application)


def _application() -> Any:
    from dagpost.cli.application import app

    return app


def __getattr__(name: str) -> Any:
    if name == "app":
        return _application()
    raise AttributeError(f"module 'dagpost.cli' has no attribute {name!r}")
