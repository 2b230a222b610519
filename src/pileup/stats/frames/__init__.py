"""What the frames of a case say: its window, its totals, its seconds, its blocks, its distributions."""
