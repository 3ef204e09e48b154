"""Endpoints of the service itself: health, unknown addresses, the recorder."""
