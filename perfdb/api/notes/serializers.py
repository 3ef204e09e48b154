"""Serializers of notes, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers


class NewNoteSerializer(serializers.Serializer[Any]):
    """A new note."""

    text = serializers.CharField(trim_whitespace=False, help_text="Plain text; lines are kept")


class RunNoteSerializer(serializers.Serializer[Any]):
    """A person's note on a run."""

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
