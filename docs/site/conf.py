"""Sphinx's settings: Markdown as GitHub reads it, in furo, and nothing that is fetched."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

project = "reward-functions"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
copyright = "the authors of reward-functions"  # noqa: A001 - Sphinx's name
language = "en"
smartquotes = False  # two hyphens begin an option

extensions = ["myst_parser", "docs.site.source_pages", "docs.site.accessible"]
root_doc = "index"
suppress_warnings = [
    "misc.highlighting_failure",  # an excerpt may leave out what is marked by …
    "ref.python",  # a signature names a type by its last word, and modules may share one
]

myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 4

python_maximum_signature_line_length = 80
python_display_short_literal_types = True
toc_object_entries = False  # a heading stands above each

html_theme = "furo"
html_title = f"reward-functions {version}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False  # a summary is fetched, which no browser does from a file
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": False}
