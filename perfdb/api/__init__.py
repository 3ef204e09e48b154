"""The REST interface under /api/v1/; stands on results and analysis, never on web."""
