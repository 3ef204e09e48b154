"""What people are told of events of trends, and how that went."""

from django.conf import settings
from django.db import models

from perfdb.results.models.dimensions import Study
from perfdb.results.models.trend import TrendEvent


class Subscription(models.Model):
    """A wish to be told of events: of a study or of all, that hold a change with the given properties.

    ``query`` names metrics and dimensions, as in ``device=OSA``. ``address`` is a mail address, or the URL of a webhook
    whose messages are signed with ``secret``.
    """

    class Effect(models.TextChoices):
        """Which changes count."""

        ANY = "", "any change"
        REGRESSED = "regressed", "regressions"
        IMPROVED = "improved", "improvements"

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="subscriptions")
    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="subscriptions")
    effect = models.CharField(max_length=9, blank=True, choices=Effect)
    query = models.TextField(blank=True)
    address = models.TextField()
    secret = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "subscription"
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return self.address

    @property
    def is_webhook(self) -> bool:
        """Return whether messages are posted to a URL."""
        return self.address.startswith(("https://", "http://"))


class Delivery(models.Model):
    """A message to a subscription's address: about an event, or a test without one.

    ``due`` is the time of the next attempt; ``answer`` tells how the last one ended.
    """

    class State(models.TextChoices):
        """How far the message has come."""

        WAITING = "waiting"
        SENT = "sent"
        FAILED = "failed"

    subscription = models.ForeignKey(Subscription, models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(TrendEvent, models.CASCADE, null=True, related_name="deliveries")
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    message = models.JSONField()
    attempts = models.IntegerField(default=0)
    due = models.DateTimeField()
    answer = models.TextField(blank=True)
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)

    class Meta:
        db_table = "delivery"
        ordering = ["-created", "-pk"]
        indexes = [models.Index(fields=["due"], condition=models.Q(state="waiting"), name="delivery_due")]
        constraints = [models.UniqueConstraint(fields=["subscription", "event"], name="delivery_once_an_event")]

    def __str__(self) -> str:
        return f"message {self.pk} to {self.subscription}"
