"""Write docs/reference/ again: pages made from schema, plug-ins and commands, as `pileup describe` shows them.

A test of the repository compares what this makes with what is there.
"""

import json
import shutil
import sys
from pathlib import Path

from pileup.cli.describe import rendered
from pileup.cli.pages.contents import all_pages
from pileup.cli.pages.page import file_name
from pileup.model.results_schema import results_schema

FOLDER = Path(__file__).resolve().parent.parent / "docs/reference"


def files() -> dict[str, str]:
    """Return path below docs/reference -> text, for every page; only plug-ins that come with pileup."""
    pages = {file_name(page.path, "md"): rendered(page, "md") for page in all_pages(own=True)}
    return pages | {"results.schema.json": json.dumps(results_schema(), indent=1, ensure_ascii=False) + "\n"}


def main() -> int:
    """Put the pages in the place of those that are there."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    pages = files()
    for name, text in pages.items():
        path = FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    print(f"docs/reference: {len(pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
