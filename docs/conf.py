"""Sphinx configuration: the pages of this folder and the docstrings come in, the site goes out."""

import re
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
    "sphinx_copybutton",
    "sphinx_design",
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
python_maximum_signature_line_length = 80
python_display_short_literal_types = True
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"termsieve {release}"
html_logo = html_favicon = "logo.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
# Without others beside them, these pages have no use for a list of those.
LEAVES = ("index", "installation", "tutorial", "howto", "gallery", "performance")
html_sidebars = {page: [] for page in LEAVES}
html_theme_options = {
    "logo": {"text": "termsieve"},
    "icon_links": [
        {"name": "Repository", "url": PROJECT["urls"]["Repository"], "icon": "fa-brands fa-github"}
    ],
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "header_links_before_dropdown": 7,
    "footer_start": ["copyright"],
    "footer_end": [],
}


def without_routing(app, what, name, value, skip, options):
    """Leave out what scikit-learn adds to every estimator for the routing of metadata."""
    return True if name.startswith("set_") and name.endswith("_request") else None


def with_links(app, what, name, value, options, lines):
    """Link the pages that a docstring names, and add the names beside it where it has no See Also.

    What scikit-learn's docstrings link are labels of its own site.
    """
    lines[:] = [re.sub(r":ref:`([^<`]+?)\s*<[^`]*>`", r"\1", line) for line in lines]
    lines[:] = [re.sub(r"`{0,2}docs/([\w-]+)\.md`{0,2}", r":doc:`/\1`", line) for line in lines]
    if "See Also" not in lines:
        lines += api_pages.see_also(name)


def with_titles(app, page, source):
    """Let a link that shows the name of a file show the title of the page instead."""
    source[0] = re.sub(r"\[(?:docs/)?[\w-]+\.md\]\(([\w-]+\.md)\)", r"[](\1)", source[0])


def setup(app):
    """Connect what changes the pages and the API reference."""
    app.connect("autodoc-skip-member", without_routing)
    app.connect("autodoc-process-docstring", with_links, priority=400)  # numpydoc reads it afterwards
    app.connect("source-read", with_titles)
