"""Results of loads: when one became steady, how well it was held, the highest level, where it stalled."""
