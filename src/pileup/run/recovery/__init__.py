"""What a run left: known by its journal, resumed or undone."""
