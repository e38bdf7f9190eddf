"""How the documentation is built: Markdown pages, a reference from the docstrings, and the gallery, which is executed.

Nothing is fetched while building or reading: formulas are plain text, and no page loads anything from the network.
"""

from __future__ import annotations

import sys
from pathlib import Path

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
