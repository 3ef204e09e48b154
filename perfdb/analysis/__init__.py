"""Pure calculations: units, metrics, formulas, queries, tables, checks and renderings. No Django, no database."""
