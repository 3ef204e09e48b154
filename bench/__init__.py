"""Measurements of perfdb's own speed and memory: ``python -m bench``; of the importers: ``python -m bench.parsing``."""
