"""Rows of users: saved queries, frozen links, API tokens and sign-in links.

Only digests of tokens and links are stored.
"""

from django.conf import settings
from django.db import models

from perfdb.results.models.dimensions import Row


class Page(models.TextChoices):
    """The page that shows the answer to a question."""

    CHARTS = "charts"
    COMPARE = "compare"
    MAXIMUM = "maximum"

    @classmethod
    def _missing_(cls, value: object) -> "Page | None":
        """Return the page of an address, ``/ranking/?…``."""
        return cls.MAXIMUM if value == "ranking" else None


class SavedQuery(Row):
    """A named question: a page and a query string, answered anew whenever opened."""

    name = models.CharField(max_length=200)
    page = models.CharField(max_length=7, choices=Page)
    query = models.TextField()
    # The study that lists the query; empty for a query over all studies.
    study = models.ForeignKey("results.Study", models.CASCADE, null=True, related_name="saved_queries")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        db_table = "saved_query"
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="saved_query_name")]


class FrozenLink(Row):
    """A question with the rows that answered it, at a short address.

    ``rows`` are compressed, and go through the same code as rows of the database. ``digest`` shows whether the same
    question has another answer today.
    """

    token = models.CharField(max_length=22, unique=True)
    page = models.CharField(max_length=7, choices=Page)
    query = models.TextField()
    rows = models.BinaryField()
    digest = models.CharField(max_length=64)
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "frozen_link"


class ApiToken(Row):
    """A user's token for scripts; only the digest is stored."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    name = models.TextField()
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_token"


class SignInLink(Row):
    """A link that signs a user in once before ``expires``."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    class Meta:
        db_table = "sign_in_link"
