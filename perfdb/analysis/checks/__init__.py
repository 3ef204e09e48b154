"""Checks of evidence and results: pure functions on plain numbers that answer findings and never raise."""
