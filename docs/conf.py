"""How the documentation is built: Markdown pages, a reference from the docstrings, and the gallery, which is executed.

Nothing is fetched while building or reading: formulas are plain text, and no page loads anything from the network.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from dagpost import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "dagpost"
author = "The dagpost developers"
project_copyright = "The dagpost developers"
release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery", "auto_gallery/**/*.ipynb", "auto_gallery/**/*.py"]
html_theme = "furo"
html_title = f"dagpost {release}"
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["pages.css"]
# Quotes and dashes in a docstring are code more often than prose: `"--"` is a relation.
smartquotes = False
# Formulas stand in indented blocks; what is Python says so.
highlight_language = "none"

myst_heading_anchors = 3

# Docstrings put names and code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_use_ivar = True

# A copied session holds what was typed, without prompts and output.
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "capture_repr": (),
    "min_reported_time": 600,
    "only_warn_on_example_error": False,
    "copyfile_regex": "",
    "download_all_examples": False,
    "notebook_extensions": {},
    "remove_config_comments": True,
    "reference_url": {},
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "image_srcset": ["2x"],
    "within_subsection_order": "gallery_order.ReadingOrder",
}


def setup(app: Any) -> None:
    """Docstrings are made ready before napoleon, which has priority 500, reads them."""
    app.connect("autodoc-process-docstring", close_parameters, priority=400)


def close_parameters(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:  # noqa: ARG001
    """Give what follows the parameters a heading: napoleon takes every line up to the next one for a parameter."""
    if "Parameters" not in lines:
        return
    start = lines.index("Parameters") + 2
    for place, (line, following) in enumerate(pairwise([*lines[start:], ""]), start):
        a_name = following.startswith(" ")
        if line.startswith(">>>") or (line and not line.startswith(" ") and not a_name):
            heading = "Examples" if line.startswith(">>>") else "Notes"
            if not following.startswith("---"):
                lines[place:place] = [heading, "-" * len(heading)]
            return
