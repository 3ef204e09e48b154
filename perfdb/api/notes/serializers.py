"""The shapes of requests and answers about notes, as OpenAPI describes them."""

from typing import Any

from rest_framework import serializers


class NewNoteSerializer(serializers.Serializer[Any]):
    """A text to be kept with a run."""

    text = serializers.CharField(trim_whitespace=False, help_text="Plain text; lines are kept")


class RunNoteSerializer(serializers.Serializer[Any]):
    """What somebody wrote about a run."""

    id = serializers.IntegerField()
    run = serializers.IntegerField()
    text = serializers.CharField()
    author = serializers.CharField(allow_null=True)
    created = serializers.DateTimeField()
    edited = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField()


class RunNoteListSerializer(serializers.Serializer[Any]):
    """The notes on a run, oldest first."""

    results = RunNoteSerializer(many=True)
