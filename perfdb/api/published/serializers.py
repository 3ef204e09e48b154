"""Serializers of published tables, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers

from importers.published.mapping import Mapping
from importers.published.pasted_tables import Syntax
from perfdb.api.serializers import UploadReferenceSerializer
from perfdb.results.ingest.uploads import DECISIONS

LONGEST_TEXT = 1024 * 1024


class MappingField(serializers.JSONField):
    """The mapping of one table, as `docs/published-tables.md` describes.

    With null, perfdb guesses the mapping.
    """

    def to_internal_value(self, data: Any) -> Any:
        """Return the Mapping, or None for null. Raise ValidationError for anything else."""
        if data is None:
            return None
        try:
            return Mapping.from_json(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class NewTablesSerializer(serializers.Serializer[Any]):
    """Published tables as text, to preview or to store.

    `mapping` has one item for each table, in the order of the tables.
    """

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
    """The reason for one part of a guessed mapping.

    `value` is empty if perfdb has no guess.
    """

    value = serializers.CharField(allow_blank=True)
    certainty = serializers.FloatField()
    reason = serializers.CharField(allow_blank=True)


class ReadTableSerializer(serializers.Serializer[Any]):
    """A table as perfdb reads the text.

    `mapping` is the mapping in use, `why` gives the reason for each guessed part, and `open` lists the parts without a
    guess.
    """

    title = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField()
    mapping = serializers.DictField()
    why = serializers.DictField(child=GuessSerializer())
    open = serializers.ListField(child=serializers.CharField())


class PublishedFigureSerializer(serializers.Serializer[Any]):
    """A printed value.

    `value` is in the unit of its metric; null if perfdb could not convert the number, or another table's value is
    stored instead.
    """

    measure = serializers.CharField()
    printed = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True)
    table = serializers.CharField()
    line = serializers.IntegerField()


class PreviewedRunSerializer(serializers.Serializer[Any]):
    """A run that storing the tables would make, with its expected outcome."""

    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.CharField()
    dimensions = serializers.DictField()
    figures = PublishedFigureSerializer(many=True)


class PreviewedPercentSerializer(serializers.Serializer[Any]):
    """A printed difference of the run `compared` from the run `baseline`.

    `kind` is `difference`, `reduction` or `improvement` (in per cent), or `absolute` (in the metric's unit).
    """

    measure = serializers.CharField()
    kind = serializers.CharField()
    printed = serializers.CharField()
    compared = serializers.CharField()
    baseline = serializers.CharField()
    table = serializers.CharField()
    line = serializers.IntegerField()


class FoundProblemSerializer(serializers.Serializer[Any]):
    """A problem, or a printed value that does not match the others.

    The `code` of such a value begins with `audit.`.
    """

    severity = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField(allow_null=True)


class TablesPreviewSerializer(serializers.Serializer[Any]):
    """Runs and problems that storing the tables would bring. Nothing is stored."""

    format = serializers.CharField()
    tables = ReadTableSerializer(many=True)
    runs = PreviewedRunSerializer(many=True)
    differences = PreviewedPercentSerializer(many=True)
    problems = FoundProblemSerializer(many=True)


class TablesLoadedSerializer(UploadReferenceSerializer):
    """The upload that stored the tables, already settled."""
