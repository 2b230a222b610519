"""Write the example of README.md again: what `pileup bench` prints for a private XRootD on this machine.

    python benchmarks/readme.py

Only the url and the folder are replaced. The example is all that is printed, so that it is what a reader gets.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.servers.xrootd import xrootd  # noqa: E402

URL = "root://se01.site.org//data/pileup"
WORDS = ("--read", "--clients", "8", "--for", "10s")
BEGIN, END = "<!-- made by benchmarks/readme.py -->\n```console\n", "```\n"


def printed() -> str:
    """Return what the command prints, with the url of the page."""
    with tempfile.TemporaryDirectory() as folder:
        (home := Path(folder, "home")).mkdir()
        (data := Path(folder, "server")).mkdir()
        with xrootd(data) as server:
            url = server.root.rstrip("/")
            words = [sys.executable, "-m", "pileup", "bench", url, *WORDS, "--quiet", "--out", "runs"]
            environment = {**os.environ, "COLUMNS": "100"}
            done = subprocess.run(words, cwd=home, env=environment, capture_output=True, text=True, check=True)
        where = url.partition("://")[2].replace(":", "-").replace(".", "-").replace("//", "-")
        text = done.stdout.replace(url, URL).replace(f"{home}/", "")
        return text.replace(where, "se01-site-org-data-pileup")


def main() -> int:
    """Put the output into the page."""
    page = ROOT / "README.md"
    head, found, rest = page.read_text().partition(BEGIN)
    if not found:
        sys.exit(f"error: README.md has no example; expected it after {BEGIN.splitlines()[0]}; put the mark back")
    lines = "\n".join(line.rstrip() for line in printed().splitlines())
    after = rest.partition(END)[2]
    page.write_text(f"{head}{BEGIN}$ pileup bench {URL} {' '.join(WORDS)}\n{lines}\n{END}{after}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
