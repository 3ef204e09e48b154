"""From a run draft (printed text) to a run record (numbers, checked): units are converted here and nowhere else.

``prepare`` never raises for what a log says. What cannot be converted is a problem on the record; evidence that
contradicts itself marks the record as refused, so that nothing of it is stored.
"""

from perfdb.results.prepare.aliases import Aliases
from perfdb.results.prepare.assemble import Context, prepare
from perfdb.results.prepare.found import FoundProblems

__all__ = ["Aliases", "Context", "FoundProblems", "prepare"]
