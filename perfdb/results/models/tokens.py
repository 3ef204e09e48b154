"""API tokens and one-time sign-in links, of which only digests are stored."""

from django.conf import settings
from django.db import models


class ApiToken(models.Model):
    """A token for scripts, shown once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    name = models.TextField()
    digest = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(auto_now_add=True)
    last_used = models.DateTimeField(null=True)
    revoked = models.DateTimeField(null=True)

    class Meta:
        db_table = "api_token"

    def __str__(self) -> str:
        return self.name


class SignInLink(models.Model):
    """A link that signs its user in once before ``expires``."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE)
    digest = models.CharField(max_length=64, unique=True)
    expires = models.DateTimeField()
    used = models.DateTimeField(null=True)

    class Meta:
        db_table = "sign_in_link"

    def __str__(self) -> str:
        return f"sign-in link for {self.user}"
