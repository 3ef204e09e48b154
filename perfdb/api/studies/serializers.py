"""Serializers of studies and reports, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers

from perfdb.api.serializers import AddressField
from perfdb.results.models import ReportItem


class StudyNoteSerializer(serializers.Serializer[Any]):
    """A remark on a study's data, and the tables concerned."""

    tables = serializers.ListField(child=serializers.CharField(), default=list, help_text="The tables it is about")
    text = serializers.CharField()


class StudyChangeSerializer(serializers.Serializer[Any]):
    """Changes of a study. Omitted fields stay."""

    title = serializers.CharField(max_length=200, required=False)
    purpose = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    method = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    source = serializers.CharField(allow_blank=True, required=False)  # type: ignore[assignment] # a field's own name
    notes = StudyNoteSerializer(many=True, required=False)
    run_id_pattern = serializers.CharField(
        allow_blank=True,
        required=False,
        help_text="A template such as `NM{device:2}{users:2}`, or a regular expression with a named group a dimension",
    )
    run_id_values = serializers.DictField(
        child=serializers.DictField(child=serializers.CharField()),
        required=False,
        help_text="By group of the pattern: code and the value it means",
    )
    trend_order = serializers.CharField(
        required=False,
        help_text="What orders the points of trends: `date`, `campaign`, `level`, `kernel`, `commit`, or `factor.NAME`",
    )
    plan = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Parts: lists of values by dimension, beside `name` and `trials`",
    )
    state = serializers.CharField(
        required=False, help_text="The `state` that was read: 409 where somebody has changed the study since"
    )


class NewStudySerializer(StudyChangeSerializer):
    """A new study.

    Without `slug`, perfdb makes the slug from the title.
    """

    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)


class WholeStudySerializer(StudyChangeSerializer):
    """A study with all its texts.

    `shared` is the published address of the report. It is null if there is none, and for users who may not change the
    study.
    """

    slug = serializers.CharField()
    owner = serializers.CharField(allow_null=True)
    shared = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    aliases = serializers.URLField()
    runs = serializers.URLField()
    items = serializers.URLField()


class SharedSerializer(serializers.Serializer[Any]):
    """The address at which everybody can read the report."""

    shared = serializers.URLField(help_text="The published address")


class TriedSerializer(serializers.Serializer[Any]):
    """The dimensions that a pattern reads from a run ID.

    `says` is null if the pattern does not match.
    """

    run_id = serializers.CharField()
    says = serializers.DictField(child=serializers.CharField(), allow_null=True)
    stored = serializers.DictField(child=serializers.CharField(), help_text="What stored runs have otherwise")
    runs = serializers.IntegerField(help_text="Stored runs of this id")


class TryPatternSerializer(serializers.Serializer[Any]):
    """A pattern, and run IDs to try it on.

    Without `run_ids`, the run IDs of the study are used.
    """

    run_id_pattern = serializers.CharField()
    run_id_values = serializers.DictField(child=serializers.DictField(child=serializers.CharField()), default=dict)
    run_ids = serializers.ListField(child=serializers.CharField(), default=list, max_length=50)


class PatternTriedSerializer(serializers.Serializer[Any]):
    """The regular expression of a pattern, and its result for each run ID."""

    regex = serializers.CharField()
    results = TriedSerializer(many=True)


class MoveSerializer(serializers.Serializer[Any]):
    """The runs to move, and the study to move the runs to."""

    to = serializers.CharField(help_text="Slug of the other study")
    runs = serializers.CharField(
        default="", allow_blank=True, help_text="Parameters of the list of runs, such as `upload=12`; blank for all"
    )
    preview = serializers.BooleanField(default=False, help_text="Count them, and move none")


class LeftSerializer(serializers.Serializer[Any]):
    """A run that was left unchanged, and the reason."""

    run = serializers.IntegerField()
    run_id = serializers.CharField()
    why = serializers.CharField()


class WorkSerializer(serializers.Serializer[Any]):
    """The progress of a job that changes runs.

    `state` is null if no such job was ever requested.
    """

    state = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField(help_text="How many were looked at, or would be")
    changed = serializers.IntegerField()
    left = LeftSerializer(many=True)
    url = serializers.URLField()


class ItemChangeSerializer(serializers.Serializer[Any]):
    """Changes of an item. Omitted fields stay.

    `version` is the version that was read; the answer is 409 if there is a newer one.
    """

    title = serializers.CharField(max_length=300, required=False)
    number = serializers.CharField(max_length=20, required=False, allow_blank=True)
    queries = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Query strings, or addresses of pages that answer"
    )
    prose = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    version = serializers.IntegerField(min_value=1)


class NewItemSerializer(serializers.Serializer[Any]):
    """A new item of a report.

    The item is put before the item with the id `before`, or at the end.
    """

    kind = serializers.ChoiceField(ReportItem.Kind.choices)
    title = serializers.CharField(max_length=300)
    number = serializers.CharField(max_length=20, default="", allow_blank=True)
    queries = serializers.ListField(child=serializers.CharField(), default=list)
    prose = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    half = serializers.BooleanField(default=False, help_text="Draw a figure in half the width")
    before = serializers.IntegerField(required=False)


class ItemSerializer(serializers.Serializer[Any]):
    """An item of a report."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    number = serializers.CharField()
    title = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField())
    prose = serializers.CharField()
    half = serializers.BooleanField()
    version = serializers.IntegerField()
    written_with = serializers.IntegerField(allow_null=True, help_text="Runs of the study when its prose was written")
    url = AddressField("api:report-item", "study.slug", "pk")


class ItemListSerializer(serializers.Serializer[Any]):
    """The items of a report in order.

    `runs` is the present number of runs in the study.
    """

    runs = serializers.IntegerField()
    results = ItemSerializer(many=True)


class OrderSerializer(serializers.Serializer[Any]):
    """The ids of items in the new order.

    Omitted items follow in their old order.
    """

    order = serializers.ListField(child=serializers.IntegerField(), max_length=1000)


class ItemRemovedSerializer(serializers.Serializer[Any]):
    """The address that undoes the removal, by a POST."""

    put_back = serializers.URLField()
