"""How Sphinx makes pages of this directory; ``python scripts/build_docs.py`` runs it."""

project = "dml2onnx"
html_title = "dml2onnx"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["requirements"]

# every reference must lead somewhere, and every heading can be linked to
nitpicky = True
myst_heading_anchors = 4
myst_links_external_new_tab = False

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_js_files = ["pages.js"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_last_updated_fmt = None
html_theme_options = {"top_of_page_buttons": []}
highlight_language = "text"
# JSON of models may have comments, and ONNX's notation is nothing that highlighters know
suppress_warnings = ["misc.highlighting_failure"]
