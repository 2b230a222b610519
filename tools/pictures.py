"""`make pictures`: docs/images/, made of one first run: its report by headless chromium, its screen as an SVG.

The screen is read from the growing run folder once a second, as `pileup watch` does; the picture shows it one after
another, in a loop.
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
from rich.text import Text

from pileup.cli.live.screen import Look, ended_line, opening, screen
from pileup.cli.live.state import FolderWatcher

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "docs" / "images"
COLUMNS, ROWS = 100, 26
EACH = 1.0
"""Seconds between two screens."""
KEPT = 2
"""One of so many screens is in the picture."""
BROWSER = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--force-device-scale-factor=1")


def main() -> int:
    """Run the first suite, and write both pictures."""
    browser = shutil.which("chromium")
    if browser is None:
        sys.exit("make pictures: chromium is not installed; as root: apt-get install chromium")
    with tempfile.TemporaryDirectory(prefix="pileup-pictures-") as folder:
        run, screens = watched(Path(folder))
        terminal = IMAGES / "terminal.svg"
        terminal.write_text(animated(screens), encoding="utf-8")
        report = IMAGES / "report.png"
        pictured(browser, run / "report.html", report, Path(folder))
    for path in (terminal, report):
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 1000:.0f} kB")
    return 0


def watched(folder: Path) -> tuple[Path, list[str]]:
    """Run the first suite; return its folder, and its screens as SVG."""
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
    screens = []
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=dict(os.environ)) as process:
        while not (found := list(runs.glob("*/run.json"))):
            if process.poll() is not None:
                sys.exit("make pictures: the run has not begun")
            time.sleep(0.05)
        run = found[0].parent
        watcher = FolderWatcher(run)
        while process.poll() is None:
            screens.append(drawn(watcher))
            time.sleep(EACH)
        told = process.stdout.read() if process.stdout else ""
    if process.returncode:
        sys.exit(f"make pictures: the run ended with {process.returncode}\n{told}")
    return run, [*screens[::KEPT], ending(watcher, told)]


def drawn(watcher: FolderWatcher) -> str:
    """Return the screen as it is now, below the lines of cases that have ended."""
    state = watcher.look()
    above = [Text(opening(state), style="bold"), *map(ended_line, state.finished)]
    return svg([*above, *screen(state, COLUMNS, ROWS - len(above), Look(keys=True))])


def ending(watcher: FolderWatcher, told: str) -> str:
    """Return what is on the screen when the run has ended: its cases, and what `pileup run` says last."""
    state = watcher.look()
    last = told[told.index("\nTested ") + 1 :].splitlines()
    last = [re.sub(r"/\S*/runs/", "runs/", line) for line in last]
    above = [Text(opening(state), style="bold"), *map(ended_line, state.finished), Text("")]
    return svg([*above, Text(last[0], style="bold"), *map(Text, last[1:])])


def svg(lines: list[Text]) -> str:
    """Return lines as a picture of a terminal."""
    console = Console(width=COLUMNS, height=ROWS, record=True, file=io.StringIO(), force_terminal=True)
    padding = [Text("")] * (ROWS - sum(max(1, -(-line.cell_len // COLUMNS)) for line in lines))
    console.print(Text("$ pileup run suite:first-run"), Group(*lines, *padding))
    return console.export_svg(title="pileup", unique_id="p")


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


def pictured(browser: str, page: Path, to: Path, scratch: Path) -> None:
    """Take a picture of the head of a report."""
    words = [browser, *BROWSER, f"--user-data-dir={scratch / 'profile'}", "--window-size=1280,1000"]
    shot = scratch / "report.png"
    subprocess.run(
        [*words, "--virtual-time-budget=20000", f"--screenshot={shot}", f"file://{page}"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    shutil.copyfile(shot, to)


if __name__ == "__main__":
    sys.exit(main())
