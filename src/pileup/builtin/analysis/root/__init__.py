"""Reading with ROOT's RDataFrame, in a process of its own for each client."""
