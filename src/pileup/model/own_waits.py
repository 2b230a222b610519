"""Time that pileup lets pass by itself inside a load: operations of their own, named by the engine's `client.rs`."""

from __future__ import annotations

EXPECT_WAIT = "expect-wait"
"""A body was held back until the server said that it would have it (Expect: 100-continue), and no word came."""
RECONNECT_PAUSE = "reconnect-pause"
"""A client paused after a connection that could not be made."""
BESIDE_RELAY = "beside-relay"
"""A redirect led past the relay before the target: no time passed."""
OWN_WAITS = frozenset({EXPECT_WAIT, RECONNECT_PAUSE, BESIDE_RELAY})
"""No operations of the system: nothing was asked, and nothing was answered."""
