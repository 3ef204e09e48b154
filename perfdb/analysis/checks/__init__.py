"""Checks of evidence: pure functions that return findings and never raise."""
