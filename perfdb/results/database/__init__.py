"""Django's PostgreSQL, with another way to find out whether a connection still holds."""
