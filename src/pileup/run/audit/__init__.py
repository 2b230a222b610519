"""What became of each submission, asked of the target."""
