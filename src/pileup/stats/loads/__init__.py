"""What a load found: when it became steady, how well it was held, the highest level, where it stalled."""
