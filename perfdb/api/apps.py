"""App configuration."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    """The REST API, an app without models."""

    name = "perfdb.api"
