"""Serializers of trends, for OpenAPI."""

from typing import Any

from rest_framework import serializers

from perfdb.analysis.trends.changes import Shape
from perfdb.analysis.trends.judge import State


class TrendPointSerializer(serializers.Serializer[Any]):
    """A campaign of a series."""

    campaign = serializers.CharField()
    date = serializers.DateTimeField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    value = serializers.FloatField(help_text="Mean of the trials, in the unit of the metric")
    n = serializers.IntegerField(help_text="Number of trials")


class TrendChangeSerializer(serializers.Serializer[Any]):
    """A change of a series; `percent` with its 95% ends is null on a linear scale, which has `difference` instead."""

    k = serializers.IntegerField(help_text="Index of the first point of the new level; 0 for drifts and levels")
    campaign = serializers.CharField()
    place = serializers.ListField(child=serializers.IntegerField(), help_text="First and last point where it may lie")
    shape = serializers.ChoiceField([each.value for each in Shape])
    state = serializers.CharField(help_text=f"One of: {', '.join(State)}")
    percent = serializers.FloatField(allow_null=True)
    difference = serializers.FloatField(allow_null=True, help_text="In the unit of the metric")
    low = serializers.FloatField()
    high = serializers.FloatField()
    p = serializers.FloatField()
    q = serializers.FloatField()
    small = serializers.BooleanField(help_text="Real, but within 2%")


class TrendTailSerializer(serializers.Serializer[Any]):
    """The last one or two points against the current level; `points` is 0 if none can be told."""

    p = serializers.FloatField()
    points = serializers.IntegerField()
    suspect = serializers.BooleanField()


class TrendSeriesSerializer(serializers.Serializer[Any]):
    """One metric of one experiment over its campaigns; `p` is null with fewer than 6 campaigns."""

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
    series = TrendSeriesSerializer(many=True)
