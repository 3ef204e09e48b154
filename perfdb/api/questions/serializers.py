"""Serializers of named queries and frozen links, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers

from perfdb.api.tables.serializers import ComparisonSerializer, TablesSerializer
from perfdb.results.models import Page
from perfdb.results.queries.saved_queries import LONGEST_NAME


class QuestionSerializer(serializers.Serializer[Any]):
    """A question, as in the address of the page that answers the question."""

    page = serializers.ChoiceField(Page.choices)
    query = serializers.CharField(help_text="The query string of the page")


class NewSavedQuerySerializer(QuestionSerializer):
    """A question, and the name to save the question under."""

    name = serializers.CharField(max_length=LONGEST_NAME)
    replace = serializers.BooleanField(default=False, help_text="Take the place of your own query of that name")


class SavedQueryChangeSerializer(serializers.Serializer[Any]):
    """Changes of a named query. Omitted fields stay.

    Send `page` and `query` together when the question changes.
    """

    name = serializers.CharField(max_length=LONGEST_NAME, required=False)
    page = serializers.ChoiceField(Page.choices, required=False)
    query = serializers.CharField(required=False)


class SavedQuerySerializer(QuestionSerializer):
    """A named query."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    study = serializers.CharField(allow_null=True, help_text="The only study that it is about, if it is one")
    owner = serializers.CharField()
    created = serializers.DateTimeField()
    changed = serializers.DateTimeField()
    error = serializers.CharField(allow_null=True, help_text="Why it is not understood any more, if it is not")
    url = serializers.URLField()
    address = serializers.URLField(help_text="Opens it in a browser")


class SavedQueryListSerializer(serializers.Serializer[Any]):
    """All named queries."""

    results = SavedQuerySerializer(many=True)


class FrozenLinkSerializer(QuestionSerializer):
    """A frozen link.

    `digest` is the digest of the stored rows.
    """

    token = serializers.CharField()
    created = serializers.DateTimeField(help_text="The numbers are as of then")
    made_by = serializers.CharField(allow_null=True)
    digest = serializers.CharField()
    url = serializers.URLField()
    address = serializers.URLField(help_text="Opens it in a browser")


class ChangesSerializer(serializers.Serializer[Any]):
    """Changes of the data since the link was frozen, as ids of runs.

    If all three lists are empty, only notes, circumstances or earlier campaigns have changed.
    """

    added = serializers.ListField(child=serializers.IntegerField())
    gone = serializers.ListField(child=serializers.IntegerField())
    altered = serializers.ListField(child=serializers.IntegerField(), help_text="There, with other values")


class FrozenAnswerSerializer(FrozenLinkSerializer):
    """A frozen link with its answer.

    One of `tables` and `comparison` is present, the other is null.
    """

    changes = ChangesSerializer(allow_null=True, help_text="Null while today's answer rests on the same rows")
    tables = TablesSerializer(allow_null=True)
    comparison = ComparisonSerializer(allow_null=True)
