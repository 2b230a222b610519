"""Sessions of a client, traced by a relay: connections, messages, round trips, and who took how long.

`acts` makes sessions, `tracer` records them, `session` takes one apart. docs/distance.md has the method.
"""
