"""Lines of pages, typed: `pileup check` and `pileup bench` on real servers, for a shorter time than the page says.

Urls of the pages are replaced by those of servers here, times and sizes by small ones; every other word is the page's.
Suites that pages show whole are checked.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from pileup.suite import load
from tests.pages import write_files
from tests.repo.test_commands_of_pages import shown
from tests.servers.nginx import nginx
from tests.servers.xrootd import Xrootd, xrootd
from tests.support import ROOT, pileup

SHORT = ("--for", "300ms", "--warm-up", "0s")
SAMPLED = ("--for", "1500ms", "--warm-up", "0s")
"""So long that there are samples of what pileup itself takes."""
HEADS = {"Criterion Says", "Case Load", "Case Rate", "Case Limited"}
"""How the heads of the tables of a run begin."""
OF_A_RUN = (
    (r"\w+://\S+", "URL"),
    (r"runs/\d{4}-[\w-]+", "runs/RUN"),
    (r"bench-[0-9a-f]{8}", "bench-HASH"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE"),
    (r"(?:less than )?(?<!\w)\d[\d.,]*|too few", "#"),
    (r"\b(?:ns|µs|ms)\b|(?<=# )s\b", "TIME"),
    (r"\b[kKMGT]?i?B\b", "SIZE"),
    (r" after # TIME warm-up", ""),
    (r"response of \w+", "response of CASE"),
)
"""What differs from run to run, and what stands for it: with that left out, the lines of two runs are equal."""
SMALL = {"--size": "64KiB", "--files": "4", "--clients": "2", "--rate": "40/s"}
PAGES = [
    "docs/coming-from.md",
    "docs/for-storage-admins.md",
    "docs/for-developers.md",
    "docs/for-analysts.md",
    "README.md",
]
PAGES += ["docs/check-and-bench.md", "docs/which-suite.md", "docs/README.md", "docs/install.md"]
LONG = {page: () if page in ("docs/coming-from.md", "README.md") else (pytest.mark.long,) for page in PAGES}
SUITE = re.compile(r"^```yaml[^\n]*\n(pileup: 1\n.*?)^```$", re.MULTILINE | re.DOTALL)
WITH_SUITES = [page for page in sorted((ROOT / "docs").glob("*.md")) if SUITE.search(page.read_text())]
WITH_SUITES.remove(ROOT / "docs/replay.md")  # its suite replays a run of production that is not here
FILE = re.compile(r"^```yaml file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Servers:
    """What urls of pages are here: a web server, a storage that lets anybody in, one that wants a token, a folder."""

    web: str
    free: Xrootd
    closed: Xrootd
    folder: Path


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folders = [tmp_path_factory.mktemp(name) for name in ("web", "free", "closed", "scratch")]
    with (
        nginx(folders[0]) as web,
        xrootd(folders[1]) as free,
        xrootd(folders[2], tls=True, authorization="tokens") as closed,
    ):
        (folders[0] / "data/status").write_text("ok")
        yield Servers(web, free, closed, folders[3])


def typed(words: list[str], servers: Servers) -> list[str]:
    """Return the words of a line with what is here in the place of what a page names."""
    private = "discover" in words
    words = [*words, *(["--ca", "discover"] if private and "--ca" not in words else [])]
    private_urls = (servers.closed.roots, servers.closed.https)
    root, https = private_urls if private else (servers.free.root, servers.free.http)
    given: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if before in SMALL:
            given.append(SMALL[before])
        elif word == "discover" and before == "--ca":
            given.append(servers.closed.ca)
        elif word == "discover" or before == "--proxy":
            given.append(servers.closed.token_file)
        elif re.match(r"https://(web|api)\.site\.org/status", word):
            given.append(f"{servers.web}/status")
        elif re.match(r"(root|https|davs)://se01\.site\.org", word) or word in ("URL", "se01"):
            given.append(root if word.startswith("root") else https)
        elif word in ("/mnt/scratch", "/tmp", "/data"):
            given.append(str(servers.folder))
        else:
            given.append("--token" if word == "--proxy" else word)
    return given


def lines(page: str) -> list[str]:
    """The lines of a page that are typed here."""
    found = [text for text in shown((ROOT / page).read_text()) if text.startswith(("check ", "bench "))]
    return [text for text in dict.fromkeys(found) if "postgresql://" not in text and "--kind arc" not in text]


@pytest.mark.long
@pytest.mark.parametrize("page", [pytest.param(page, marks=LONG[page]) for page in PAGES])
def test_the_lines_of_a_page_do_what_it_says(page: str, servers: Servers, tmp_path: Path) -> None:
    typed_lines = [typed(shlex.split(text), servers) for text in lines(page)]
    assert typed_lines, "the page shows no line to check or bench"
    for words in typed_lines:
        short = SHORT if words[0] == "bench" else ()
        done = pileup(*words, *short, "--quiet", cwd=tmp_path)
        assert done.returncode == 0, f"{page}: {' '.join(words)}\n{done.stdout}{done.stderr}"


def fixed(text: str) -> list[str]:
    """Return the lines that a run prints without what is of it alone; reasons for bottlenecks are left out."""
    unwrapped = re.sub(r"\n  (?=\S)", " ", text)
    found: list[str] = []
    reasons = False
    for line in (" ".join(each.split()) for each in unwrapped.splitlines()):
        reasons = line.startswith("Case Limited") or (reasons and not line.startswith("What pileup"))
        if line and not set(line) <= {"─"} and (not reasons or line.startswith("Case Limited")):
            for pattern, mark in OF_A_RUN:
                line = re.sub(pattern, mark, line)  # noqa: PLW2901  one after the other
            found.append(line)
    return found


@pytest.mark.long
def test_the_readme_shows_what_is_printed(servers: Servers, tmp_path: Path) -> None:
    """Every line but for its figures is one of a run of today, and the last lines are all that it says at the end."""
    text = (ROOT / "README.md").read_text()
    command, block = re.findall(r"^```console\n\$ pileup (.*?)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[0]
    words = [servers.free.root if "://" in word else word for word in shlex.split(command)]
    done = pileup(*words, *SAMPLED, "--quiet", cwd=tmp_path, COLUMNS="200")  # room for the name of the folder here
    assert done.returncode == 0, done.stderr
    shown_lines, printed = fixed(block), fixed(done.stdout.replace(f"{tmp_path}/", ""))
    assert {" ".join(line.split()[:2]) for line in shown_lines} >= HEADS
    assert [line for line in shown_lines if line not in printed] == [], "write it again: python benchmarks/readme.py"
    ending = next(place for place, line in enumerate(printed) if line.startswith("✓ Tested "))
    assert shown_lines[-len(printed[ending:]) :] == printed[ending:], "write it again: python benchmarks/readme.py"


@pytest.mark.long
def test_the_suites_of_the_page_for_those_who_know_others_run(servers: Servers, tmp_path: Path) -> None:
    page = (ROOT / "docs/coming-from.md").read_text()
    saved = typed(shlex.split(next(text for text in shown(page) if "--save" in text)), servers)
    assert pileup(*saved, *SHORT, "--quiet", cwd=tmp_path).returncode == 0
    for name, text in FILE.findall(page):
        (tmp_path / name).write_text(text.replace("/mnt/scratch", str(servers.folder)).replace("30 s", "300 ms"))
    runs = [shlex.split(text) for text in shown(page) if text.startswith("run ") and ".yaml" in text]
    assert len(runs) == 2
    for words in runs:
        done = pileup(*words, "--quiet", cwd=tmp_path)
        assert done.returncode == 0, f"{' '.join(words)}\n{done.stdout}{done.stderr}"


@pytest.mark.parametrize("page", WITH_SUITES, ids=lambda page: page.name)
def test_every_suite_that_a_page_shows_whole_is_right(page: Path, tmp_path: Path) -> None:
    write_files(tmp_path)
    for text in SUITE.findall(page.read_text()):
        (tmp_path / "suite.yaml").write_text(text)
        assert load(tmp_path / "suite.yaml").cases
