"""Sphinx configuration."""

from featuremask import __version__

project = "featuremask"
author = "The featuremask developers"
copyright = "2026, the featuremask developers"
release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "examples", "gallery"]
templates_path = ["_templates"]

# `name` in a docstring is a link where it is the name of something, else code.
default_role = "autolink"

# Every reference must lead somewhere; a link that is written must be right.
nitpicky = True
nitpick_ignore_regex = [("py:obj", r"[a-z_]+")]  # `name` of a parameter, described where it stands

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# The signature says the defaults, the list of parameters the types.
autodoc_typehints = "none"
autosummary_generate = True
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_examples",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "capture_repr": ("_repr_html_",),
    "download_all_examples": False,
    "show_memory": False,
}


def _is_foreign(app, what, name, obj, skip, options):
    """Leave out what a class inherits from other libraries: they describe it themselves."""
    function = getattr(obj, "fget", None) or obj
    home = getattr(function, "__module__", None) or ""
    return True if what == "class" and not home.startswith("featuremask") else None


def setup(app):
    """Connect what is above."""
    app.connect("autodoc-skip-member", _is_foreign)


html_theme = "pydata_sphinx_theme"
html_title = "featuremask"
html_sidebars = {"start": []}  # a section of one page
html_theme_options = {
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
