"""What a run has left, according to its journal: resumed or undone."""
