"""Built-in plug-ins are made of what anybody's can have: `pileup.plugin` and its modules."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2] / "src" / "pileup"
BUILTIN = SOURCES / "builtin"
EXCEPTIONS = {
    "practice/storage.py": ("pileup.model.practice", "the settings of servers that the engine itself has"),
    "practice/batch.py": ("pileup.model.practice", "the same"),
    "practice/s3.py": ("pileup.model.practice", "the same"),
    "practice/issuer.py": ("pileup.model.practice", "the same"),
    "practice/tape.py": ("pileup.model.practice", "the same"),
    "credentials/server_certificates.py": ("pileup._core._native", "the engine makes certificates of launched servers"),
    "stager/names.py": ("pileup._core._native", "files of the practice tape library lie where the engine has drawn it"),
    "stager/settings.py": ("pileup.model.practice", "the settings of servers that the engine itself has"),
    "tape/settings.py": ("pileup.model.practice", "the same"),
    "tape/machine.py": ("pileup._core._native", "the practice tape library is one of the engine's own"),
    "credentials/control_sessions.py": ("pileup._core", "the engine speaks protocols for looks and clean-up, too"),
}
"""Module -> what else it imports, and why nobody else's plug-in needs that."""


def others(text: str) -> Iterator[str]:
    """Yield the modules of pileup that a source imports and that are not public."""
    for node in ast.walk(ast.parse(text)):
        names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [f"pileup.{each.name}" for each in node.names] if module == "pileup" else [module]
        yield from (
            name
            for name in names
            if name.startswith("pileup") and name.split(".")[1:2] not in (["plugin"], ["builtin"])
        )


def found() -> dict[str, set[str]]:
    """Return module of a built-in plug-in -> what it imports that is not public."""
    texts = {path.relative_to(BUILTIN).as_posix(): path.read_text() for path in BUILTIN.rglob("*.py")}
    told = {name: set(others(text)) for name, text in texts.items()}
    return {name: modules for name, modules in told.items() if modules}


def test_p11_built_in_plug_ins_import_the_public_surface_alone() -> None:
    assert {name: {module} for name, (module, _) in EXCEPTIONS.items()} == found()


@pytest.mark.parametrize(
    "text",
    ["from pileup.model.results import RunResults", "import pileup.stats", "from pileup import stats", "import pileup"],
)
def test_another_import_is_found(text: str) -> None:
    assert list(others(text))


def test_the_public_surface_is_light_and_names_what_it_has() -> None:
    heavy = ("duckdb", "altair", "numpy", "pileup._core._native", "pileup.record", "pileup.stats")
    modules = ("", ".batch", ".credentials", ".logs", ".results", ".units", ".verbs")
    code = "import sys\nfrom importlib import import_module\n"
    code += f"for name in {modules}:\n    module = import_module('pileup.plugin' + name)\n"
    code += "    assert all(hasattr(module, each) for each in getattr(module, '__all__', ())), name\n"
    code += f"print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout == "[]\n", done.stderr
