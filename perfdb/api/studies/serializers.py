"""Serializers of studies and reports, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers

from perfdb.results.models import ReportItem


class StudyNoteSerializer(serializers.Serializer[Any]):
    """A remark on a study's data."""

    tables = serializers.ListField(child=serializers.CharField(), default=list, help_text="The tables it is about")
    text = serializers.CharField()


class StudyChangeSerializer(serializers.Serializer[Any]):
    """Changes of a study; omitted fields stay."""

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
    plan = serializers.ListField(
        child=serializers.DictField(),
        required=False,
        help_text="Parts: lists of values by dimension, beside `name` and `trials`",
    )
    state = serializers.CharField(
        required=False, help_text="The `state` that was read: 409 where somebody has changed the study since"
    )


class NewStudySerializer(StudyChangeSerializer):
    """A new study; without `slug`, the slug follows from the title."""

    title = serializers.CharField(max_length=200)
    slug = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)


class WholeStudySerializer(StudyChangeSerializer):
    """A study with all its texts; `shared` is its published address, for editors."""

    slug = serializers.CharField()
    owner = serializers.CharField(allow_null=True)
    shared = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    aliases = serializers.URLField()
    runs = serializers.URLField()
    items = serializers.URLField()


class SharedSerializer(serializers.Serializer[Any]):
    """The public address of the report."""

    shared = serializers.URLField(help_text="The published address")


class TriedSerializer(serializers.Serializer[Any]):
    """Dimensions in a run ID; `says` is null if the pattern does not match."""

    run_id = serializers.CharField()
    says = serializers.DictField(child=serializers.CharField(), allow_null=True)
    stored = serializers.DictField(child=serializers.CharField(), help_text="What stored runs have otherwise")
    runs = serializers.IntegerField(help_text="Stored runs of this id")


class TryPatternSerializer(serializers.Serializer[Any]):
    """A pattern and run IDs to try, by default those of the study."""

    run_id_pattern = serializers.CharField()
    run_id_values = serializers.DictField(child=serializers.DictField(child=serializers.CharField()), default=dict)
    run_ids = serializers.ListField(child=serializers.CharField(), default=list, max_length=50)


class PatternTriedSerializer(serializers.Serializer[Any]):
    """The regular expression of a pattern, and its results."""

    regex = serializers.CharField()
    results = TriedSerializer(many=True)


class MoveSerializer(serializers.Serializer[Any]):
    """Runs to move, and the target study."""

    to = serializers.CharField(help_text="Slug of the other study")
    runs = serializers.CharField(
        default="", allow_blank=True, help_text="Parameters of the list of runs, such as `upload=12`; blank for all"
    )
    preview = serializers.BooleanField(default=False, help_text="Count them, and move none")


class LeftSerializer(serializers.Serializer[Any]):
    """A run left unchanged, and the reason."""

    run = serializers.IntegerField()
    run_id = serializers.CharField()
    why = serializers.CharField()


class WorkSerializer(serializers.Serializer[Any]):
    """Progress of a change of runs; `state` is null before any request."""

    state = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField(help_text="How many were looked at, or would be")
    changed = serializers.IntegerField()
    left = LeftSerializer(many=True)
    url = serializers.URLField()


class ItemChangeSerializer(serializers.Serializer[Any]):
    """Changes of an item; `version` is the version read: 409 if outdated."""

    title = serializers.CharField(max_length=300, required=False)
    number = serializers.CharField(max_length=20, required=False, allow_blank=True)
    queries = serializers.ListField(
        child=serializers.CharField(), required=False, help_text="Query strings, or addresses of pages that answer"
    )
    prose = serializers.CharField(allow_blank=True, required=False, trim_whitespace=False)
    version = serializers.IntegerField(min_value=1)


class NewItemSerializer(serializers.Serializer[Any]):
    """A new item, at the end of the report or before item `before`."""

    kind = serializers.ChoiceField(ReportItem.Kind.choices)
    title = serializers.CharField(max_length=300)
    number = serializers.CharField(max_length=20, default="", allow_blank=True)
    queries = serializers.ListField(child=serializers.CharField(), default=list)
    prose = serializers.CharField(allow_blank=True, default="", trim_whitespace=False)
    before = serializers.IntegerField(required=False)


class ItemSerializer(serializers.Serializer[Any]):
    """An item of a report."""

    id = serializers.IntegerField()
    kind = serializers.CharField()
    number = serializers.CharField()
    title = serializers.CharField()
    queries = serializers.ListField(child=serializers.CharField())
    prose = serializers.CharField()
    version = serializers.IntegerField()
    written_with = serializers.IntegerField(allow_null=True, help_text="Runs of the study when its prose was written")
    url = serializers.URLField()


class ItemListSerializer(serializers.Serializer[Any]):
    """The items of a report in order, with the present number of runs."""

    runs = serializers.IntegerField()
    results = ItemSerializer(many=True)


class OrderSerializer(serializers.Serializer[Any]):
    """Item ids in the new order; omitted ones follow in the old order."""

    order = serializers.ListField(child=serializers.IntegerField(), max_length=1000)


class ItemRemovedSerializer(serializers.Serializer[Any]):
    """The removed item; a POST to `put_back` restores it."""

    put_back = serializers.URLField()
