"""Serializers of changes of many runs."""

from typing import Any

from rest_framework import serializers

from perfdb.results.changes.withdraw import MAX_REASON_LENGTH
from perfdb.results.queries.run_list.filters import MOST_NUMBERED


class ChosenSerializer(serializers.Serializer[Any]):
    """Choice of runs, by numbers or by a query string."""

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
    """Tags to add and to remove."""

    add = serializers.ListField(child=serializers.CharField(), default=list)
    remove = serializers.ListField(child=serializers.CharField(), default=list)


class TaggedSerializer(serializers.Serializer[Any]):
    """Number of runs that gained each tag, and that lost each."""

    added = serializers.DictField(child=serializers.IntegerField())
    removed = serializers.DictField(child=serializers.IntegerField())


class WithdrawSerializer(ChosenSerializer):
    """Runs to withdraw, and the reason."""

    reason = serializers.CharField(max_length=MAX_REASON_LENGTH)


class ChangedSerializer(serializers.Serializer[Any]):
    """Number of runs that changed, without those already in the requested state."""

    runs = serializers.IntegerField()
