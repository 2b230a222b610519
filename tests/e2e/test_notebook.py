"""The notebook of examples/ runs from its first cell to its last in a kernel of Jupyter, without a screen."""

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from tests.support import EXAMPLES, give_up

pytestmark = pytest.mark.long

NEEDED = ("nbclient", "ipykernel", "pandas", "pyarrow")
EXECUTE = """
import nbclient, nbformat, sys
notebook = nbformat.read(sys.argv[1], 4)
nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
nbformat.write(notebook, sys.argv[2])
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, str]]:
    """Return what each cell with code gave, by kind of content."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        give_up(f"{', '.join(missing)} not installed: pip install 'pileup[analysis]' nbclient ipykernel")
    folder = tmp_path_factory.mktemp("notebook")
    kernel = folder / "jupyter" / "kernels" / "python3"
    kernel.mkdir(parents=True)
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": command, "display_name": "Python 3", "language": "python"}))
    places = {name: str(folder / name.lower()) for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR")}
    done = subprocess.run(
        [sys.executable, "-c", EXECUTE, str(EXAMPLES / "notebook.ipynb"), "done.ipynb"],
        cwd=folder,
        env={**os.environ, **places, "JUPYTER_PATH": str(folder / "jupyter"), "PYDEVD_DISABLE_FILE_VALIDATION": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    cells = json.loads((folder / "done.ipynb").read_text())["cells"]
    return [_given(cell) for cell in cells if cell["cell_type"] == "code"]


def _given(cell: dict[str, list[dict[str, dict[str, list[str] | str]]]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for output in cell["outputs"]:
        contents = output.get("data") or {str(output["name"]): output["text"]}  # type: ignore[dict-item]
        for kind, text in contents.items():
            found[kind] = found.get(kind, "") + ("".join(text) if isinstance(text, list) else str(text))
    return found


def test_a_run_is_shown_as_a_page(outputs: list[dict[str, str]]) -> None:
    page = outputs[1]["text/html"]
    assert "A storage of known truth" in page
    assert "passed" in page
    assert "stdout" not in outputs[1]  # a run prints nothing
    assert "stderr" not in outputs[1]


def test_tables_charts_and_comparisons_are_shown(outputs: list[dict[str, str]]) -> None:
    assert "p50_low" in outputs[2]["text/html"]
    assert " reads" in outputs[3]["stdout"]
    assert "slowest_ms" in outputs[4]["text/html"]
    assert "'rates'" in outputs[5]["stdout"]
    assert "vega" in outputs[5].get("text/html", "") or any("vega" in kind for kind in outputs[5])
    assert "worse" in outputs[6]["text/html"]
    assert outputs[7]["text/plain"] == "'worse'"


def test_an_error_has_three_parts(outputs: list[dict[str, str]]) -> None:
    assert "'many'" in outputs[8]["stdout"]
    assert "; expected " in outputs[8]["stdout"]


def test_the_notebook_is_kept_without_what_it_gave() -> None:
    """Else each run of it would be a change of the repository."""
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text())["cells"]
    assert not [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")]
