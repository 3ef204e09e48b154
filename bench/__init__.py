"""Benchmarks of perfdb: ``python -m bench``, ``python -m bench.browser`` and ``python -m bench.peers``."""
