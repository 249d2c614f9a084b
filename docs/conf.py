"""Sphinx configuration: the pages of this folder and the docstrings come in, the site goes out."""

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402 - it lies beside this file
import termsieve  # noqa: E402

with open(HERE.parent / "pyproject.toml", "rb") as file:
    PROJECT = tomllib.load(file)["project"]

project = PROJECT["name"]
author = PROJECT["authors"][0]["name"]
copyright = author
version = release = termsieve.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "_templates"]
templates_path = ["_templates"]
highlight_language = "none"
default_role = "literal"
nitpicky = False

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 3

autosummary_generate = api_pages.write(HERE / "api")
autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"termsieve {release}"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "icon_links": [
        {"name": "Repository", "url": PROJECT["urls"]["Repository"], "icon": "fa-brands fa-github"}
    ],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def without_routing(app, what, name, value, skip, options):
    """Leave out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def setup(app):
    """Connect what changes the API reference."""
    app.connect("autodoc-skip-member", without_routing)
