"""In which order the gallery is read: the pictures one wants first come first, not those whose names do."""

from __future__ import annotations

from pathlib import Path

FIRST = (
    "plot_graph.py",
    "plot_edges.py",
    "plot_heat_map.py",
    "plot_graph_of_25.py",
    "plot_in_time.py",
    "plot_effect.py",
)


class ReadingOrder:
    """What sphinx-gallery sorts the scripts of a folder by."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def __call__(self, script: str) -> tuple[int, str]:
        """The scripts of `FIRST`, then the others by name."""
        name = Path(script).name
        return (FIRST.index(name) if name in FIRST else len(FIRST), name)
