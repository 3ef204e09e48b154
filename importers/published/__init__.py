"""Published tables that anybody may bring: text to grids, headings to meanings, cells to runs and figures."""
