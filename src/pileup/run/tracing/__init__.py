"""Sessions made through a relay, to be traced: operations of the engine, or a command of the user's."""
