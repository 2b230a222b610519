"""The charts of a page: what each draws, and the style that all share."""
