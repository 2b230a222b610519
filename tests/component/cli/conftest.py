"""The command line in this process, with the fake plug-ins."""

from tests.fakes import fake_plugins

__all__ = ["fake_plugins"]
