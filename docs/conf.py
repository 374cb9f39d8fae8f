"""How the site is built: ``make docs``, or ``python -m sphinx -W docs build/docs/html``."""

from __future__ import annotations

import sys
from pathlib import Path

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS / "extensions"), str(DOCS.parent)]

import api_pages
import gallery
import static_files

import sureshot

BUILD = DOCS.parent / "build" / "docs"

project = "sureshot"
author = "The sureshot developers"
copyright = author
version = release = sureshot.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "pages",
    "signatures",
]
root_doc = "index"
# The rest of the folder is no page: what pages link to is copied when they do.
exclude_patterns = ["extensions", "figures", "results", "_templates", "gallery/*.ipynb"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # functions in the settings of the gallery

# Pages are Markdown as GitHub reads it, and MyST where they are for the site alone.
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

# Formulas: one file of MathJax from a package, which draws them as SVG. It needs no fonts and no network, and works
# on pages that are opened as files.
mathjax_path = "mathjax/tex-svg.js"
mathjax3_config = {"svg": {"fontCache": "global"}, "options": {"enableMenu": False}}

default_role = "py:obj"
autosummary_generate = api_pages.write(DOCS / "api")  # before Sphinx looks for pages
autodoc_typehints = "signature"
autodoc_class_signature = "mixed"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88
python_use_unqualified_type_names = True
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": [str(BUILD / "examples")],
    "gallery_dirs": ["gallery"],
    "filename_pattern": gallery.EXECUTED,
    "image_scrapers": ("matplotlib", gallery.drawn_results),
    "reset_modules": (gallery.remember_results,),
    "default_thumb_file": str(DOCS / "_static" / "icon.svg"),
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "within_subsection_order": "ExampleTitleSortKey",
    "download_all_examples": False,
    "line_numbers": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "sureshot"
html_favicon = "_static/icon.svg"
html_static_path = ["_static", str(static_files.made(BUILD / "static"))]
html_css_files = ["site.css"]
html_js_files = ["opened-as-file.js", "race.js"]
html_context = {"default_mode": "auto"}
html_extra_path = ["llms.txt"]
html_copy_source = True
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "logo": {
        "text": "sureshot",
        "image_light": "_static/icon.svg",
        "image_dark": "_static/icon.svg",
    },
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "can-it-help": [], "gallery/**": [], "project/overview": []}

gallery.prepare(DOCS.parent / "examples", BUILD / "examples")
