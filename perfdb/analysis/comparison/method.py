"""How perfdb compares, as declarations: what a page of documentation is rendered from and tests run.

Each says one thing that is calculated or concluded, with its formula, its reason, its source and worked examples.
"""

from perfdb.analysis.comparison.method_of_pairs import CELLS
from perfdb.analysis.comparison.method_of_verdicts import VERDICTS
from perfdb.analysis.comparison.method_statement import Declaration

# In the order of reading; declarations of one section stand together.
DECLARATIONS: tuple[Declaration, ...] = (*CELLS, *VERDICTS)
