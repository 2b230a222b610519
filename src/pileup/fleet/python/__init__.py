"""Python tests pressed in this process: clients, threads, coroutines, what they print."""
