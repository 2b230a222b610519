"""Tests of storage, whatever its protocol."""
