"""Comparison of samples: noise, ratio with interval, verdict, and summary of a table."""
