"""`make pictures`: docs/images/, made of two first runs and the docs.

Report, comparison and site are drawn by headless chromium, the screen of the run as SVG.

The screen is read from the growing run folder once a second, as `pileup watch` does; the animated picture shows one
after another, in a loop, the others the screen in the middle of the last load.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console, Group
from rich.terminal_theme import DEFAULT_TERMINAL_THEME, SVG_EXPORT_THEME, TerminalTheme
from rich.text import Text

from pileup.cli.live.screen import Look, ended_line, opening, screen
from pileup.cli.live.state import FolderWatcher, State

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS, ROWS = 100, 26
LOOKS = {
    "terminal-60": (60, SVG_EXPORT_THEME),
    "terminal-160": (160, SVG_EXPORT_THEME),
    "terminal-light": (COLUMNS, DEFAULT_TERMINAL_THEME),
}
"""Other pictures of the screen -> columns, and the colours of the terminal: dark or light."""
WIDE, PHONE = 1280, 500
"""Pixels; the second is chromium's narrowest window."""
DARK = "--blink-settings=preferredColorScheme=0"
"""What makes a page dark that asks the browser."""
EACH = 1.0
"""Seconds between two screens."""
KEPT = 2
"""One of so many screens is in the picture."""
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1")


def main() -> int:
    """Run the first suite twice, and write all pictures."""
    if shutil.which("chromium") is None:
        sys.exit("make pictures: chromium is not installed; as root: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="pileup-pictures-") as scratch:
        folder = Path(scratch)
        run, screens, last = watched(folder / "first")
        (IMAGES / "terminal.svg").write_text(animated(screens), encoding="utf-8")
        for name, picture in last.items():
            (IMAGES / f"{name}.svg").write_text(picture, encoding="utf-8")
        looked_at("report", run / "report.html", folder)
        compared = folder / "compared.html"
        pileup("compare", str(run), str(watched(folder / "second")[0]), "--format", "html", "--out", str(compared))
        looked_at("compare", compared, folder)
        subprocess.run([sys.executable, str(ROOT / "tools/docs_site.py")], check=True, capture_output=True, timeout=600)
        looked_at("site", ROOT / "target/site/html/index.html", folder)
    for path in sorted([*IMAGES.glob("*.png"), *IMAGES.glob("terminal*.svg")]):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")
    return 0


def pileup(*words: str) -> None:
    """Run a command of pileup; an exit code that says nothing of the pictures is let pass."""
    subprocess.run([sys.executable, "-m", "pileup", *words], check=False, capture_output=True, timeout=300)


def watched(folder: Path) -> tuple[Path, list[str], dict[str, str]]:
    """Run the first suite; return its folder, its screens as SVG, and one under load in each of LOOKS."""
    runs = folder / "runs"
    words = [
        sys.executable,
        "-m",
        "pileup",
        "run",
        str(ROOT / "examples/first-run.yaml"),
        "--quiet",
        "--out",
        str(runs),
    ]
    screens, last = [], {}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        while not (found := list(runs.glob("*/run.json"))):
            if process.poll() is not None:
                sys.exit("make pictures: the run has not begun")
            time.sleep(0.05)
        run = found[0].parent
        watcher = FolderWatcher(run)
        while process.poll() is None:
            state = watcher.look()
            screens.append(drawn(state, COLUMNS))
            if state.running:
                last = {name: drawn(state, *look) for name, look in LOOKS.items()}
            time.sleep(EACH)
        told = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(f"make pictures: the run ended with {process.returncode}\n{told}")
    return run, [*screens[::KEPT], ending(watcher, told)], last


def drawn(state: State, columns: int, theme: TerminalTheme = SVG_EXPORT_THEME) -> str:
    """Return the screen in this state, below the lines of cases that have ended."""
    above = [Text(opening(state), style="bold"), *map(ended_line, state.finished)]
    return svg([*above, *screen(state, columns, ROWS - len(above), Look(keys=True))], columns, theme)


def ending(watcher: FolderWatcher, told: str) -> str:
    """Return what is on the screen when the run has ended: its cases, and what `pileup run` says last."""
    state = watcher.look()
    last = told[told.index("Tested ") - 2 :].splitlines()
    last = [re.sub(r"/\S*/runs/", "runs/", line) for line in last]
    above = [Text(opening(state), style="bold"), *map(ended_line, state.finished), Text("")]
    return svg([*above, Text(last[0], style="bold"), *map(Text, last[1:])])


def svg(lines: list[Text], columns: int = COLUMNS, theme: TerminalTheme = SVG_EXPORT_THEME) -> str:
    """Return lines as a picture of a terminal."""
    console = Console(width=columns, height=ROWS, record=True, file=io.StringIO(), force_terminal=True)
    padding = [Text("")] * (ROWS - sum(max(1, -(-line.cell_len // columns)) for line in lines))
    console.print(Text("$ pileup run suite:first-run"), Group(*lines, *padding))
    return console.export_svg(title="pileup", unique_id="p", theme=theme)


def animated(pictures: list[str]) -> str:
    """Return pictures one after another as one SVG, the last of them for longest; nothing in it is loaded."""
    first = pictures[-1]
    head = first[: first.index('<g transform="translate(9, 41)"')]
    head = re.sub(r"@font-face \{.*?\}", "", head, flags=re.DOTALL)
    each, last = 1.0, 6.0
    whole = each * (len(pictures) - 1) + last
    style, bodies = [], []
    rules: dict[str, str] = {}
    for number, picture in enumerate(pictures):
        begin, end = number * each / whole * 100, (100 if picture is first else (number + 1) * each / whole * 100)
        body, classes = recoloured(picture, rules)
        del classes
        bodies.append(f'<g class="s{number}">{body}</g>')
        style.append(
            f".s{number} {{ visibility: hidden; animation: s{number} {whole:g}s step-end infinite; }} "
            f"@keyframes s{number} {{ 0% {{ visibility: {'visible' if begin == 0 else 'hidden'}; }} "
            f"{begin:.3f}% {{ visibility: visible; }} {end:.3f}% {{ visibility: hidden; }} }}"
        )
    quiet = "@media (prefers-reduced-motion: reduce) { " + " ".join(
        f".s{number} {{ animation: none; visibility: {'visible' if number == len(pictures) - 1 else 'hidden'}; }}"
        for number in range(len(pictures))
    )
    told = "\n".join([*(f".{name} {{ {rule} }}" for rule, name in rules.items()), *style, quiet + " }"])
    head = re.sub(r"\.p-r\d+ \{[^}]*\}\s*", "", head).replace("</style>", f"{told}\n</style>", 1)
    return head + "\n".join(bodies) + "\n</svg>\n"


def recoloured(picture: str, rules: dict[str, str]) -> tuple[str, int]:
    """Return the text of a picture with class names that are those of all pictures."""
    body = picture[picture.index('<g transform="translate(9, 41)"') : picture.rindex("</svg>")]
    names = {}
    for old, rule in re.findall(r"\.(p-r\d+) \{ ([^}]*?) \}", picture):
        names[old] = rules.setdefault(rule, f"c{len(rules) + 1}")
    return re.sub(r"p-r\d+", lambda found: names.get(found[0], found[0]), body), len(names)


def looked_at(name: str, page: Path, scratch: Path) -> None:
    """Take three pictures of the head of a page: light, dark, and on a phone."""
    pictured(page, name, scratch, (WIDE, 1000))
    pictured(page, f"{name}-dark", scratch, (WIDE, 1000), DARK)
    pictured(page, f"{name}-phone", scratch, (PHONE, 1000))


def pictured(page: Path, name: str, scratch: Path, size: tuple[int, int], *options: str) -> None:
    """Take a picture of a page in pixels, with a browser that has seen no page before; `options` are of chromium."""
    with tempfile.TemporaryDirectory(dir=scratch) as profile:
        words = ["chromium", *BROWSER, f"--user-data-dir={profile}", f"--window-size={size[0]},{size[1]}", *options]
        picture = f"--screenshot={IMAGES / name}.png"
        subprocess.run(
            [*words, "--timeout=20000", picture, page.as_uri()], check=True, capture_output=True, timeout=120
        )


if __name__ == "__main__":
    sys.exit(main())
