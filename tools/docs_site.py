"""Make the site of the docs in target/site/html, which is read from the disk: `make site`.

    python tools/docs_site.py [FOLDER]

docs/ is written for people who read it in a checkout. Its pages are copied to FOLDER/pages, beside a few others of the
tree and the suites, and changed: links that leave docs/ lead to those copies, or are a plain name where there is none;
a link whose text is a file name has the title of that page; the words behind the language of a block of code, which are
for the tests, become its title. The navigation is that of docs/README.md. Zensical makes the site, and fails for a link
that leads nowhere.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARTS = Path(__file__).with_suffix("")
"""Configuration of zensical, a style, and what search needs where pages are read from the disk."""
BESIDE = {
    "ARCHITECTURE.md": "project/architecture.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "CHANGELOG.md": "project/changelog.md",
    "benchmarks/README.md": "project/benchmarks.md",
    "examples/README.md": "examples/README.md",
}
"""Pages that are not in docs/, with their place in the site."""
SUITES = {".yaml": "yaml", ".xml": "xml", ".py": "python"}
FENCE = re.compile(r"^(\s*)```(\w+) (\w+)(?:=(\S+))?$")
LINK = re.compile(r"(`+).+?\1|(!?)\[((?:`[^`]*`|[^\]`])*)\]\(([^)\s]+)\)")
ROW = re.compile(r"^\| \[.*?\]\(([^)#]+)\)", re.MULTILINE)
TITLED = ("file", "append", "part")


class DeadLink(Exception):
    """A link to what is not in the tree."""


def sources() -> dict[Path, Path]:
    """Return every file that is shown -> its place in the site; both relative."""
    docs = {path.relative_to(ROOT): path.relative_to(ROOT / "docs") for path in files(ROOT / "docs")}
    suites = {
        path.relative_to(ROOT): Path("examples", f"{path.name}.md")
        for path in files(ROOT / "examples")
        if path.suffix in SUITES
    }
    return docs | {Path(name): Path(place) for name, place in BESIDE.items()} | suites


def files(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, in order."""
    yield from (path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts)


def page(source: Path, places: dict[Path, Path]) -> str:
    """Return the text of a page as the site has it."""
    text = (ROOT / source).read_text()
    if source.suffix != ".md":
        return f"# {source.name}\n\n```{SUITES[source.suffix]}\n{text}```\n"
    inside, lines = False, []
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            lines.append(FENCE.sub(fence, line))
        else:
            lines.append(line if inside else LINK.sub(lambda found: link(found, source, places), line))
    return "\n".join(lines) + "\n"


def fence(found: re.Match[str]) -> str:
    """Return the first line of a block of code, with the name of its file as the title."""
    indent, language, word, value = found.groups()
    return f'{indent}```{language} title="{value}"' if word in TITLED else f"{indent}```{language}"


def link(found: re.Match[str], source: Path, places: dict[Path, Path]) -> str:
    """Return a link as the site has it; a plain name where the site has not what it leads to."""
    code, picture, words, target = found.groups()
    if code or re.match(r"\w+:|#", target):
        return found[0]
    path, anchor = target.partition("#")[::2]
    there = Path(os.path.normpath(source.parent / path))
    if not (ROOT / there).exists():
        raise DeadLink(f"{source}: {target}: no such file; expected a path from that page; fix the link")
    there = there / "README.md" if (ROOT / there).is_dir() else there
    place = places.get(there)
    if place is None:
        return words
    if words == path and place.suffix == ".md":  # in a checkout pages are known by their names, in the site by titles
        words = heading(there)
    way = os.path.relpath(place, places[source].parent)
    return f"{picture}[{words}]({way}{'#' * bool(anchor)}{anchor})"


def navigation() -> list[tuple[str, object]]:
    """Return the sections of docs/README.md with their pages; what has pages of its own is a section, too."""
    index = (ROOT / "docs/README.md").read_text()
    _, *sections = re.split(r"^## ", index, flags=re.MULTILINE)
    found: list[tuple[str, object]] = [("Home", "README.md")]
    for section in sections:
        pages = [entry(name) for name in ROW.findall(section)]
        if pages:
            found.append((section.partition("\n")[0], pages))
    return found


def entry(name: str) -> tuple[str, object]:
    """Return title and place of a page of the index, by its address there."""
    source = Path(os.path.normpath(Path("docs") / name))
    place = sources()[source]
    if place.name != "README.md":
        return heading(source), str(place)
    folder = {to: at for at, to in sources().items() if to.suffix == ".md" and to.is_relative_to(place.parent)}
    pages: list[tuple[str, object]] = [("Overview", str(place))]
    pages += [(heading(at), str(to)) for to, at in folder.items() if to.parent == place.parent and to != place]
    groups = dict.fromkeys(to.parent for to in folder if to.parent != place.parent)
    for group in groups:
        within = [(heading(at), str(to)) for to, at in folder.items() if to.parent == group]
        pages.append((group.name.capitalize(), within))
    return heading(source), pages


def heading(source: Path) -> str:
    """Return the title of a page: its first line, or the name of a suite."""
    first = (ROOT / source).read_text().partition("\n")[0]
    return first.lstrip("# ").replace("`", "") if source.suffix == ".md" else source.name


def toml(entries: object) -> str:
    """Return the navigation as an array of TOML."""
    if isinstance(entries, str):
        return json.dumps(entries)
    assert isinstance(entries, list)
    return "[" + ", ".join(f"{{ {json.dumps(name)} = {toml(value)} }}" for name, value in entries) + "]"


def stage(folder: Path) -> None:
    """Write pages and configuration into a folder, for zensical."""
    places = sources()
    for source, place in places.items():
        copy = folder / "pages" / place
        copy.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix == ".md":
            copy.write_text(page(source, places))
        else:
            shutil.copy2(ROOT / source, copy)
    for name in ("extra.css", "iframe-worker.js"):
        shutil.copy2(PARTS / name, folder / "pages" / name)
    config = (PARTS / "zensical.toml").read_text().replace("nav = []\n", f"nav = {toml(navigation())}\n", 1)
    (folder / "zensical.toml").write_text(config)


def make(folder: Path) -> str:
    """Make the site of what is staged; return what is wrong with it, if anything."""
    command = [sys.executable, "-m", "zensical", "build", "--strict", "--config-file", str(folder / "zensical.toml")]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 0 and (folder / "html/index.html").exists():
        return ""
    found = done.stdout.partition("Traceback")[0]
    return f"{found}\nthe site was not made; expected every link to lead to a page or heading; fix those above"


def main(arguments: list[str]) -> int:
    """Stage the pages again and make the site."""
    folder = Path(arguments[0]) if arguments else ROOT / "target/site"
    shutil.rmtree(folder, ignore_errors=True)
    try:
        stage(folder)
        problem = make(folder)
    except DeadLink as dead:
        problem = str(dead)
    if problem:
        print(f"error: {problem}", file=sys.stderr)
        return 1
    print(folder / "html/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
