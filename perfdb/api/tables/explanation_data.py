"""An explanation as plain data, with its serializers."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers

from perfdb.analysis.render.exports.json import diff_data, sample_data
from perfdb.api.tables.comparison_data import difference_body, limit_data
from perfdb.api.tables.serializers import DifferenceSerializer, DiffSerializer, LimitSerializer, PointSerializer
from perfdb.results.queries.explain import Explanation, Moved, Side


class SideSerializer(serializers.Serializer[Any]):
    """One of the two sides."""

    title = serializers.CharField()
    values = PointSerializer(many=True)
    limit = LimitSerializer(allow_null=True)


class ComparedSerializer(serializers.Serializer[Any]):
    """A compared dimension."""

    dimension = serializers.CharField()
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)


class MovedSerializer(serializers.Serializer[Any]):
    """Another metric; `beyond` is the difference in standard errors."""

    metric = serializers.CharField()
    role = serializers.CharField()
    old = serializers.FloatField(allow_null=True)
    new = serializers.FloatField(allow_null=True)
    diff = DiffSerializer()
    beyond = serializers.FloatField(allow_null=True)
    decided = serializers.BooleanField(help_text="Whether it moved by more than its noise explains")


class ExplanationSerializer(serializers.Serializer[Any]):
    """The explanation of a difference."""

    metric = serializers.CharField()
    role = serializers.CharField()
    where = serializers.DictField(help_text="In what both sides are equal, of what their table shows")
    old = SideSerializer()
    new = SideSerializer()
    diff = DiffSerializer()
    compared = ComparedSerializer(many=True)
    differs = DifferenceSerializer(many=True)
    moved = MovedSerializer(many=True, help_text="Those first that moved furthest beyond their noise")
    flags = serializers.ListField(child=serializers.CharField())
    problems = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField())


def explanation_body(found: Explanation) -> dict[str, Any]:
    """Return an explanation; numbers are unrounded."""
    return {
        "metric": found.measure.metric,
        "role": found.measure.role,
        "where": dict(found.where),
        "old": _side(found.old),
        "new": _side(found.new),
        "diff": diff_data(found.comparison),
        "compared": [{"dimension": name, "old": old, "new": new} for name, old, new in found.compared],
        "differs": [difference_body(each) for each in found.differs],
        "moved": [_moved(each) for each in found.moved],
        "flags": found.flags,
        "problems": [f"{each.run}: {each.message}" for each in found.problems],
        "notes": found.notes,
    }


def _side(side: Side) -> Mapping[str, Any]:
    limit = limit_data(side.limit) if side.limit else None
    return {"title": side.title, "values": sample_data(side.sample), "limit": limit}


def _moved(each: Moved) -> Mapping[str, Any]:
    return {
        "metric": each.measure.metric,
        "role": each.measure.role,
        "old": each.old,
        "new": each.new,
        "diff": diff_data(each.comparison),
        "beyond": each.beyond,
        "decided": each.decided,
    }
