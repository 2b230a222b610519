"""Settings of targets between points: set, awaited, restored; of a launched server by a restart at the same address."""

import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pileup.model.errors import PileupError, TargetError
from pileup.record import RunFolder
from pileup.run.servers.supervisor import Supervisor
from pileup.run.targets.opening import Targets
from pileup.run.targets.settings import Settings
from pileup.suite import load

Make = Callable[[str], Settings]
HEAD = """
pileup: 1
title: settings
tests: [{name: list, use: storage.list, target: se, options: {folder: ""}}]
targets:
"""
KIND = """
from pathlib import Path
from pileup.plugin import ClientSpec, Target, TargetError


class Tuned(Target):
    kind = "./tuned.py:Tuned"
    provides = frozenset({"any", "files"})
    settable = ("level",)

    def client(self):
        return ClientSpec("posix", {"root": self.url})

    def setting(self, name):
        return Path(self.url, name).read_text()

    def change(self, name, value):
        if value == "bad":
            raise ValueError("no such level")
        Path(self.url, name).write_text(value)
"""


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    return RunFolder.create(tmp_path / "runs", "t", 0)


@pytest.fixture
def supervisor(folder: RunFolder) -> Iterator[Supervisor]:
    supervisor = Supervisor(folder)
    yield supervisor
    supervisor.end_all()


@pytest.fixture
def make(tmp_path: Path, folder: RunFolder, supervisor: Supervisor) -> Make:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "level").write_text("1")
    script = tmp_path / "set"
    script.write_text(
        f'#!/bin/sh\n[ "$1" = bad ] && echo no such level && exit 3\nprintf %s "$1" > {tmp_path}/data/level\n'
    )
    script.chmod(0o755)

    def make(targets: str) -> Settings:
        text = HEAD + textwrap.indent(textwrap.dedent(targets), "  ").replace("HERE", str(tmp_path))
        (tmp_path / "suite.yaml").write_text(text)
        plan = load(tmp_path / "suite.yaml")
        targets_of_plan = Targets(plan, folder, supervisor)
        targets_of_plan.open()
        return Settings(plan, folder, targets_of_plan, supervisor)

    return make


def by_command(**more: str) -> str:
    words = {"set": '"HERE/set {value}"', "get": "cat HERE/data/level", **more}
    spec = ", ".join(f"{name}: {value}" for name, value in words.items() if value)
    return f"se: {{kind: posix, url: HERE/data, settings: {{level: {{{spec}}}}}}}"


def states(folder: RunFolder, what: str = "setting") -> list[str]:
    return [entry.state for entry in folder.journal_entries() if entry.what == what]


def test_a_setting_is_set_by_its_command_and_restored_to_what_it_was(
    make: Make, folder: RunFolder, tmp_path: Path
) -> None:
    settings = make(by_command())
    settings.change("se", {"level": 4})
    assert (tmp_path / "data/level").read_text() == "4"
    settings.change("se", {"level": "16"})
    assert (tmp_path / "data/level").read_text() == "16"
    settings.restore_all()
    assert (tmp_path / "data/level").read_text() == "1"
    first = next(folder.journal_entries())
    assert (first.target, first.setting, first.before) == ("se", "level", "1")
    assert states(folder) == ["changed", "restored"]
    told = [(event.words["setting"], event.words["value"]) for event in folder.events()]
    assert told == [("level", "4"), ("level", "16"), ("level", "1")]
    assert all(event.begin <= event.end for event in folder.events())


def test_a_value_that_is_in_force_is_not_set_again(make: Make, folder: RunFolder, tmp_path: Path) -> None:
    settings = make(by_command())
    settings.change("se", {"level": 4})
    (tmp_path / "data/level").write_text("touched by somebody")
    settings.change("se", {"level": "4"})
    assert (tmp_path / "data/level").read_text() == "touched by somebody"


def test_default_is_restored_where_nothing_can_be_asked(make: Make, tmp_path: Path) -> None:
    settings = make(by_command(get="", default="7"))
    settings.change("se", {"level": 4})
    settings.restore_all()
    assert (tmp_path / "data/level").read_text() == "7"


def test_restore_never_leaves_the_last_value(make: Make, folder: RunFolder, tmp_path: Path) -> None:
    settings = make(by_command(get="", restore="never"))
    settings.change("se", {"level": 4})
    settings.restore_all()
    assert (tmp_path / "data/level").read_text() == "4"
    assert states(folder) == ["changed", "kept"]


def test_a_value_with_blanks_and_quotes_stays_one_word(make: Make, tmp_path: Path) -> None:
    settings = make(by_command())
    settings.change("se", {"level": "a 'b; echo c"})
    assert (tmp_path / "data/level").read_text() == "a 'b; echo c"


def test_a_value_that_cannot_be_set_raises_and_others_go_on(make: Make, tmp_path: Path) -> None:
    settings = make(by_command())
    with pytest.raises(TargetError, match="level of target se cannot be set to bad: the command ended with code 3"):
        settings.change("se", {"level": "bad"})
    settings.change("se", {"level": 4})
    assert (tmp_path / "data/level").read_text() == "4"
    settings.restore_all()
    assert (tmp_path / "data/level").read_text() == "1"


def test_ready_is_asked_until_the_value_is_in_force(make: Make, tmp_path: Path) -> None:
    ready = "\"sh -c 'test -e HERE/asked && cat HERE/data/level; touch HERE/asked; echo {value}'\""
    make(by_command(ready=ready)).change("se", {"level": 4})
    assert (tmp_path / "asked").exists()


def test_a_value_that_does_not_come_into_force_in_its_time_is_an_error(make: Make) -> None:
    with pytest.raises(TargetError, match="was set to 5, and `ready` ended with code 1") as problem:
        make(by_command(ready="'false'", within="300 ms")).change("se", {"level": 5})
    assert "within 300 ms" in problem.value.expected


def test_what_ready_prints_must_hold_the_value(make: Make) -> None:
    make(by_command(ready="\"sh -c 'cat HERE/data/level' {value}\"")).change("se", {"level": 4})
    with pytest.raises(TargetError, match="and said: always 6"):
        make(by_command(ready="\"sh -c 'echo always 6' {value}\"", within="300 ms")).change("se", {"level": 5})


def test_a_kind_may_change_its_settings_itself(make: Make, folder: RunFolder, tmp_path: Path) -> None:
    (tmp_path / "tuned.py").write_text(KIND)
    settings = make("se: {kind: './tuned.py:Tuned', url: HERE/data}")
    settings.change("se", {"level": "4"})
    assert (tmp_path / "data/level").read_text() == "4"
    with pytest.raises(TargetError, match="level of target se: ValueError: no such level"):
        settings.change("se", {"level": "bad"})
    settings.restore_all()
    assert (tmp_path / "data/level").read_text() == "1"
    assert states(folder) == ["changed", "restored"]


LAUNCHED = "import pydantic\n" + KIND.replace(
    "    def setting(",
    """    class launch_settings(pydantic.BaseModel):
        threads: int

    @classmethod
    def launcher(cls, settings, folder):
        import sys

        from pileup.plugin import Daemon, Exists, Launcher

        code = "import pathlib, time; pathlib.Path('ready').write_text('1'); time.sleep(600)"
        command = (sys.executable, "-c", code, str(settings["threads"]))
        return Launcher((Daemon(command, Exists("{folder}/ready")),), "{folder}")

    def setting(""",
)


def test_a_kind_may_change_settings_of_a_server_that_was_launched(
    make: Make, folder: RunFolder, supervisor: Supervisor, tmp_path: Path
) -> None:
    (tmp_path / "tuned.py").write_text(LAUNCHED)
    settings = make("se: {kind: './tuned.py:Tuned', launch: {threads: 1}}")
    first = supervisor.pids("se")
    settings.change("se", {"level": "4"})
    assert (folder.path / "servers/se/level").read_text() == "4"
    assert supervisor.pids("se") == first
    settings.change("se", {"threads": 2, "level": "4"})
    assert supervisor.pids("se") != first
    settings.restore_all()
    assert (folder.path / "servers/se/level").read_text() == "4"
    assert states(folder) == []
    assert states(folder, "launch settings") == ["begun", "changed"]


def test_a_setting_that_nothing_changes_is_refused(make: Make) -> None:
    with pytest.raises(TargetError, match="nothing says how to change depth of target se"):
        make(by_command()).change("se", {"depth": 1})


@pytest.mark.long
def test_a_launched_server_comes_back_with_the_setting_at_the_same_address(
    make: Make, folder: RunFolder, supervisor: Supervisor
) -> None:
    settings = make("se: {kind: practice-storage, launch: {threads: 8, service: 1 ms}}")
    before, url = supervisor.pids("se"), supervisor.url("se")
    settings.change("se", {"threads": "8"})
    assert supervisor.pids("se") == before
    settings.change("se", {"threads": 2})
    assert supervisor.pids("se") != before
    assert supervisor.url("se") == url
    assert supervisor.alive("se")
    settings.restore_all()
    assert states(folder, "launch settings") == ["begun", "changed"]
    assert [(event.words["setting"], event.words["value"]) for event in folder.events()] == [("threads", "2")]


@pytest.mark.long
def test_a_launch_setting_that_does_not_fit_leaves_the_server_for_the_next(make: Make, supervisor: Supervisor) -> None:
    settings = make("se: {kind: practice-storage, launch: {threads: 8}}")
    with pytest.raises(TargetError, match="target se"):
        settings.change("se", {"threads": -1})
    settings.change("se", {"threads": 2})
    assert supervisor.alive("se")


@pytest.mark.long
def test_a_server_that_died_is_started_again_with_its_settings(make: Make, supervisor: Supervisor) -> None:
    settings = make("se: {kind: practice-storage, launch: {threads: 8}}")
    supervisor.kill("se")
    settings.change("se", {"threads": 8})
    assert supervisor.alive("se")


def test_an_unavailable_target_says_why(make: Make) -> None:
    settings = make("se: {kind: posix, url: HERE/nowhere, settings: {level: {set: 'true {value}', default: 1}}}")
    with pytest.raises(PileupError, match="no such folder"):
        settings.change("se", {"level": 4})
