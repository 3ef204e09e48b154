"""Django's PostgreSQL backend with a cheaper health check, and helpers for SQL."""
