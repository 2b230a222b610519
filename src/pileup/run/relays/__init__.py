"""Relays before targets: started and ended like servers, told of another path while they run."""
