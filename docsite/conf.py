"""Settings of Sphinx. The pages themselves have nothing of Sphinx in them."""

import builtins
from typing import Any

from docutils import nodes
from nodewright import __version__
from sphinx.addnodes import pending_xref, pending_xref_condition
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

from docsite.surface import surface

project = "Nodewright"
version = release = __version__
extensions = ["myst_parser"]
exclude_patterns: list[str] = []
default_role = "py:obj"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"

myst_heading_anchors = 6

html_theme = "furo"
html_title = f"Nodewright {release}"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [],
}
html_static_path = ["_static"]
html_css_files = ["nodewright.css"]

#: The path of each public name by what texts call it: ``Option``, or ``Option.limit``.
_PATHS = {
    ".".join(each.path.split(".")[-1 if each.home else -2 :]): each.path for each in surface() if each.kind != "again"
}


def setup(app: Sphinx) -> None:
    """Let texts name what is public as they do in the code, without its module."""
    app.connect("doctree-read", _leave_built_in_names)
    app.connect("missing-reference", _resolve)


def _leave_built_in_names(app: Sphinx, doctree: nodes.document) -> None:
    """Keep Sphinx from taking the type ``type`` for a field of this name."""
    for reference in list(doctree.findall(pending_xref)):
        if reference.get("refdomain") == "py" and hasattr(builtins, reference["reftarget"]):
            conditional = isinstance(reference.children[0], pending_xref_condition)
            reference.replace_self(nodes.Text(reference["reftarget"]) if conditional else reference.children)


def _resolve(app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element) -> Any:
    if node.get("refdomain") != "py":
        return None
    words = node["reftarget"].split(".")
    for length in (2, 1):
        path = _PATHS.get(".".join(words[-length:]))
        place = env.domains.python_domain.objects.get(path) if path else None
        if place is not None and (len(words) <= length or words[0] == "nodewright"):
            return make_refnode(app.builder, node["refdoc"], place.docname, place.node_id, contnode)
    return None
