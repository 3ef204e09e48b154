"""Tests of runs, studies, uploads and their jobs."""
