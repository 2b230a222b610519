"""The live view of a run, read from its growing folder."""
