"""Comparisons, best experiments and explanations as plain data, and explanations' serializers."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from perfdb.analysis.insights.best_evidence import RunnerUp
from perfdb.analysis.insights.bottleneck import Bottleneck
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.exports import json
from perfdb.analysis.render.exports.json import diff_data, sample_data
from perfdb.analysis.tables.matched_pairs import LeftOver, Sides
from perfdb.analysis.verdicts import words
from perfdb.api.tables.serializers import DifferenceSerializer, DiffSerializer, LimitSerializer, PointSerializer
from perfdb.results.queries.bottlenecks import Best
from perfdb.results.queries.compare import ComparedValue, Comparison
from perfdb.results.queries.explain import Explanation, Moved, Side


def comparison_body(found: Comparison) -> dict[str, Any]:
    """Return a comparison: tables of pairs, other differences, and experiments left over.

    The fields beside the tables are of the first compared value; ``others`` has the same for each further value.
    """
    first, *others = found.parts
    sides = first.matched.sides
    return {
        "dimension": sides.dimension,
        "old": sides.old,
        "sign": list(dict.fromkeys(words.sign_rule(table.metric) for table in found.tables)),
        **json.render(found.query, found.tables),
        **_against(first),
        "others": [_against(each) for each in others],
    }


def _against(part: ComparedValue) -> dict[str, Any]:
    return {
        "new": part.matched.sides.new,
        "pairs": part.matched.pairs,
        "differs": list(map(asdict, part.differs)),
        "looked_at": part.looked_at,
        "left_over": [_left_over(each, part.matched.sides) for each in part.matched.left_over],
    }


def _left_over(each: LeftOver, sides: Sides) -> dict[str, Any]:
    side = "old" if each.side == sides.old else "new"
    return {"side": side, "dimensions": dict(each.key), "runs": list(each.runs), "reason": each.reason}


def best_body(query: Query, found: Sequence[Best]) -> list[dict[str, Any]]:
    """Return the evidence of the best experiment of each group of a query."""
    return [_best(query, each) for each in found]


def _best(query: Query, best: Best) -> dict[str, Any]:
    names = query.pick.dimensions if query.pick else ()
    evidence = best.evidence
    return {
        "of": dict(zip(names, evidence.group, strict=True)),
        "dimensions": dict(evidence.key),
        "runs": [run.id for run in best.runs],
        "curve": json.curve_data(evidence.curve, evidence.edge) if evidence.curve else None,
        "limit": limit_data(best.limit),
        "runners_up": [_runner_up(each) for each in evidence.runners_up],
    }


def limit_data(limit: Bottleneck) -> dict[str, Any]:
    """Return an experiment's bottleneck with the deciding numbers."""
    return {
        "verdict": limit.verdict.value,
        "component": limit.component,
        "sentence": limit.sentence,
        "formula": limit.formula,
        "reasons": list(map(asdict, limit.reasons)),
    }


def _runner_up(each: RunnerUp) -> dict[str, Any]:
    return {
        "dimensions": dict(each.key),
        "mean": each.mean,
        "runs": list(each.runs),
        "diff": json.diff_data(each.comparison),
    }


class SideSerializer(serializers.Serializer[Any]):
    """One of the two sides: its name, its measurements and its bottleneck."""

    title = serializers.CharField()
    values = PointSerializer(many=True)
    limit = LimitSerializer(allow_null=True)


class ComparedSerializer(serializers.Serializer[Any]):
    """A compared dimension, with its value on each side."""

    dimension = serializers.CharField()
    old = serializers.JSONField(allow_null=True)
    new = serializers.JSONField(allow_null=True)


class MovedSerializer(serializers.Serializer[Any]):
    """Another metric that was measured on both sides.

    `beyond` is the difference in units of its standard error.
    """

    metric = serializers.CharField()
    role = serializers.CharField()
    old = serializers.FloatField(allow_null=True)
    new = serializers.FloatField(allow_null=True)
    diff = DiffSerializer()
    beyond = serializers.FloatField(allow_null=True)
    decided = serializers.BooleanField(help_text="Whether it moved by more than its noise explains")


class ExplanationSerializer(serializers.Serializer[Any]):
    """The evidence about a difference between two sides.

    `compared` has the compared dimensions, `differs` the other circumstances that differ, and `moved` the other
    metrics.
    """

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
        "differs": list(map(asdict, found.differs)),
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
