"""Serializers of tables for OpenAPI; ``analysis.render.exports.json`` makes the answers."""

from typing import Any

from rest_framework import serializers

from perfdb.analysis.comparison.comparison import Effect, NoiseSource, Verdict
from perfdb.analysis.insights import bottleneck
from perfdb.analysis.insights.circumstances import Weight
from perfdb.analysis.insights.throughput_curve import Course, Edge
from perfdb.analysis.metrics import Better
from perfdb.api.serializers import PageSerializer


class NoteSerializer(serializers.Serializer[Any]):
    """A warning; `code` is for scripts."""

    code = serializers.CharField()
    message = serializers.CharField()


class PointSerializer(serializers.Serializer[Any]):
    """One measurement of a sample; `run` is the run's id."""

    run = serializers.IntegerField()
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    value = serializers.FloatField()


class NoiseSerializer(serializers.Serializer[Any]):
    """The noise estimate of a comparison; `sd` is of natural logarithms."""

    source = serializers.ChoiceField(list(NoiseSource))  # type: ignore[assignment] # declared fields leave the class
    sd = serializers.FloatField(allow_null=True)
    freedom = serializers.FloatField(allow_null=True)
    noisy = serializers.BooleanField(help_text="The cell's own spread is larger than its group's and stands for itself")


class DiffSerializer(serializers.Serializer[Any]):
    """A cell relative to its baseline: `percent`, `delta` in %, `interval`, `band` as ratios."""

    percent = serializers.FloatField(allow_null=True)
    ratio = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    p = serializers.FloatField(allow_null=True)
    q = serializers.FloatField(allow_null=True, help_text="p after Benjamini and Hochberg over the table")
    verdict = serializers.ChoiceField(list(Verdict))
    effect = serializers.ChoiceField(list(Effect))
    within = serializers.BooleanField(help_text="The 90 % interval lies inside ±delta")
    delta = serializers.FloatField()
    noise = NoiseSerializer()
    band = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    detectable = serializers.FloatField(allow_null=True, help_text="Smallest change that could be seen, ratio minus 1")
    trials_needed = serializers.IntegerField(allow_null=True)
    n_base = serializers.IntegerField()
    base_mean = serializers.FloatField(allow_null=True)
    warnings = serializers.ListField(child=serializers.CharField())


class ComparisonSummarySerializer(serializers.Serializer[Any]):
    """Summary of matched cells with one baseline: mean ratio and verdict counts."""

    against = serializers.DictField()
    of = serializers.DictField()
    cells = serializers.IntegerField()
    ratio = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    smallest = serializers.FloatField(allow_null=True)
    largest = serializers.FloatField(allow_null=True)
    up = serializers.IntegerField()
    down = serializers.IntegerField()
    same = serializers.IntegerField()
    undecided = serializers.IntegerField()
    uniform = serializers.BooleanField(help_text="False: the ratios differ by more than noise; read the cells")


class CurveSerializer(serializers.Serializer[Any]):
    """The user counts `after` and `start` between which throughput levels off, or null."""

    course = serializers.ChoiceField(list(Course))
    after = serializers.IntegerField(allow_null=True)
    start = serializers.IntegerField(allow_null=True)
    peak = serializers.FloatField(allow_null=True)
    peak_users = serializers.IntegerField(allow_null=True)
    tail = serializers.FloatField(allow_null=True)
    edge = serializers.ChoiceField(list(Edge), allow_null=True)
    sentence = serializers.CharField()


class LineCurveSerializer(CurveSerializer):
    """The curve of one line of a table; `key` has its other dimensions."""

    key = serializers.DictField()


class FlagSerializer(serializers.Serializer[Any]):
    """Flagged trials, which still count."""

    code = serializers.CharField()
    message = serializers.CharField()
    runs = serializers.ListField(child=serializers.IntegerField())


class NotedSerializer(serializers.Serializer[Any]):
    """A person's note on one of a cell's runs."""

    run = serializers.IntegerField()
    run_id = serializers.CharField(allow_blank=True)
    trial = serializers.IntegerField(allow_null=True)
    text = serializers.CharField()


class CellSerializer(serializers.Serializer[Any]):
    """A sample with its summary; `row` and `column` are indexes from 0."""

    row = serializers.IntegerField()
    column = serializers.IntegerField()
    n = serializers.IntegerField()
    mean = serializers.FloatField(allow_null=True)
    centre = serializers.FloatField(allow_null=True)
    interval = serializers.ListField(child=serializers.FloatField(), allow_null=True)
    values = PointSerializer(many=True)
    diff = DiffSerializer(allow_null=True)
    mixes = serializers.DictField(child=serializers.ListField())
    warnings = NoteSerializer(many=True)
    notes = NotedSerializer(many=True)


class TableSerializer(serializers.Serializer[Any]):
    """One metric laid out in rows and columns."""

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
    summaries = ComparisonSummarySerializer(many=True)
    curves = LineCurveSerializer(many=True)
    flags = FlagSerializer(many=True)


class ReasonSerializer(serializers.Serializer[Any]):
    """A number that decided a verdict."""

    name = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()


class LimitSerializer(serializers.Serializer[Any]):
    """An experiment's bottleneck; `component` is the role at or near its limit, if any."""

    verdict = serializers.ChoiceField(list(bottleneck.Verdict))
    component = serializers.CharField(allow_null=True)
    sentence = serializers.CharField()
    formula = serializers.CharField(help_text="The rule with the numbers put in")
    reasons = ReasonSerializer(many=True)


class RunnerUpSerializer(serializers.Serializer[Any]):
    """An experiment tied with the best; `diff` is its difference from the best."""

    dimensions = serializers.DictField()
    mean = serializers.FloatField()
    runs = serializers.ListField(child=serializers.IntegerField())
    diff = DiffSerializer()


class BestSerializer(serializers.Serializer[Any]):
    """Evidence of a group's best experiment; `dimensions` are those that vary."""

    of = serializers.DictField()
    dimensions = serializers.DictField()
    runs = serializers.ListField(child=serializers.IntegerField())
    curve = CurveSerializer(allow_null=True)
    limit = LimitSerializer()
    runners_up = RunnerUpSerializer(many=True)


class AnswerSerializer(serializers.Serializer[Any]):
    """The tables that answer a query."""

    query = serializers.CharField(help_text="The query as understood, in canonical order")
    tables = TableSerializer(many=True)
    warnings = NoteSerializer(many=True)


class TablesSerializer(AnswerSerializer):
    """The answer to a query."""

    best = BestSerializer(many=True, help_text="Of a query that picks experiments; else empty")


class DifferenceSerializer(serializers.Serializer[Any]):
    """A circumstance that differs between the sides; a side without values has none recorded."""

    key = serializers.CharField()
    old = serializers.ListField(child=serializers.CharField())
    new = serializers.ListField(child=serializers.CharField())
    weight = serializers.ChoiceField(list(Weight))
    why = serializers.CharField()


class LeftOverSerializer(serializers.Serializer[Any]):
    """An experiment without a match; `side` is `old` or `new`."""

    side = serializers.ChoiceField(["old", "new"])
    dimensions = serializers.DictField()
    runs = serializers.ListField(child=serializers.IntegerField())
    reason = serializers.CharField()


class AgainstSerializer(serializers.Serializer[Any]):
    """One value compared with the baseline."""

    new = serializers.JSONField()
    pairs = serializers.IntegerField()
    differs = DifferenceSerializer(many=True)
    looked_at = serializers.IntegerField(help_text="How many runs `differs` is told from")
    left_over = LeftOverSerializer(many=True)


class ComparisonSerializer(AnswerSerializer, AgainstSerializer):
    """Values of a dimension compared with one; `query` returns the tables."""

    dimension = serializers.CharField()
    old = serializers.JSONField()
    sign = serializers.ListField(child=serializers.CharField(), help_text="What a positive difference means")
    others = AgainstSerializer(many=True, help_text="Further new values, each with what stands above of the first")


class ReportItemSerializer(serializers.Serializer[Any]):
    """A table or chart of a report."""

    number = serializers.CharField()
    title = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField())


class ReportSerializer(serializers.Serializer[Any]):
    """The content of a study's report."""

    tables = ReportItemSerializer(many=True)
    figures = ReportItemSerializer(many=True)


class ReportCellSerializer(CellSerializer):
    """A cell with its dimensions; `printed` is the document's text or null."""

    dimensions = serializers.DictField()
    metric = serializers.CharField()
    role = serializers.CharField()
    unit = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    printed = serializers.CharField(allow_null=True)
    printed_diff = serializers.CharField(allow_null=True, help_text="The document's difference in per cent")


class ReportPartSerializer(TableSerializer):
    """A part of a report's table."""

    cells = ReportCellSerializer(many=True)


class ReportTableSerializer(serializers.Serializer[Any]):
    """A table of a report; several parts have several queries."""

    number = serializers.CharField()
    title = serializers.CharField()
    query = serializers.CharField(help_text="The first of `queries`")
    queries = serializers.ListField(child=serializers.CharField())
    tables = ReportPartSerializer(many=True)
    warnings = NoteSerializer(many=True)


class DisagreementSerializer(serializers.Serializer[Any]):
    """An inconsistent number; `recomputed` and `interval` are in `unit`."""

    kind = serializers.CharField()
    severity = serializers.CharField()
    table = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    run = serializers.IntegerField()
    run_id = serializers.CharField()
    metric = serializers.CharField()
    role = serializers.CharField()
    dimensions = serializers.DictField()
    printed = serializers.CharField()
    recomputed = serializers.FloatField()
    interval = serializers.ListField(child=serializers.FloatField())
    unit = serializers.CharField()
    formula = serializers.CharField()
    message = serializers.CharField()


class ProblemListSerializer(PageSerializer):
    """A page of the audit of a study."""

    results = DisagreementSerializer(many=True)
