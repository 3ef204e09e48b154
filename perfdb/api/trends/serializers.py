"""Serializers of trends, for OpenAPI."""

from typing import Any

from rest_framework import serializers

from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.states import Phase, Reason
from perfdb.results.models import TrendAct


class TrendPointSerializer(serializers.Serializer[Any]):
    """A campaign of a series."""

    campaign = serializers.CharField()
    date = serializers.DateTimeField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    value = serializers.FloatField(help_text="Mean of the trials, in the unit of the metric")
    n = serializers.IntegerField(help_text="Number of trials")


class TrendChangeSerializer(serializers.Serializer[Any]):
    """A change of a series; `percent` with its 95% ends is null on a linear scale, which has `difference` instead."""

    id = serializers.IntegerField()
    event = serializers.IntegerField(allow_null=True, help_text="The event that it belongs to")
    k = serializers.IntegerField(help_text="Index of the first point of the new level; 0 for drifts and levels")
    campaign = serializers.CharField()
    place = serializers.ListField(child=serializers.IntegerField(), help_text="First and last point where it may lie")
    shape = serializers.ChoiceField([each.value for each in Shape])
    state = serializers.CharField(help_text=f"One of: {', '.join(Phase)}")
    reason = serializers.CharField(allow_null=True, help_text=f"Why it was closed: {', '.join(Reason)}")
    percent = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True, help_text="In the unit of the metric")
    low = serializers.FloatField()
    high = serializers.FloatField()
    p = serializers.FloatField()
    q = serializers.FloatField()
    small = serializers.BooleanField(help_text="Real, but within 2%")
    frozen = serializers.BooleanField(help_text="Its place is fixed, and points before it are no longer judged")
    late = serializers.BooleanField(help_text="Had more than 20 points after it when it was found")
    moves = serializers.IntegerField(help_text="How often its place moved with new data")
    data_changed = serializers.BooleanField(help_text="Points before it changed after its place was fixed")
    seen = serializers.DateTimeField()
    confirmed = serializers.DateTimeField(allow_null=True)


class TrendTailSerializer(serializers.Serializer[Any]):
    """The last one or two points against the current level; `points` is 0 if none can be told."""

    p = serializers.FloatField()
    points = serializers.IntegerField()
    suspect = serializers.BooleanField()


class TrendSeriesSerializer(serializers.Serializer[Any]):
    """One metric of one experiment over its campaigns; `p` is null with fewer than 6 campaigns."""

    key = serializers.CharField()
    metric = serializers.CharField()
    unit = serializers.CharField()
    dimensions = serializers.DictField(child=serializers.JSONField())
    n = serializers.IntegerField()
    rho = serializers.FloatField(allow_null=True, help_text="How far a point follows the one before")
    p = serializers.FloatField(allow_null=True)
    q = serializers.FloatField(allow_null=True, help_text="Null for a series with changes, which have their own")
    smallest = serializers.FloatField(
        allow_null=True, help_text="The step in per cent that five more campaigns would show in 4 of 5 cases"
    )
    tail = TrendTailSerializer()
    points = TrendPointSerializer(many=True)
    changes = TrendChangeSerializer(many=True)


class TrendsSerializer(serializers.Serializer[Any]):
    """The trends of a study, judged together."""

    study = serializers.CharField()
    order = serializers.CharField(help_text="What orders the points: date, campaign, level or a factor")
    looked = serializers.DateTimeField(allow_null=True, required=False, help_text="When the study was judged last")
    series = TrendSeriesSerializer(many=True)


class EventSerializer(serializers.Serializer[Any]):
    """An event: changes of many series at one place; `members` and `acts` come with a single one."""

    id = serializers.IntegerField()
    study = serializers.CharField()
    began = serializers.DateTimeField(allow_null=True, help_text="Begin of the first campaign after the change")
    version = serializers.IntegerField(help_text="Rises with each change of the event; send it with an act")
    state = serializers.CharField(help_text="`new` (nobody has decided yet), `open`, `closed` or `gone`")
    late = serializers.BooleanField()
    assignee = serializers.CharField(allow_null=True)
    link = serializers.CharField(allow_null=True)
    parts = serializers.ListField(
        child=serializers.DictField(), help_text="By metric: the shared dimensions, the size, and how many series agree"
    )
    differences = serializers.ListField(
        child=serializers.DictField(), help_text="What else changed at this place: candidates, not causes"
    )
    changes = serializers.ListField(child=serializers.IntegerField())
    created = serializers.DateTimeField()
    announced = serializers.DateTimeField(allow_null=True)
    url = serializers.CharField()
    members = serializers.ListField(child=serializers.DictField(), required=False)
    acts = serializers.ListField(child=serializers.DictField(), required=False)


class EventListSerializer(serializers.Serializer[Any]):
    """Events, newest first."""

    results = EventSerializer(many=True)


class NewActSerializer(serializers.Serializer[Any]):
    """An act on an event, or on some of the event's changes."""

    act = serializers.ChoiceField(TrendAct.Act.choices)
    reason = serializers.ChoiceField(list(Reason), required=False, help_text="Needed to close")
    note = serializers.CharField(required=False, max_length=2000, help_text="Needed to close")
    changes = serializers.ListField(child=serializers.IntegerField(), required=False)
    user = serializers.CharField(required=False, help_text="For assign")
    url = serializers.CharField(required=False, help_text="For link: an issue or commit")
    version = serializers.IntegerField(required=False)


class JudgeSerializer(serializers.Serializer[Any]):
    """The study to judge again."""

    study = serializers.CharField()
