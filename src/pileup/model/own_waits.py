"""Waits of pileup itself inside a load: separate operations, named as in the engine's `client.rs`."""

from __future__ import annotations

EXPECT_WAIT = "expect-wait"
"""A body was held back until the server agreed to it (Expect: 100-continue), and no answer came."""
RECONNECT_PAUSE = "reconnect-pause"
"""A client paused after a connection that could not be made."""
BESIDE_RELAY = "beside-relay"
"""A redirect led past the relay before the target: no time passed."""
OWN_WAITS = frozenset({EXPECT_WAIT, RECONNECT_PAUSE, BESIDE_RELAY})
"""Operations that are not of the system: nothing was requested or answered."""
