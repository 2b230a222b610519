"""How long a system took to come to rest after the load of a point, as samples under one name."""

COOLDOWN = "cooldown"
"""Their name, as that of a monitor."""
TIME_TO_IDLE = "time_to_idle"
"""Time from the end of the load to the sample by which the system was at rest, s."""
STILL_BUSY = "still_busy_after"
"""Time from the end of the load to the last look, s, where the system was not at rest by then: it would take longer."""
