"""Serializers of aliases, for OpenAPI and for checking requests."""

from typing import Any

from rest_framework import serializers


class AliasSerializer(serializers.Serializer[Any]):
    """An alias: a printed text and its value in a study.

    `id`, `made_by`, `created` and `url` are null while the alias is only proposed.
    """

    id = serializers.IntegerField(allow_null=True, help_text="Null while it is only proposed")
    dimension = serializers.CharField()
    printed = serializers.CharField(help_text="Compared without regard to capitals and outer blanks")
    meaning = serializers.CharField(help_text="A value of the dimension, as it is spelled there")
    made_by = serializers.CharField(allow_null=True)
    created = serializers.DateTimeField(allow_null=True)
    url = serializers.URLField(allow_null=True)


class PrintedTextSerializer(serializers.Serializer[Any]):
    """A printed text, with the alias that gives its value."""

    text = serializers.CharField()
    runs = serializers.IntegerField()
    alias = serializers.IntegerField(allow_null=True)


class MeantValueSerializer(serializers.Serializer[Any]):
    """A value of a dimension, with the printed texts that have this value.

    `value` is null for texts that perfdb cannot read.
    """

    value = serializers.CharField(allow_null=True)
    runs = serializers.IntegerField()
    printed = PrintedTextSerializer(many=True)


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
