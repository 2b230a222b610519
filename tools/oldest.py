"""Print the oldest versions that pyproject.toml allows, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
LEAST = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^]]*\])?>=([0-9.]+)")


def oldest(text: str) -> list[str]:
    """Return `name==version` for each run-time dependency with a lower bound, of the program and its extras."""
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"], *(one for name, all_ in extras.items() if name != "dev" for one in all_)]
    return [f"{found[1]}=={found[2]}" for one in wanted if (found := LEAST.match(one))]


def main() -> int:
    """Print them."""
    print("\n".join(oldest(PROJECT.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
