"""The pages; stand on results and analysis, never on api."""
