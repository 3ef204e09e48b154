"""Measurements of perfdb's own speed and memory: ``python -m bench``, and ``python -m bench.parsing`` for the importers."""
