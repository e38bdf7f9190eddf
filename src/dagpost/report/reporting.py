"""The one call behind "show it to a colleague": a model or a sample as one HTML file.

Both kinds of results offer it; how the page is made is in show/report.py.
"""

from __future__ import annotations

import os
from pathlib import Path


class Reporting:
    """Results that can be written as a report."""

    def report(self, path: str | os.PathLike[str], *, title: str | None = None) -> Path:
        """Write one HTML file that opens in any browser, offline: a graph to explore, tables, how far to trust them.

        What would take longer than the fit itself is left out, and the report says so. An older file is replaced whole.

        Parameters
        ----------
        path
            Where to write it, such as ``"report.html"``.
        title
            The heading; None: the number of variables and observations.

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from dagpost import DagPosterior, datasets
        >>> model = DagPosterior(seed=1).fit(datasets.load("coronary"))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = model.report(pathlib.Path(folder) / "coronary.html", title="Coronary heart disease")
        ...     written.name, "Coronary heart disease" in written.read_text(encoding="utf-8")
        ('coronary.html', True)
        """
        from dagpost.report.page import write_report

        return write_report(self, path, title)
