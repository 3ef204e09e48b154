"""The Django app that owns models, loading, derivation, jobs and the one entry of SQL for tables."""
