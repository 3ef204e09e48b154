"""Root of the addresses: pages at /, the API at /api/."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("perfdb.api.urls")),
    path("", include("perfdb.web.urls")),
]
