"""How perfdb compares, as declarations: what a page of documentation is rendered from and tests run.

Each says one thing that is calculated or concluded, with its formula, its reason, its source and worked examples.
"""

from perfdb.analysis.comparing.declaration import Declaration
from perfdb.analysis.comparing.declared_cells import CELLS
from perfdb.analysis.comparing.declared_verdicts import VERDICTS

# In the order of reading; declarations of one section stand together.
DECLARATIONS: tuple[Declaration, ...] = (*CELLS, *VERDICTS)
