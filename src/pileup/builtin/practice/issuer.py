"""The practice token issuer as a kind of target."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pileup.builtin.credentials.identity import Identity
from pileup.builtin.oauth.target import Oauth2Target
from pileup.model.practice import CLIENT, SECRET, SETTINGS, IssuerSettings
from pileup.plugin import Launcher

READY = r"^pileup practice issuer ready at (?P<url>\S+)$"


class PracticeIssuerTarget(Oauth2Target):
    """Token issuer of known truth: its clients, lifetimes, delays, limits and faults are set, and logged.

    With `launch` pileup starts one on this machine and ends it after the run, for example `launch: {lifetime: 1 min,
    service: {exponential: 20 ms}, rate: 50 /s}`; its settings are those of `pileup practice issuer`. In the folder of
    the target below the run, `practice-issuer.csv` says what was done to each request (`practice-issuer-2.csv` after a
    restart), and `keys.json` has the keys that prove its tokens. Without credentials pileup is the client `pileup`
    with the secret `open-sesame`, which the issuer knows unless its settings say otherwise.
    """

    kind = "practice-issuer"
    launch_settings = IssuerSettings

    @classmethod
    def launcher(cls, settings: Mapping[str, object], folder: Path) -> Launcher | None:
        """Return how to start one. Raises ValueError for a setting that is unknown or out of bounds."""
        port = IssuerSettings.model_validate(settings).port or "{port}"  # the same one again after a restart
        told = {SETTINGS: json.dumps(settings)}  # as written: quantities keep their units
        command = (sys.executable, "-m", "pileup", "practice", "issuer", "--port", str(port))
        logs = ("--public-keys", "{folder}/keys.json", "--log", "{folder}/practice-issuer{again}.csv")
        return Launcher.one((*command, *logs), READY, environment=told)

    @property
    def identity(self) -> Identity:
        """Who pileup is for it: the client that it knows, where the suite names none."""
        found = super().identity
        return found if found.user is not None else replace(found, user=CLIENT, password=SECRET)
