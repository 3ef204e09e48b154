"""From a run draft (printed text) to a run record (numbers, checked): units are converted here and nowhere else.

``prepare`` never raises for what a log says. What cannot be converted is a problem on the record; evidence that
contradicts itself marks the record as refused, so that nothing of it is stored.
"""

from perfdb.results.runs.normalize.alias_dimensions import Aliases
from perfdb.results.runs.normalize.assemble_record import Context, prepare
from perfdb.results.runs.normalize.reading_problems import FoundProblems

__all__ = ["Aliases", "Context", "FoundProblems", "prepare"]
