"""Serializers of changes of many runs, and of runs sent as JSON records."""

from typing import Any

from rest_framework import serializers

from importers.model import Status
from importers.run_records import DIMENSIONS
from perfdb.api.serializers import UploadReferenceSerializer
from perfdb.results.changes.withdraw import MAX_REASON_LENGTH
from perfdb.results.models import UploadRun
from perfdb.results.queries.run_list.filters import MOST_NUMBERED


class ChosenSerializer(serializers.Serializer[Any]):
    """The runs to change: give either `runs` or `query`."""

    runs = serializers.ListField(
        child=serializers.IntegerField(min_value=1),
        required=False,
        max_length=MOST_NUMBERED,
        help_text="Numbers of runs",
    )
    query = serializers.CharField(
        required=False, allow_blank=True, help_text="All runs that the list has with this query string"
    )


class TagsSerializer(ChosenSerializer):
    """The runs, and the tags to add and to remove."""

    add = serializers.ListField(child=serializers.CharField(), default=list)
    remove = serializers.ListField(child=serializers.CharField(), default=list)


class TaggedSerializer(serializers.Serializer[Any]):
    """The number of runs that gained each added tag and lost each removed tag."""

    added = serializers.DictField(child=serializers.IntegerField())
    removed = serializers.DictField(child=serializers.IntegerField())


class WithdrawSerializer(ChosenSerializer):
    """The runs to withdraw, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class ChangedSerializer(serializers.Serializer[Any]):
    """The number of runs that changed.

    Runs that were already in the requested state do not count.
    """

    runs = serializers.IntegerField()


class RunRecordSerializer(serializers.Serializer[Any]):
    """A run as a JSON record.

    This schema only documents records: the importer checks them and names each wrong field.
    """

    run_id = serializers.CharField(max_length=200)
    trial = serializers.IntegerField(required=False, min_value=1, max_value=9999, help_text="1 unless said")
    started = serializers.DateTimeField(required=False, help_text="When it was received, unless said")
    status = serializers.CharField(required=False, help_text=f"{', '.join(Status)}; complete unless said")
    study = serializers.SlugField(required=False, help_text="The same in all records of a request")
    dimensions = serializers.DictField(
        child=serializers.CharField(), required=False, help_text=f"Texts or numbers: {', '.join(DIMENSIONS)}"
    )
    factors = serializers.DictField(child=serializers.CharField(), required=False, help_text="The study's own")
    facts = serializers.DictField(child=serializers.CharField(), required=False, help_text="Other circumstances")
    tags = serializers.ListField(child=serializers.CharField(), required=False)
    metrics = serializers.DictField(
        child=serializers.FloatField(),
        help_text='By metric or metric@role: a number, or {"value": 1102, "unit": "us"} in another unit',
    )


class RecordedRunSerializer(serializers.Serializer[Any]):
    """The outcome of one record.

    `id` is the id of the run in perfdb, null if there is none.
    """

    id = serializers.IntegerField(help_text="Of the run", allow_null=True)
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.ChoiceField(UploadRun.Outcome.choices)


class RecordedSerializer(serializers.Serializer[Any]):
    """The upload that keeps the records, and the outcome of each record in order."""

    upload = UploadReferenceSerializer()
    runs = RecordedRunSerializer(many=True)
