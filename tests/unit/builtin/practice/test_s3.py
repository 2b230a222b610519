"""The kind `practice-s3`: an S3 target that pileup can start."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pileup.builtin.practice.s3 import PracticeS3Target
from pileup.model.practice import SETTINGS, S3Settings
from pileup.model.suite import Credentials
from pileup.plugin import Daemon, Line

HERE = Path("/run")


def test_s16_the_environment_carries_the_settings_and_the_command_none_of_them() -> None:
    settings = {"secret_key": "of-the-practice", "clock_behind": "16 min", "session_tokens": {"t": "1 h"}}
    launcher = PracticeS3Target.launcher(settings, HERE)
    assert launcher is not None
    (process,) = launcher.processes
    assert isinstance(process, Daemon)
    assert "of-the-practice" not in " ".join(process.command)
    read = S3Settings.model_validate(json.loads(process.environment[SETTINGS]))
    native = read.to_native()
    assert (native["clock_ahead"], native["session_tokens"]) == (-16 * 60 * 10**9, {"t": 3600 * 10**9})
    assert (native["access_key"], native["secret_key"], native["buckets"]) == ("pileup", "of-the-practice", ["pileup"])
    assert isinstance(process.ready, Line)
    match = re.search(process.ready.pattern, "pileup practice s3 ready at s3://127.0.0.1:40123/pileup\n")
    assert match is not None
    assert match["url"] == "s3://127.0.0.1:40123/pileup"


def test_its_usual_key_is_used_where_the_suite_says_nothing() -> None:
    target = PracticeS3Target("s3://127.0.0.1:1/pileup")
    usual = target.keys()
    assert usual is not None
    assert (usual.access_key, usual.secret_key) == ("pileup", "open-sesame")
    given = PracticeS3Target("s3://127.0.0.1:1/pileup", Credentials(access_key="k", secret_key="s")).keys()
    assert given is not None
    assert given.access_key == "k"
    assert PracticeS3Target("s3://127.0.0.1:1/pileup", anonymous=True).keys() is None


@pytest.mark.parametrize(
    "settings", [{"thread": 8}, {"page": 0}, {"buckets": ["A"]}, {"faults": [{"kind": "explode"}]}, {"token": "t"}]
)
def test_wrong_settings_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        PracticeS3Target.launcher(settings, HERE)
