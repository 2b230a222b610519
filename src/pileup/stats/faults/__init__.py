"""Effects of faults on the loads, and how long the system was unavailable."""
