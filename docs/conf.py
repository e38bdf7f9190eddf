"""How the documentation is built: Markdown pages, and a reference from the docstrings."""

from __future__ import annotations

from dagpost import __version__

project = "dagpost"
author = "The dagpost developers"
project_copyright = "The dagpost developers"
release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"dagpost {release}"
html_show_sphinx = False
# Quotes and dashes in a docstring are code more often than prose: `"--"` is a relation.
smartquotes = False

myst_heading_anchors = 3

# Docstrings put names and code between single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
