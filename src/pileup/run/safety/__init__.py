"""What keeps a run inside its limits and off what is not its own."""
