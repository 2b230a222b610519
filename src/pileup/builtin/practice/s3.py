"""The practice S3 as a kind of target."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

from pileup.builtin.s3.keys import Keys
from pileup.builtin.s3.target import KEY_WORDS, S3Target
from pileup.model.practice import CLIENT, SECRET, SETTINGS, S3Settings
from pileup.plugin import Launcher

READY = r"^pileup practice s3 ready at (?P<url>\S+)$"


class PracticeS3Target(S3Target):
    """S3 of known truth: signatures are checked, and service times, limits and faults are set, and logged.

    With `launch` pileup starts one on this machine and ends it after the run; what it did to each request is in
    `practice-s3.csv` in the folder of the target below the run, and in `practice-s3-2.csv` and so on after restarts.
    Its settings are those of `pileup practice s3`, for example `launch: {service: {lognormal: [20 ms, 0.5]}, faults:
    [{kind: refuse, share: 1 %}]}`. Without credentials its usual key is used, `pileup` with the secret `open-sesame`.
    With a url instead, it is a target of kind `s3`.
    """

    kind = "practice-s3"
    launch_settings = S3Settings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        port = S3Settings.model_validate(settings).port or "{port}"  # the same one again after a restart
        told = {SETTINGS: json.dumps(settings)}  # as written: quantities keep their units
        command = (sys.executable, "-m", "pileup", "practice", "s3", "--port", str(port))
        return Launcher.one((*command, "--log", "{folder}/practice-s3{again}.csv"), READY, environment=told)

    def keys(self) -> Keys | None:
        """Return who signs: where the suite says nothing, the usual key."""
        given = any(getattr(self.credentials, word) is not None for word in KEY_WORDS)
        return super().keys() if given or self.anonymous else Keys(CLIENT, SECRET)
