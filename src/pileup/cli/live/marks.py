"""Signs of the screen, and the same in ASCII for terminals that show no others."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from pileup.model.verdict import Verdict

OF_VERDICT = {
    Verdict.MET: ("✓", "green"),
    Verdict.MET_NOT_SHOWN: ("~", "yellow"),
    Verdict.NOT_MET: ("✗", "red"),
    Verdict.NOT_MET_NOT_SHOWN: ("✗", "red"),
    Verdict.UNKNOWN: ("?", "dim"),
    Verdict.NOT_COVERED: ("-", "dim"),
}
"""Sign and style: `~` is met, not shown."""
OF_OUTCOME = {
    "passed": ("✓", "green"),
    "failed": ("✗", "red"),
    "error": ("✗", "red"),
    "not run": ("-", "dim"),
    "unavailable": ("!", "yellow"),
    "unknown": ("?", "yellow"),
}
BARS = "▁▂▃▄▅▆▇█"
DONE, LEFT = "━", "─"
PLAIN = str.maketrans(f"✓✗{BARS}{DONE}{LEFT}…·µ≥≤↳", "+x.,:;-=*##...u><>")
"""The same number of characters, so that styles stay where they are."""


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
