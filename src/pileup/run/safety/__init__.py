"""Guard rails: a run stays inside its limits, and changes only what is its own."""
