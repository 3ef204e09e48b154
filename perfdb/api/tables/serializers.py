"""Serializers of tables for OpenAPI; ``analysis.render.exports.json`` makes the answers."""

from typing import Any

from rest_framework import serializers

from perfdb.analysis.insights import bottleneck
from perfdb.analysis.insights.circumstances import Weight
from perfdb.analysis.insights.throughput_curve import Course, Edge
from perfdb.analysis.metrics import Better
from perfdb.analysis.render.exports import json
from perfdb.analysis.verdicts.cells import Comparison, Effect, Reason, Scope, Verdict


class NoteSerializer(serializers.Serializer[Any]):
    """A warning about an answer.

    `code` is stable for scripts, and `message` is for people.
    """

    code = serializers.CharField()
    message = serializers.CharField()


class PointSerializer(serializers.Serializer[Any]):
    """One measurement of a sample.

    `run` is the id of the run, and `run_id` its name in the study.
    """

    run = serializers.IntegerField()
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    value = serializers.FloatField()


class NoiseSerializer(serializers.Serializer[Any]):
    """The noise that a verdict rests on, with its degrees of freedom."""

    source = serializers.ChoiceField(["campaigns", "trials", "none"])  # type: ignore[assignment] # declared fields leave the class
    freedom = serializers.FloatField(allow_null=True)


class NextStepSerializer(serializers.Serializer[Any]):
    """The number of trials or campaigns a side that would decide a cell."""

    kind = serializers.ChoiceField(["trials", "campaigns"])
    about = serializers.IntegerField()


class DiffSerializer(serializers.Serializer[Any]):
    """The difference of a cell from its baseline.

    `percent` and `delta` are in per cent; `interval`, `band` and `against` are ratios. `scope` says whether the verdict
    covers other days (`days_known`, with the noise of `campaigns` campaigns) or holds in these runs alone.
    """

    percent = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    p = serializers.FloatField(allow_null=True)
    q = serializers.FloatField(allow_null=True, help_text="p after Benjamini and Hochberg over all metrics")
    verdict = serializers.ChoiceField(list(Verdict))
    scope = serializers.ChoiceField(list(Scope))
    effect = serializers.ChoiceField(list(Effect))
    delta = serializers.FloatField()
    campaigns = serializers.IntegerField(help_text="How many campaigns stand behind the noise of days")
    paired = serializers.BooleanField(help_text="Only campaigns that hold both sides are compared")
    noise = NoiseSerializer()
    reason = serializers.CharField(
        allow_null=True, help_text=f"Of cannot_tell: {', '.join(Reason)}. Also why a cell is not comparable or mixed"
    )
    next = NextStepSerializer(allow_null=True)
    band = serializers.ListField(child=serializers.FloatField(), allow_null=True, help_text="Of single runs")
    against = serializers.FloatField(allow_null=True, help_text="Ratio to the median of the other cells")
    stands_out = serializers.BooleanField(help_text="Differs from the other cells, though the verdict cannot tell")
    small = serializers.BooleanField(help_text="The same within delta, and yet a real difference")
    n_base = serializers.IntegerField()
    n = serializers.IntegerField()
    base_mean = serializers.FloatField(allow_null=True)
    words = serializers.CharField()

    def to_representation(self, instance: Comparison) -> dict[str, Any]:
        """Return a comparison as in the cells of tables."""
        return json.diff_data(instance)


class SidesSerializer(serializers.Serializer[Any]):
    """The compared sides: `against` is the baseline and `of` the side."""

    against = serializers.DictField()
    of = serializers.DictField()


class ShiftSerializer(SidesSerializer):
    """How far all cells of one side moved together.

    `ratio` is the median; `allowance` is the ratio by which days alone move them, null if days are not known.
    """

    ratio = serializers.FloatField(allow_null=True)
    up = serializers.IntegerField()
    down = serializers.IntegerField()
    allowance = serializers.FloatField(allow_null=True)


class ComparisonSummarySerializer(SidesSerializer):
    """A summary of all cells of one side, compared with their baseline.

    `ratio` is the geometric mean of the cells' ratios. `verdicts` counts the cells by verdict.
    """

    cells = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    smallest = serializers.FloatField(allow_null=True)
    largest = serializers.FloatField(allow_null=True)
    verdicts = serializers.DictField(child=serializers.IntegerField())
    uniform = serializers.BooleanField(help_text="False: the ratios differ by more than noise; read the cells")
    scope = serializers.ChoiceField(list(Scope))


class CurveSerializer(serializers.Serializer[Any]):
    """The course of throughput over users.

    Throughput levels off between `after` and `start` users; both are null if throughput does not level off.
    """

    course = serializers.ChoiceField(list(Course))
    after = serializers.IntegerField(allow_null=True)
    start = serializers.IntegerField(allow_null=True)
    peak = serializers.FloatField(allow_null=True)
    peak_users = serializers.IntegerField(allow_null=True)
    tail = serializers.FloatField(allow_null=True, help_text="Change of the last point from the level, a share")
    unseen = serializers.FloatField(allow_null=True, help_text="Change that noise hides; null if noise is unknown")
    edge = serializers.ChoiceField(list(Edge), allow_null=True)
    sentence = serializers.CharField()


class LineCurveSerializer(CurveSerializer):
    """The curve of one line of a table.

    `key` has the values of the other dimensions of the line.
    """

    key = serializers.DictField()


class FlagSerializer(NoteSerializer):
    """A remark on suspicious trials, which still count."""

    runs = serializers.ListField(child=serializers.IntegerField())


class NotedSerializer(serializers.Serializer[Any]):
    """A person's note on one of a cell's runs."""

    run = serializers.IntegerField()
    run_id = serializers.CharField(allow_blank=True)
    trial = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class CellSerializer(serializers.Serializer[Any]):
    """A sample with its summary.

    `row` and `column` are positions in the table's lists `rows` and `columns`, from 0.
    """

    row = serializers.IntegerField()
    column = serializers.IntegerField()
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    centre = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    range = serializers.ListField(
        child=serializers.FloatField(),
        allow_null=True,
        help_text="Smallest and largest value of runs that differ in more than the table shows; they have no mean",
    )
    values = PointSerializer(many=True)
    diff = DiffSerializer(allow_null=True)
    mixes = serializers.DictField(child=serializers.ListField())
    warnings = NoteSerializer(many=True)
    notes = NotedSerializer(many=True)


class TableSerializer(serializers.Serializer[Any]):
    """One metric laid out in rows and columns.

    `common` has the dimensions in which all runs of the table agree, and `split` those that distinguish the table from
    the others.
    """

    title = serializers.CharField()
    metric = serializers.CharField()
    role = serializers.CharField()
    unit = serializers.CharField()
    better = serializers.ChoiceField(list(Better))
    split = serializers.DictField()
    common = serializers.DictField()
    rows = serializers.ListField(child=serializers.DictField())
    columns = serializers.ListField(child=serializers.DictField())
    cells = CellSerializer(many=True)
    shift = ShiftSerializer(many=True)
    summary = ComparisonSummarySerializer(many=True)
    curves = LineCurveSerializer(many=True)
    flags = FlagSerializer(many=True)


class ReasonSerializer(serializers.Serializer[Any]):
    """A number that decided a verdict."""

    name = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()


class LimitSerializer(serializers.Serializer[Any]):
    """The bottleneck of an experiment.

    `component` is the role at or near its limit; null if there is no such role.
    """

    verdict = serializers.ChoiceField(list(bottleneck.Verdict))
    component = serializers.CharField(allow_null=True)
    sentence = serializers.CharField()
    formula = serializers.CharField(help_text="The rule with the numbers put in")
    reasons = ReasonSerializer(many=True)


class RunnerUpSerializer(serializers.Serializer[Any]):
    """An experiment that does not clearly differ from the best one.

    `diff` is its difference from the best.
    """

    dimensions = serializers.DictField(source="key")
    mean = serializers.FloatField()
    runs = serializers.ListField(child=serializers.IntegerField())
    diff = DiffSerializer(source="comparison")


class BestSerializer(serializers.Serializer[Any]):
    """The best experiment of a group, with the evidence.

    `of` is the group, and `dimensions` are those that vary in the group.
    """

    of = serializers.DictField()
    dimensions = serializers.DictField()
    runs = serializers.ListField(child=serializers.IntegerField())
    curve = CurveSerializer(allow_null=True)
    limit = LimitSerializer()
    runners_up = RunnerUpSerializer(many=True)


class AnswerSerializer(serializers.Serializer[Any]):
    """The tables that answer a query, with warnings."""

    query = serializers.CharField(help_text="The query as understood, in canonical order")
    tables = TableSerializer(many=True)
    warnings = NoteSerializer(many=True)


class TablesSerializer(AnswerSerializer):
    """The answer to a query: its tables, and the evidence for the best experiments."""

    best = BestSerializer(many=True, help_text="Of a query that picks experiments; else empty")


class DifferenceSerializer(serializers.Serializer[Any]):
    """A circumstance that differs between the two sides.

    The list of a side is empty if the circumstance is not recorded there.
    """

    key = serializers.CharField()
    old = serializers.ListField(child=serializers.CharField())
    new = serializers.ListField(child=serializers.CharField())
    weight = serializers.ChoiceField(list(Weight))
    why = serializers.CharField()


class LeftOverSerializer(serializers.Serializer[Any]):
    """An experiment without a match on the other side.

    `side` is `old` or `new`, and `dimensions` are those that vary.
    """

    side = serializers.ChoiceField(["old", "new"])
    dimensions = serializers.DictField()
    runs = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.CharField()


class AgainstSerializer(serializers.Serializer[Any]):
    """The comparison of one new value with the old value."""

    new = serializers.JSONField()
    pairs = serializers.IntegerField()
    differs = DifferenceSerializer(many=True)
    looked_at = serializers.IntegerField(help_text="How many runs `differs` is told from")
    left_over = LeftOverSerializer(many=True)


class ComparisonSerializer(AnswerSerializer, AgainstSerializer):
    """Values of a dimension, compared with one of them.

    `query` asks for the tables of pairs, with a row for each pair and old before new. The fields beside the tables are
    of the first new value.
    """

    dimension = serializers.CharField()
    old = serializers.JSONField()
    sign = serializers.ListField(child=serializers.CharField(), help_text="What a positive difference means")
    others = AgainstSerializer(many=True, help_text="Further new values, each with what stands above of the first")


class SideSerializer(serializers.Serializer[Any]):
    """One of the two sides: its name, its measurements and its bottleneck."""

    title = serializers.CharField()
    values = PointSerializer(source="sample", many=True)
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

    metric = serializers.CharField(source="measure.metric")
    role = serializers.CharField(source="measure.role")
    old = serializers.FloatField(allow_null=True)
    new = serializers.FloatField(allow_null=True)
    diff = DiffSerializer(source="comparison")
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
