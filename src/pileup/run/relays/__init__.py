"""Relays before targets: started and ended like servers, given another path while they run."""
