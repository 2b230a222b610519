"""Tests of catalogues: log in, list, create, attach, register, look up, delete."""
