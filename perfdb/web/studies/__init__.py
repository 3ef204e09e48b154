"""Pages of studies: list, report, audit, editing, aliases, and test plan."""
