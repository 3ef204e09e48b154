"""Renderings of tables: grids, charts and export files."""
