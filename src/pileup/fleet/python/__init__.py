"""Python tests in this process: clients, threads, coroutines, and their output."""
