"""Normalization: from a run draft (printed text) to a checked run record (numbers).

Units are converted here and nowhere else. ``prepare`` never raises for the content of a log: a value that cannot be
converted is a problem on the record; contradictory evidence marks the record as refused, so that nothing is stored.
"""

from perfdb.results.runs.normalize.alias_dimensions import Aliases
from perfdb.results.runs.normalize.assemble_record import Context, FoundProblems, prepare

__all__ = ["Aliases", "Context", "FoundProblems", "prepare"]
