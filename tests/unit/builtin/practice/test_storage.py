"""The kind `practice-storage`: a WebDAV target that pileup can start."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from pileup.builtin.http.webdav_target import WebDavTarget
from pileup.builtin.practice.storage import PracticeStorageTarget
from pileup.model.practice import SETTINGS, StorageSettings
from pileup.plugin import Daemon, Launcher, Line


def daemon(launcher: Launcher | None) -> Daemon:
    """The one process of a launcher."""
    assert launcher is not None
    (process,) = launcher.processes
    assert isinstance(process, Daemon)
    return process


def test_it_is_webdav_by_another_name() -> None:
    assert issubclass(PracticeStorageTarget, WebDavTarget)
    assert PracticeStorageTarget("http://127.0.0.1:1/").client() == WebDavTarget("http://127.0.0.1:1/").client()


def test_s16_the_environment_carries_the_settings_and_the_command_none_of_them() -> None:
    settings = {
        "token": "of-the-practice",
        "threads": 8,
        "service": {"lognormal": ["20 ms", 0.5]},
        "bandwidth": "200 MB/s",
    }
    launcher = PracticeStorageTarget.launcher(settings, Path("/run"))
    command = daemon(launcher).command
    assert command[:5] == (sys.executable, "-m", "pileup", "practice", "storage")
    assert command[-4:] == ("--port", "{port}", "--log", "{folder}/practice-storage{again}.csv")
    assert "of-the-practice" not in " ".join(command)
    read = StorageSettings.model_validate(json.loads(daemon(launcher).environment[SETTINGS]))
    assert read == StorageSettings.model_validate(settings)
    assert read.service.lognormal == (20_000_000, 0.5)


def test_the_ready_line_tells_the_url() -> None:
    ready = daemon(PracticeStorageTarget.launcher({}, Path("/run"))).ready
    assert isinstance(ready, Line)
    match = re.search(ready.pattern, "pileup practice storage ready at http://127.0.0.1:40123/\n")
    assert match is not None
    assert match["url"] == "http://127.0.0.1:40123/"


@pytest.mark.parametrize("settings", [{"thread": 8}, {"threads": 0}, {"service": "8"}, {"bandwidth": "3 s"}])
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        PracticeStorageTarget.launcher(settings, Path("/run"))
