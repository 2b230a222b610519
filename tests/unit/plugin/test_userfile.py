"""Plug-ins in a user's file: found, and every mistake shown at the user's own line in one sentence."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from pileup.model.errors import PluginError
from pileup.plugin import Monitor, Test
from pileup.plugin.registry import load

GOOD = """
from pileup.plugin import Test, option

class ListFolder(Test):
    \"\"\"List a folder.\"\"\"
    entries: int | None = option(None, ge=0, help="how many")

    def run(self, op):
        pass

class Other(Test):
    def run(self, op):
        pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """The folder of a suite."""
    folder = tmp_path / "suite"
    folder.mkdir()
    return folder


def told(folder: Path, text: str | bytes, name: str = "Mine", kind: str = "tests") -> str:
    """Load a class from a file with this text; return what is said."""
    data = text.encode() if isinstance(text, str) else text
    (folder / "mine.py").write_bytes(data)
    with pytest.raises(PluginError) as caught:
        load(kind, f"./mine.py:{name}", folder)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_class_in_a_file_beside_the_suite(suite: Path) -> None:
    (suite / "good.py").write_text(GOOD)
    cls = load("tests", "./good.py:ListFolder", suite)
    assert issubclass(cls, Test)
    assert cls(entries="3").entries == 3
    assert load("tests", "good.py:ListFolder", suite) is cls


def test_files_of_the_same_name_are_kept_apart(suite: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for folder in (suite, other):
        (folder / "good.py").write_text(GOOD)
    assert load("tests", "./good.py:Other", suite) is not load("tests", "./good.py:Other", other)


def test_no_such_file(suite: Path) -> None:
    with pytest.raises(PluginError, match=r"there is no file .*/nonsuch\.py; expected a Python file beside the suite"):
        load("tests", "./nonsuch.py:Mine", suite)


def test_no_such_class_names_those_there_are(suite: Path) -> None:
    assert (
        told(suite, GOOD, "ListFolders") == "mine.py has no Test class 'ListFolders'; expected one of ListFolder, Other"
    )


def test_a_class_of_another_kind(suite: Path) -> None:
    said = told(suite, GOOD, "ListFolder", kind="monitors")
    assert said == "'ListFolder' in mine.py is a Test; expected a Monitor"
    files = "from pileup.plugin import FileTarget\nclass Mine(FileTarget):\n    pass\n"
    (suite / "files.py").write_text(files)
    with pytest.raises(PluginError, match=r"^'Mine' in files\.py is a Target; expected an Exporter$"):
        load("exporters", "./files.py:Mine", suite)
    with pytest.raises(PluginError, match=r"has no Monitor class 'Path'; expected a class that derives from"):
        (suite / "other.py").write_text("from pathlib import Path")
        load("monitors", "./other.py:Path", suite)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("class Mine(:\n    pass\n", "mine.py:1: SyntaxError: invalid syntax"),
        ("x = 1\n  y = 2\n", "mine.py:2: IndentationError: unexpected indent"),
        ("import no_such_package_73\n", "mine.py:1: ModuleNotFoundError: No module named 'no_such_package_73'"),
        (
            "x = 1\ny = x + 'a'\n",
            "mine.py:2: TypeError: unsupported operand type(s) for +: 'int' and 'str'  in `y = x + 'a'`",
        ),
        ("import sys\nsys.exit(3)\n", "mine.py:2: SystemExit: 3"),
        ("def f():\n    return 1 / 0\n\nf()\n", "mine.py:2: ZeroDivisionError: division by zero  in `return 1 / 0`"),
        ("import json\n\njson.loads('{')\n", "mine.py:3: JSONDecodeError"),
        (b"x = '\xff'\n", "mine.py"),
        (b"x = 1\0\n", "mine.py"),
    ],
)
def test_a_file_that_cannot_be_imported(suite: Path, text: str | bytes, said: str) -> None:
    message = told(suite, text)
    assert message.startswith(said)
    assert message.endswith("(fix the file and run again)")


def test_a_mistake_in_a_helper_file_is_shown_there(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(suite))
    (suite / "helper_of_mine.py").write_text("def f(:\n")
    assert told(suite, "import helper_of_mine\n").startswith("helper_of_mine.py:1: SyntaxError")


HEAD = "from pileup.plugin import FileTarget, Monitor, Size, Target, Test, option\n\n"


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        (
            "class Mine(Test):\n    size: Sise = 1\n    def run(self, op): ...\n",
            "tests",
            "mine.py:3: NameError: name 'Sise' is not defined",
        ),
        ("class Mine(Test):\n    size: 3 = 1\n    def run(self, op): ...\n", "tests", "mine.py:3: "),
        (
            "class Mine(Test):\n    a: int = 1\n    size: Size = option('3 s')\n    def run(self, op): ...\n",
            "tests",
            "mine.py:5: the default of option 'size' is wrong: Value error, '3 s' is a time; expected a size",
        ),
        (
            "class Mine(Test):\n    files: int = option(0, ge=1)\n    def run(self, op): ...\n",
            "tests",
            "mine.py:4: the default of option 'files' is wrong: Input should be greater than or equal to 1",
        ),
        (
            "class Mine(Test):\n    target: str = 'se'\n    def run(self, op): ...\n",
            "tests",
            "mine.py:4: option 'target' has the name of something that every Test has; expected another name",
        ),
        (
            "class Mine(Test):\n    def rum(self, op): ...\n",
            "tests",
            "mine.py:3: Mine has no run; expected `def run(self, ...)`",
        ),
        (
            "class Mine(Monitor):\n    pass\n",
            "monitors",
            "mine.py:3: Mine has no sample; expected `def sample(self, ...)`",
        ),
        (
            "class Mine(FileTarget):\n    pass\n",
            "targets",
            "mine.py:3: Mine has no delete; expected `def delete(self, ...)`",
        ),
    ],
)
def test_a_class_that_cannot_work(suite: Path, body: str, kind: str, said: str) -> None:
    for future in ("", "from __future__ import annotations\n"):
        lines = future.count("\n")
        message = told(suite, (HEAD if not future else future + HEAD) + body, kind=kind)
        number = int(said.split(":")[1]) + lines
        expected = f"mine.py:{number}:" if "NameError" not in said or future else "mine.py:"
        assert message.startswith(expected)
        assert said.split(": ", 1)[1] in message
        (suite / "mine.py").unlink()
        for name in [name for name in sys.modules if name.startswith("pileup_user_mine")]:
            del sys.modules[name]


def test_required_options_are_no_mistake(suite: Path) -> None:
    (suite / "a.py").write_text(
        HEAD + "class Mine(Monitor):\n    path: str\n    def sample(self):\n        return []\n"
    )
    assert issubclass(load("monitors", "a.py:Mine", suite), Monitor)


SETTINGS = """
from pydantic import BaseModel, Field
from pileup.plugin import ClientSpec, Target, option

class Settings(BaseModel):
    delay: int = Field(0, ge=0)
    keys: int = option(1000, ge=1)

class Mine(Target):
    launch_settings = Settings

    def client(self):
        return ClientSpec("noop", {})
"""


def test_an_option_in_a_model_of_settings_is_refused(suite: Path) -> None:
    """Its default was the declaration: a server was started with the text `Option(default=1000, …`."""
    wrong = "'keys' of launch_settings is declared with option(), which a pydantic model takes for its value"
    said = told(suite, SETTINGS, kind="targets")
    assert said == (
        f"mine.py:7: {wrong}; expected pydantic's Field, e.g. `Field(1000, ge=1, description=…)` "
        "(fix the file and run again)"
    )


def test_a_second_thread_waits_for_the_end_of_a_file_that_the_first_one_runs(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, asked = threading.Event(), threading.Event()
    monkeypatch.setitem(sys.modules, "gate_of_two", SimpleNamespace(begun=begun, asked=asked))
    (suite / "own.py").write_text("import gate_of_two\ngate_of_two.begun.set()\ngate_of_two.asked.wait(0.1)\n" + GOOD)

    def second() -> type:
        begun.wait(5)
        try:
            return load("tests", "./own.py:Other", suite)
        finally:
            asked.set()

    with ThreadPoolExecutor(2) as threads:
        first, other = threads.submit(load, "tests", "./own.py:Other", suite), threads.submit(second)
        assert first.result(10) is other.result(10)
