"""Serializers of search results."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter
from rest_framework import serializers

from perfdb.results.queries.name_search import Kind

SEARCH_PARAMETERS = [
    OpenApiParameter("q", str, OpenApiParameter.QUERY, required=True, description="Words, all of which must occur"),
    OpenApiParameter("size", int, OpenApiParameter.QUERY, description="Most of each kind, 1 to 50; 10 unless said"),
]


class HitSerializer(serializers.Serializer[Any]):
    """A search result: an object whose name or text has the words."""

    kind = serializers.ChoiceField([kind.value for kind in Kind])
    name = serializers.CharField(help_text="A title, a name, a run id, a path, or the text of a note")
    text = serializers.CharField(help_text="What else was looked through, such as a study's purpose; may be empty")
    url = serializers.URLField(help_text="The resource, or the list of the runs that have it")


class SearchSerializer(serializers.Serializer[Any]):
    """Search results, the best of each kind first."""

    near = serializers.BooleanField(help_text="Whether nothing has all the words, and these are like them")
    results = HitSerializer(many=True)
