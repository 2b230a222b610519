"""Shapes of loads: a module for each, with its checks, its words and the input of the engine.

`load.Load` has the keys of all of them and the list of shapes.
"""
