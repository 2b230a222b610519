"""Pages of the reference: made from schema, plug-ins, check grammar and commands, as text, Markdown or HTML.

`page.py` is what a page holds; `language.py`, `plugins.py`, `models.py`, `commands.py` fill pages; `contents.py` has
all of them; `markdown.py`, `html.py` and `terminal.py` write them.
"""
