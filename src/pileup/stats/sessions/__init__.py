"""What a session costs: round trips counted in what a relay has seen, and a line fitted to check them."""
