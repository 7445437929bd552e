"""Settings of the documentation: ``sphinx-build -W docs build/docs``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))  # reference.py

import zero

project = "zero"
author = "The zero developers"
copyright = "The zero developers"
version = release = zero.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # Args, Raises and Example in docstrings
    "reference",  # writes the pages of api/
]
smartquotes_action = "D"  # dashes only: quotes are code
default_role = "code"  # `name` in docstrings
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_inherit_docstrings = False
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 80
add_module_names = False
toc_object_entries_show_parents = "hide"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # Attributes as a list
napoleon_custom_sections = ["Shape"]

html_theme = "furo"
html_title = f"zero {release}"
html_copy_source = False
html_show_sphinx = False
