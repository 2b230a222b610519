"""Rucio, a catalogue of files and replicas: the kind of target, its REST interface, a private one."""
