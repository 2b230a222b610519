"""The control plane of XRootD: sessions of the engine's own client for Python, one for each thread."""

from __future__ import annotations

from typing import Any

from pileup.builtin.credentials.control_sessions import EngineSessions
from pileup.builtin.xrootd.location import ClientSettings
from pileup.plugin import ClientSpec

STATS, PREPARE, CONFIG = 1, 2, 7
"""Codes of queries (XProtocol.hh, XQueryType: kXR_QStats, kXR_QPrep, kXR_Qconfig)."""
FOLDER = 2
"""Bit of the flags of a stat (XProtocol.hh, XStatRespFlags: kXR_isDir)."""


class Sessions(EngineSessions):
    """Sessions of one target: of the engine, or of the official client where a proxy gives access."""

    def __init__(self, settings: ClientSettings, patience: float) -> None:
        super().__init__(ClientSpec("xroot", settings), patience)
        self._official, self._time = settings, patience

    def made(self) -> Any:
        """Return a new session."""
        if "proxy" in self._official:
            from pileup.builtin.xrootd.official import OfficialSession  # noqa: PLC0415  of an extra

            return OfficialSession(self._official, self._time)
        return super().made()
