"""Measurements of perfdb's own speed and memory; each module is run by itself (``python -m bench.parsing``)."""
