"""Checks of evidence and results: pure functions on plain numbers that return findings and never raise."""
