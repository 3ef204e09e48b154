"""App configuration."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """The pages; own no models."""

    name = "perfdb.web"
