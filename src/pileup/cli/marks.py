"""Signs of the screen, and the same in ASCII for terminals that show no others."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from pileup.model.marks import Tone, mark

STYLES = {Tone.GOOD: "green", Tone.UNSURE: "yellow", Tone.BAD: "red", Tone.NONE: "dim"}
"""Colour of a tone."""
BARS = "▁▂▃▄▅▆▇█"
DONE, LEFT = "━", "─"
PLAIN = str.maketrans(f"✓✗{BARS}{DONE}{LEFT}…·µ≥≤↳\N{EN DASH}", "+x.,:;-=*##...u><>-")
"""The same number of characters, so that styles stay where they are."""


def style_of(word: str) -> str:
    """Return the colour of a verdict or an outcome."""
    return STYLES[mark(word).tone]


def marked(word: str) -> Text:
    """Return the mark of a verdict or an outcome in its colour."""
    return styled(mark(word).sign, style_of(word))


def worded(word: str) -> Text:
    """Return a verdict or an outcome in its colour."""
    return styled(word, style_of(word))


def styled(text: str, style: str = "") -> Text:
    """Return a text in a style that ends with it: what is put behind does not take it over."""
    return Text.assemble((text, style))


def shows_signs(console: Console) -> bool:
    """Return whether what a console writes to can have other characters than those of ASCII."""
    return console.encoding.lower().replace("-", "").startswith("utf")


def in_ascii(line: Text) -> Text:
    """Return a line with its signs in ASCII; what else is not ASCII is `?`."""
    plain = line.plain.translate(PLAIN).encode("ascii", "replace").decode()
    return Text(plain, style=line.style, spans=list(line.spans), no_wrap=True)


def ascii_text(text: str) -> str:
    """Return a text with its signs in ASCII."""
    return text.translate(PLAIN).encode("ascii", "replace").decode()
