"""REST API under /api/v1/; imports results and analysis, never web."""
