"""`import pileup` costs nothing, and `pileup.run` is the function whatever was imported before."""

import subprocess
import sys

import pytest

from tests.support import ROOT

HEAVY = ("duckdb", "altair", "numpy", "pandas", "pydantic", "click", "rich", "pileup.api", "pileup._core._native")

RUNS = ("asyncio", "pydantic", "yaml", "pileup.fleet", "pileup.run", "pileup.plugin", "pileup.stats.compare.runs")


def python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("use", ["", "; pileup.PileupError", "; dir(pileup)", "; import pileup.plugin.batch"])
def test_the_import_is_light(use: str) -> None:
    heavy = HEAVY if "plugin" not in use else ("duckdb", "altair", "pandas", "pileup.api")
    assert python(f"import sys, pileup{use}\nprint([name for name in {heavy} if name in sys.modules])") == "[]\n"


def test_a_run_is_opened_without_what_runs_it() -> None:
    run = ROOT / "tests/golden/0.1/ended"
    code = f"import sys, pileup\nrun = pileup.open({str(run)!r})\nassert len(run.figures()) > 0\nrun._repr_html_()\n"
    assert python(f"{code}print([name for name in {RUNS} if name in sys.modules])") == "[]\n"


@pytest.mark.parametrize(
    "before", ["import pileup", "import pileup.run", "from pileup.run import Runner", "import pileup.run.stop"]
)
def test_run_is_the_function(before: str) -> None:
    code = f"{before}\nimport pileup\nfor _ in range(2):\n    assert pileup.run.__module__ == 'pileup.api.running'\n"
    assert python(f"{code}    from pileup.run import Runner\nprint(Runner.__module__)") == "pileup.run.runner\n"


def test_a_name_that_it_does_not_have() -> None:
    assert "no attribute 'nothing'" in python(
        "import pileup\ntry:\n    pileup.nothing\nexcept AttributeError as problem:\n    print(problem)"
    )
