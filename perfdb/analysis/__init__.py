"""Pure calculations without Django or database: units, queries, tables, comparison, checks and renderings."""
