"""Verdicts on differences between runs, by the noise between trials and between campaigns."""
