"""The control plane of XRootD: sessions of the engine's own client for Python, one for each thread."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from pileup.builtin.xrootd.location import ClientSettings
from pileup.plugin import Ambiguous, Cause, Failed, NotThere, Refused, TargetError, ThereAlready

if TYPE_CHECKING:
    from pileup._core import _native
    from pileup.builtin.xrootd.official import OfficialSession

    Session = _native.Session | OfficialSession

STATS, CONFIG = 1, 7
"""Codes of queries (XProtocol.hh, XQueryType: kXR_QStats, kXR_Qconfig)."""
FOLDER = 2
"""Bit of the flags of a stat (XProtocol.hh, XStatRespFlags: kXR_isDir)."""


class Sessions:
    """Sessions of one target: each thread has its own, connected when it is first used."""

    def __init__(self, settings: ClientSettings, patience: float) -> None:
        self._settings = settings
        self._patience = patience
        self._local = threading.local()

    @contextmanager
    def session(self, about: str) -> Iterator[Session]:
        """Lend the session of this thread for requests about something; what goes wrong is raised as a verdict.

        Raises Failed, Refused, Ambiguous; TargetError for settings that cannot be used.
        """
        try:
            yield self._own()
        except FileNotFoundError as problem:
            raise NotThere(f"there is nothing at {about}") from problem
        except FileExistsError as problem:
            raise ThereAlready(f"{about}: {problem}") from problem
        except PermissionError as problem:
            refused = Refused(f"{about}: {problem}").because(Cause(getattr(problem, "cause", Cause.NONE)))
            raise refused from problem
        except TimeoutError as problem:
            self.close()
            raise Ambiguous(f"{about}: {problem}") from problem
        except OSError as problem:
            raise Failed(f"{about}: {problem}") from problem

    def close(self) -> None:
        """End the session of this thread, if there is one."""
        session = getattr(self._local, "session", None)
        self._local.session = None
        if session is not None:
            with suppress(OSError):
                session.close()

    def _own(self) -> Session:
        session: Session | None = getattr(self._local, "session", None)
        if session is None:
            try:
                session = self._made()
            except ValueError as problem:
                raise TargetError(str(problem)) from problem
            self._local.session = session
        return session

    def _made(self) -> Session:
        if "proxy" in self._settings:
            from pileup.builtin.xrootd.official import OfficialSession  # noqa: PLC0415  of an extra

            return OfficialSession(self._settings, self._patience)
        # here, so that the kind can be described where the engine is not built
        from pileup._core import _native  # noqa: PLC0415

        return _native.Session("xroot", json.dumps(self._settings), self._patience)
