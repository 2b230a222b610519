"""The compiled engine and its stubs: `_native` is built from crates/pileup-py. No logic lives here."""
