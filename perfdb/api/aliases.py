"""Endpoints of a study's aliases."""

from dataclasses import asdict
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.decorators import api_view
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from perfdb.api.permissions import get_own_study, get_study, signed_in
from perfdb.api.schema import describe
from perfdb.api.serializers import AddressField, rendered, validate
from perfdb.results.changes import alias_changes
from perfdb.results.changes.alias_changes import Effect
from perfdb.results.changes.spellings import read_spellings
from perfdb.results.models import Alias, Study


class AliasSerializer(serializers.Serializer[Any]):
    """An alias: a printed text and its value in a study.

    `id`, `made_by`, `created` and `url` are null while the alias is only proposed.
    """

    id = serializers.IntegerField(allow_null=True, help_text="Null while it is only proposed")
    dimension = serializers.CharField()
    printed = serializers.CharField(help_text="Compared without regard to capitals and outer blanks")
    meaning = serializers.CharField(help_text="A value of the dimension, as it is spelled there")
    made_by = serializers.CharField(source="made_by.username", allow_null=True)
    created = serializers.DateTimeField(format=None, allow_null=True)
    url = AddressField("api:alias", "study.slug", "pk", allow_null=True)


class PrintedTextSerializer(serializers.Serializer[Any]):
    """A printed text, with the alias that gives its value."""

    text = serializers.CharField()
    runs = serializers.IntegerField()
    alias = serializers.IntegerField(source="alias.pk", allow_null=True)


class MeantValueSerializer(serializers.Serializer[Any]):
    """A value of a dimension, with the printed texts that have this value.

    `value` is null for texts that perfdb cannot read.
    """

    value = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField()
    printed = PrintedTextSerializer(source="texts", many=True)


class SuggestionSerializer(serializers.Serializer[Any]):
    """A suggested alias.

    The two values differ only in capitals, blanks and punctuation.
    """

    printed = serializers.CharField()
    meaning = serializers.CharField()


class AliasedDimensionSerializer(serializers.Serializer[Any]):
    """The values of a dimension in a study's runs, with their printed texts."""

    dimension = serializers.CharField()
    values = MeantValueSerializer(many=True)
    suggestions = SuggestionSerializer(many=True)


class AliasListSerializer(serializers.Serializer[Any]):
    """The aliases of a study, and the printed texts of its runs by dimension."""

    working = serializers.BooleanField(help_text="Whether runs are still being changed")
    results = AliasSerializer(many=True)
    dimensions = AliasedDimensionSerializer(many=True)


class NewAliasSerializer(serializers.Serializer[Any]):
    """An alias to create, or with `preview` to try."""

    dimension = serializers.CharField(max_length=200)
    printed = serializers.CharField(max_length=200)
    meaning = serializers.CharField(max_length=200)
    preview = serializers.BooleanField(default=False, help_text="Say what would change, and change nothing")


class ValueRunsSerializer(serializers.Serializer[Any]):
    """A present value, with the number of runs that the alias changes."""

    value = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField()


class TwiceSerializer(serializers.Serializer[Any]):
    """Runs that become equal in run ID and trial.

    All but one of the runs become further trials.
    """

    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    runs = serializers.ListField(child=serializers.IntegerField())


class EffectSerializer(serializers.Serializer[Any]):
    """An alias, with the changes that the alias makes.

    `runs` counts the runs that change, `values` counts these by present value, and `twice` lists the runs that become
    equal.
    """

    alias = AliasSerializer()
    runs = serializers.IntegerField(help_text="How many runs change")
    values = ValueRunsSerializer(many=True)
    there = serializers.IntegerField(help_text="How many other runs have the meaning already")
    twice = TwiceSerializer(many=True)


class AliasUndoneSerializer(serializers.Serializer[Any]):
    """The state after an alias was removed.

    `working` is true until the runs have their printed values again; `url` is the list of aliases, which shows this.
    """

    working = serializers.BooleanField()
    url = serializers.URLField()


_EFFECTS = {200: EffectSerializer, 202: EffectSerializer}


@describe("aliases", "What a study means by printed texts", AliasListSerializer, (404,))
@describe("alias_create", "Say what a printed text means", _EFFECTS, (403, 404), post=NewAliasSerializer)
@api_view(["GET", "POST"])
def aliases(request: Request, slug: str) -> Response:
    """List a study's aliases and printed texts, or create an alias.

    Runs change after the answer to a POST; `working` of the list is true until then. With `preview`, the answer tells
    the effect and nothing changes.
    """
    study = get_study(request, slug)
    if request.method == "POST":
        return _create(request, study)
    found = study.aliases.select_related("made_by").order_by("dimension", "meaning", "printed")
    body = {
        "working": alias_changes.is_applying(study),
        "results": rendered(AliasSerializer, found, request, many=True),
        "dimensions": AliasedDimensionSerializer(read_spellings(study), many=True).data,
    }
    return Response(body)


def _create(request: Request, study: Study) -> Response:
    given = validate(NewAliasSerializer, request.data)
    text = (given["dimension"], given["printed"], given["meaning"])
    if given["preview"]:
        return Response(_effect(request, alias_changes.find_effect(alias_changes.propose_alias(study, *text))))
    get_own_study(request, study.slug)
    effect = alias_changes.find_effect(alias_changes.propose_alias(study, *text))
    alias = alias_changes.add_alias(study, *text, signed_in(request))
    body = _effect(request, effect) | {"alias": rendered(AliasSerializer, alias, request)}
    return Response(body, status=202, headers={"Location": body["alias"]["url"]})


@describe("alias", "One alias", AliasSerializer, (404,))
@describe("alias_undo", "Undo an alias", {202: AliasUndoneSerializer}, (403, 404), method="DELETE")
@api_view(["GET", "DELETE"])
def alias(request: Request, slug: str, pk: int) -> Response:
    """Return an alias, or remove the alias.

    After the answer to a DELETE, runs that print the text get their printed value again.
    """
    study = get_study(request, slug)
    found = get_object_or_404(Alias.objects.select_related("study", "made_by"), study=study, pk=pk)
    if request.method == "GET":
        return Response(rendered(AliasSerializer, found, request))
    get_own_study(request, study.slug)
    alias_changes.remove_alias(found)
    return Response(
        {"working": alias_changes.is_applying(study), "url": reverse("api:aliases", [study.slug], request=request)},
        status=202,
    )


def _effect(request: Request, effect: Effect) -> dict[str, Any]:
    return {
        "alias": rendered(AliasSerializer, effect.alias, request),
        "runs": effect.runs,
        "values": [{"value": value, "runs": runs} for value, runs in effect.values],
        "there": effect.there,
        "twice": [asdict(each) for each in effect.twice],
    }
