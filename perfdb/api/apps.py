"""App configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST interface; owns no models."""

    name = "perfdb.api"
