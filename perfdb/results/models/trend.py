"""Trends: changes in the histories of a study's experiments, events of changes at one place, and acts of people.

Subscriptions to events, and deliveries of messages about events.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from perfdb.results.models.dimensions import Row, Study


class TrendLook(Row):
    """The last look at a study's histories; ``changed`` is the time of the study's last change before.

    ``series`` were judged, ``short`` have too few points.
    """

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, related_name="look")
    changed = models.DateTimeField()
    looked = models.DateTimeField()
    number = models.IntegerField(default=0)
    order = models.TextField(default="date")
    series = models.IntegerField(default=0)
    short = models.IntegerField(default=0)

    class Meta:
        db_table = "trend_look"


class TrendEvent(Row):
    """Changes of many series at one place; ``run`` and ``began`` find its campaign again.

    ``summary`` tells the event without reading runs. ``version`` rises with each change of members or acts.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="trend_events")
    order = models.TextField(default="date")
    run = models.BigIntegerField()
    began = models.TextField(blank=True)
    summary = models.JSONField(default=dict)
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    link = models.TextField(blank=True)
    version = models.IntegerField(default=1)
    created = models.DateTimeField(auto_now_add=True)
    announced = models.DateTimeField(null=True)

    class Meta:
        db_table = "trend_event"
        indexes = [models.Index(fields=["-began", "-id"], name="trend_event_newest")]

    @property
    def state(self) -> str:
        """Return ``new`` if a change waits for a person, ``open`` if one is not closed, ``closed``, or ``gone``."""
        phases = {row.phase for row in self.changes.all()}
        if phases & {"suspect", "confirmed"}:
            return "new"
        return "open" if "acknowledged" in phases else "closed" if phases else "gone"

    @property
    def late(self) -> bool:
        """Return whether all changes had many points after them when they were found."""
        rows = self.changes.all()
        return bool(rows) and all(row.late for row in rows)


class TrendChange(Row):
    """A change of one series: one metric of one experiment, named by ``series``, a digest of metric and ``dimensions``.

    The place is numbered over the points of the last look, and found again by ``run`` and ``began`` of the first point
    after the change. ``before`` is a digest of the points before a frozen change. Sizes are logarithms of ratios with
    ``logarithmic``, else in the metric's unit.
    """

    study = models.ForeignKey(Study, models.CASCADE, related_name="trend_changes")
    order = models.TextField(default="date")
    series = models.CharField(max_length=16)
    metric = models.TextField()
    dimensions = models.JSONField(default=dict)
    event = models.ForeignKey(TrendEvent, models.SET_NULL, null=True, related_name="changes")
    run = models.BigIntegerField()
    began = models.TextField(blank=True)
    k = models.IntegerField()
    first = models.IntegerField()
    last = models.IntegerField()
    points = models.IntegerField()
    shape = models.CharField(max_length=6)
    steps = models.IntegerField(null=True)
    logarithmic = models.BooleanField()
    difference = models.FloatField()
    low = models.FloatField()
    high = models.FloatField()
    p = models.FloatField()
    q = models.FloatField()
    small = models.BooleanField(default=False)
    phase = models.CharField(max_length=12)
    reason = models.CharField(max_length=8, blank=True)
    sure = models.BooleanField(default=False)
    frozen = models.BooleanField(default=False)
    late = models.BooleanField(default=False)
    misses = models.IntegerField(default=0)
    moves = models.IntegerField(default=0)
    before = models.CharField(max_length=16, blank=True)
    data_changed = models.BooleanField(default=False)
    seen = models.DateTimeField(auto_now_add=True)
    confirmed = models.DateTimeField(null=True)

    class Meta:
        db_table = "trend_change"
        indexes = [models.Index(fields=["study", "series"], name="trend_change_series")]
        constraints = [models.CheckConstraint(condition=Q(first__lte=models.F("last")), name="trend_change_place")]


class TrendAct(Row):
    """What a person did about an event, some of the event's ``changes``, or a ``change`` that belongs to none."""

    class Act(models.TextChoices):
        ACKNOWLEDGE = "acknowledge"
        ASSIGN = "assign"
        LINK = "link"
        CLOSE = "close"
        REOPEN = "reopen"
        SPLIT = "split"

    event = models.ForeignKey(TrendEvent, models.CASCADE, null=True, related_name="acts")
    change = models.ForeignKey(TrendChange, models.CASCADE, null=True, related_name="acts")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    act = models.CharField(max_length=11, choices=Act)
    reason = models.CharField(max_length=8, blank=True)
    note = models.TextField(blank=True)
    changes = models.JSONField(default=list)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        db_table = "trend_act"
        ordering = ["at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(event__isnull=False, change__isnull=True) | Q(event__isnull=True, change__isnull=False),
                name="trend_act_about_one",
            )
        ]


class Subscription(Row):
    """A wish to be told of events: of a study or of all, that hold a change with the given properties.

    ``query`` names metrics and dimensions, as in ``device=OSA``. ``address`` is a mail address, or the URL of a webhook
    whose messages are signed with ``secret``.
    """

    class Effect(models.TextChoices):
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

    @property
    def is_webhook(self) -> bool:
        """Return whether messages are posted to a URL."""
        return self.address.startswith(("https://", "http://"))


class Delivery(Row):
    """A message to a subscription's address: about an event, or a test without one.

    ``due`` is the time of the next attempt; ``answer`` tells how the last one ended.
    """

    class State(models.TextChoices):
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
