"""Results on the screen, at two widths, and as JSON."""

import importlib.util
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from rich.console import Console

from pileup.cli.app import app
from pileup.cli.show import print_results
from pileup.record import RunFolder
from pileup.stats import results

GOLDEN = Path(__file__).resolve().parents[2] / "golden" / "0.1"


def shown(found, width):
    stream = io.StringIO()
    print_results(found, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.fixture(scope="module")
def found():
    return results(RunFolder.open(GOLDEN / "ended"))


@pytest.mark.parametrize("width", [80, 120])
def test_everything_fits(found, width):
    text = shown(found, width)
    assert max(map(len, text.splitlines())) <= width
    for word in ("Verdict: unknown", "C2", "failed", "9.75 /s", "51 ms", "20 s", "195"):
        assert word in text
    assert "wrong byte at 17 of /data/é" in " ".join(text.split())


def test_what_users_wrote_is_not_taken_as_markup(found, golden_copy):
    info = golden_copy.info()
    info["cases"][1]["name"] = "copy[red]"
    info["criteria"][0]["says"] = "[bold]x[/nothing]"
    golden_copy.save(info)
    text = shown(results(golden_copy), 120)
    assert "copy[red]" in text
    assert "[bold]x[/nothing]" in text


@pytest.fixture
def golden_copy(tmp_path):
    spec = importlib.util.spec_from_file_location("golden_make", GOLDEN.parent / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make(tmp_path, "running")


def test_a_run_that_goes_on_is_shown(golden_copy):
    assert "This run goes on, or has crashed" in " ".join(shown(results(golden_copy), 80).split())


def test_an_empty_run_is_shown(tmp_path):
    folder = RunFolder.create(tmp_path, "x", 0)
    folder.save({"title": "nothing yet"})
    assert "Verdict: unknown" in shown(results(folder), 80)


def test_the_command():
    done = CliRunner().invoke(app, ["show", str(GOLDEN / "ended")])
    assert done.exit_code == 0
    assert "Verdict: unknown" in done.stdout
    plain = json.loads(CliRunner().invoke(app, ["show", str(GOLDEN / "ended"), "--json"]).stdout)
    assert plain["folder"] == str(GOLDEN / "ended")
    assert [each["verdict"] for each in plain["criteria"]] == ["passed", "failed", "unknown", "passed", "not checked"]
