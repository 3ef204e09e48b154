"""What is asked and answered about published tables."""

from typing import Any

from rest_framework import serializers

from importers.published.mapping import Mapping
from importers.published.pasted_tables import Syntax
from perfdb.api.serializers import UploadReferenceSerializer
from perfdb.results.ingest.uploads import DECISIONS

LONGEST_TEXT = 1024 * 1024


class MappingField(serializers.JSONField):
    """The mapping of one table as `docs/published-tables.md` describes it, or null where it is to be guessed."""

    def to_internal_value(self, data: Any) -> Any:
        """The Mapping, or None; raises ValidationError for what is no mapping."""
        if data is None:
            return None
        try:
            return Mapping.from_json(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class NewTablesSerializer(serializers.Serializer[Any]):
    """Tables to read, preview or load. ``mapping`` has one for each table in their order."""

    text = serializers.CharField(max_length=LONGEST_TEXT, trim_whitespace=False, help_text="The tables as pasted")
    format = serializers.ChoiceField(
        [each.value for each in Syntax], required=False, help_text="How they are written; recognised unless said"
    )
    study = serializers.SlugField(
        required=False, default="", allow_blank=True, help_text="Where the runs go; your inbox unless said"
    )
    create_study = serializers.BooleanField(default=True, help_text="Make the study when there is none")
    mapping = serializers.ListField(
        child=MappingField(allow_null=True), default=list, help_text="What the headings of each table mean"
    )
    decisions = serializers.DictField(
        child=serializers.ChoiceField(DECISIONS), default=dict, help_text="`run_id/trial` of a conflict: what to do"
    )
    preview = serializers.BooleanField(default=False, help_text="Answer what would be stored, and store nothing")


class GuessSerializer(serializers.Serializer[Any]):
    """Why a part of a mapping is what it is; no value where nothing is known."""

    value = serializers.CharField(allow_blank=True)
    certainty = serializers.FloatField()
    reason = serializers.CharField(allow_blank=True)


class ReadTableSerializer(serializers.Serializer[Any]):
    """A table as it was read."""

    title = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField()
    mapping = serializers.DictField()
    why = serializers.DictField(child=GuessSerializer())
    open = serializers.ListField(child=serializers.CharField())


class PublishedFigureSerializer(serializers.Serializer[Any]):
    """A figure as printed, and in the unit of its metric (null where it could not be converted)."""

    measure = serializers.CharField()
    printed = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True)
    table = serializers.CharField()
    line = serializers.IntegerField()


class PreviewedRunSerializer(serializers.Serializer[Any]):
    """A run and what would become of it."""

    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.CharField()
    dimensions = serializers.DictField()
    figures = PublishedFigureSerializer(many=True)


class PreviewedPercentSerializer(serializers.Serializer[Any]):
    """A printed difference: how much larger the figure of ``compared`` is."""

    measure = serializers.CharField()
    printed = serializers.CharField()
    compared = serializers.CharField()
    baseline = serializers.CharField()
    table = serializers.CharField()
    line = serializers.IntegerField()


class FoundProblemSerializer(serializers.Serializer[Any]):
    """Something that could not be accepted, or a figure that does not follow from the others (``audit.…``)."""

    severity = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField(allow_null=True)


class TablesPreviewSerializer(serializers.Serializer[Any]):
    """What loading would store. ``upload`` is there when it was stored."""

    format = serializers.CharField()
    tables = ReadTableSerializer(many=True)
    runs = PreviewedRunSerializer(many=True)
    differences = PreviewedPercentSerializer(many=True)
    problems = FoundProblemSerializer(many=True)


class TablesLoadedSerializer(UploadReferenceSerializer):
    """The upload that brought the tables, settled."""
