"""The targets of a run, and their settings between points."""
