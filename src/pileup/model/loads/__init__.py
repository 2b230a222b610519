"""How a load presses: a module for each shape, which owns its checks, its words and what the engine is told.

`load.Load` has the words of all of them and the list of shapes.
"""
