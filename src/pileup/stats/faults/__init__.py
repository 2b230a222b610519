"""What faults did to the loads under way, and for how long the system was away."""
