"""Where a run's load comes from: its fleets, their agents, their environment."""
