"""What a session costs, as a test."""
