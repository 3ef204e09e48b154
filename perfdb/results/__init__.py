"""Django app of models, imports, queries and jobs."""
