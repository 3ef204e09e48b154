"""Serializers of requests and answers, for OpenAPI and for checking requests.

Single small objects are rendered by these serializers; times are left to the renderer by `format=None`. Large answers
are plain data from `runs.run_data` and `analysis.render.exports.json`, since serializing each row would cost many times
the query. A test checks real answers against these declarations.
"""

from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.reverse import reverse

from perfdb.analysis.dimensions import NUMBERS
from perfdb.analysis.query.parameters import QueryError
from perfdb.api.uploads.parsers import clean_path
from perfdb.results.ingest.uploads import DECISIONS
from perfdb.results.models import Problem, Run, Upload, UploadRun
from perfdb.results.models.dimensions import INBOX


def validate(kind: type[serializers.Serializer[Any]], data: object) -> dict[str, Any]:
    """Return the checked data of a request. Raise ValidationError."""
    asked = kind(data=data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def known_only(given: Iterable[str], known: Sequence[str]) -> None:
    """Raise QueryError for a parameter that is not in ``known``."""
    for name in given:
        if name not in known:
            raise QueryError(name, f"{name!r} is not a parameter", known)


class AddressField(serializers.URLField):
    """Field with an object's address: a view's name, and attributes in the address."""

    def __init__(self, view: str, *attributes: str, **more: Any) -> None:
        super().__init__(source="*", **more)
        self.view, self.of = view, attrgetter(*attributes)

    def to_representation(self, value: Any) -> Any:
        """Return the address, or None for an object that is not stored."""
        key = self.of(value)
        parts = key if isinstance(key, tuple) else (key,)
        return None if None in parts else reverse(self.view, parts, request=self.context["request"])


def rendered(kind: type[serializers.Serializer[Any]], found: Any, request: Request, *, many: bool = False) -> Any:
    """Return an object, or with ``many`` a list of objects, as plain data."""
    return kind(found, many=many, context={"request": request}).data


class ProblemDetailsSerializer(serializers.Serializer[Any]):
    """An error with problem details (RFC 9457).

    `parameter` names the wrong parameter or field, `known` lists the accepted values, and `errors` lists all
    complaints, each where this applies.
    """

    type = serializers.CharField(help_text="urn:perfdb:parameter, :intake, :records, or about:blank for plain HTTP")
    title = serializers.CharField()
    status = serializers.IntegerField()
    detail = serializers.CharField(help_text="What went wrong and what to do, for people")
    parameter = serializers.CharField(required=False, allow_blank=True)
    known = serializers.ListField(child=serializers.CharField(), required=False)
    errors = serializers.ListField(  # type: ignore[assignment] # declared fields leave the class
        child=serializers.DictField(child=serializers.CharField()), required=False
    )


class PageSerializer(serializers.Serializer[Any]):
    """The links of a paged list.

    `next` and `previous` are the addresses of the neighbouring pages, null at the ends.
    """

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class DimensionsSerializer(serializers.Serializer[Any]):
    """The dimensions of a run; an unknown dimension is null."""

    study = serializers.CharField()
    campaign = serializers.CharField(allow_null=True)
    system = serializers.CharField(allow_null=True)
    level = serializers.CharField(allow_null=True)
    workload = serializers.CharField(allow_null=True)
    device = serializers.CharField(allow_null=True)
    factors = serializers.DictField(child=serializers.CharField())

    def get_fields(self) -> dict[str, Any]:
        """Return the declared fields and one for each whole-number dimension."""
        numbers = {
            name: serializers.IntegerField(allow_null=True, help_text=each.unit.capitalize() or None)
            for name, each in NUMBERS.items()
        }
        return super().get_fields() | numbers


class RunRowSerializer(DimensionsSerializer):
    """A run in the list, with its dimensions and main metrics."""

    id = serializers.IntegerField()
    run_id = serializers.CharField(help_text="The name in the study; not unique")
    trial = serializers.IntegerField()
    status = serializers.ChoiceField(Run.Status.choices)
    started = serializers.DateTimeField()
    tags = serializers.ListField(child=serializers.CharField())
    notes = serializers.ListField(child=serializers.CharField(), help_text="What people wrote about it, oldest first")
    values = serializers.DictField(child=serializers.FloatField(), help_text="The main metrics, role total")
    url = serializers.URLField()


class RunPageSerializer(PageSerializer):
    """A page of the list of runs."""

    results = RunRowSerializer(many=True)


class PlaceSerializer(serializers.Serializer[Any]):
    """A file and a line in the file; null if unknown."""

    artifact = serializers.IntegerField(allow_null=True)
    file = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)


class FormulaInputSerializer(PlaceSerializer):
    """One number that entered a derived value.

    Either `metric` or `counter` is present and names the number. `before` and `after` are the two readings of a
    counter.
    """

    metric = serializers.CharField(required=False)
    counter = serializers.CharField(required=False)
    role = serializers.CharField(allow_blank=True)
    subject = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(help_text="Of a counter: after minus before")
    unit = serializers.CharField(allow_blank=True)
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    before_place = PlaceSerializer(allow_null=True)


class FormulaSerializer(serializers.Serializer[Any]):
    """The formula of a derived value.

    `text` is the formula, and `worked` the same with the numbers inserted.
    """

    id = serializers.CharField()
    version = serializers.IntegerField()
    text = serializers.CharField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment] # declared fields leave the class
    worked = serializers.CharField()
    inputs = FormulaInputSerializer(many=True)


class MeasurementSerializer(PlaceSerializer):
    """One value of one metric for one role, with its origin.

    `formula` is null unless the value is derived. `artifact`, `file` and `line` are null unless the value was read
    from a file.
    """

    metric = serializers.CharField()
    role = serializers.CharField()
    value = serializers.FloatField()
    unit = serializers.CharField()
    origin = serializers.ChoiceField(["reported", "derived", "published", "given"])
    printed = serializers.CharField(allow_blank=True)
    formula = FormulaSerializer(allow_null=True)


class ReadingSerializer(serializers.Serializer[Any]):
    """A counter before and after a run, in its base unit."""

    counter = serializers.CharField()
    before = serializers.FloatField(allow_null=True)
    after = serializers.FloatField(allow_null=True)
    before_line = serializers.IntegerField(allow_null=True)
    after_line = serializers.IntegerField(allow_null=True)


class CountersSerializer(serializers.Serializer[Any]):
    """The counters of one role, before and after a run.

    `usable` is false if the snapshots do not fit the run.
    """

    role = serializers.CharField()
    subject = serializers.CharField(allow_blank=True)
    host = serializers.CharField(allow_blank=True)
    usable = serializers.BooleanField()
    before_artifact = serializers.IntegerField(allow_null=True)
    after_artifact = serializers.IntegerField(allow_null=True)
    readings = ReadingSerializer(many=True)


class ProblemSerializer(serializers.Serializer[Any]):
    """An input that perfdb could not accept, with its place and remedy."""

    severity = serializers.ChoiceField(Problem.Severity.choices)
    code = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField(allow_null=True)
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)


class ArtifactSerializer(serializers.Serializer[Any]):
    """A file as received."""

    id = serializers.IntegerField()
    name = serializers.CharField(help_text="The relative path it came under")
    sha256 = serializers.CharField()
    size = serializers.IntegerField(help_text="Bytes")
    url = serializers.URLField()


class RunArtifactSerializer(ArtifactSerializer):
    """A file that a run was read from."""

    format = serializers.CharField()
    upload = serializers.IntegerField()


class FactSerializer(serializers.Serializer[Any]):
    """A circumstance as printed.

    `artifact` and `line` are 0 if a person supplied the circumstance.
    """

    text = serializers.CharField(allow_blank=True)
    artifact = serializers.IntegerField()
    line = serializers.IntegerField()


class NewNoteSerializer(serializers.Serializer[Any]):
    """The text of a note on a run."""

    text = serializers.CharField(trim_whitespace=False, help_text="Plain text; lines are kept")


class RunNoteSerializer(serializers.Serializer[Any]):
    """A person's note on a run.

    `run` is the id of the run; `edited` is null if the text was never changed.
    """

    id = serializers.IntegerField()
    run = serializers.IntegerField(source="run_id")
    text = serializers.CharField()
    author = serializers.CharField(source="author.username", allow_null=True)
    created = serializers.DateTimeField(format=None)
    edited = serializers.DateTimeField(format=None, allow_null=True)
    url = AddressField("api:note", "pk")


class RunNoteListSerializer(serializers.Serializer[Any]):
    """The notes on a run, oldest first."""

    results = RunNoteSerializer(many=True)


class RunSerializer(DimensionsSerializer):
    """One run with all its data."""

    id = serializers.IntegerField()
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    status = serializers.ChoiceField(Run.Status.choices)
    started = serializers.DateTimeField()
    facts = serializers.DictField(child=FactSerializer())
    measurements = MeasurementSerializer(many=True)
    counters = CountersSerializer(many=True)
    problems = ProblemSerializer(many=True)
    artifacts = RunArtifactSerializer(many=True)
    tags = serializers.ListField(child=serializers.CharField())
    notes = RunNoteSerializer(many=True)


class NewUploadSerializer(serializers.Serializer[Any]):
    """Files to upload, as fields of a form."""

    files = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), default=list, help_text="Repeated; names may carry a path"
    )
    paths = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Relative paths, parallel to `files`"
    )
    pieces = serializers.ListField(
        child=serializers.CharField(), default=list, help_text="Tokens of large files that came in pieces"
    )
    study = serializers.SlugField(
        default="", allow_blank=True, max_length=80, help_text=f"Slug; {INBOX} when none is given"
    )
    create_study = serializers.BooleanField(default=True, help_text="0 refuses a study that there is not yet")
    preview = serializers.BooleanField(default=False, help_text="Store no run until it is accepted")
    facts = serializers.JSONField(
        binary=True, default=dict, help_text="A JSON object of what the files lack: `processors`, `mtu` and so on"
    )

    def validate_facts(self, facts: Any) -> dict[str, Any]:
        """Return the facts. Raise ValidationError unless the facts are an object."""
        if not isinstance(facts, dict):
            raise serializers.ValidationError('must be a JSON object such as {"processors": 2, "mtu": 1500}')
        return facts

    def validate_paths(self, paths: list[str]) -> list[str]:
        """Return cleaned paths. Raise ValidationError for a path that names no file."""
        clean = [clean_path(path) for path in paths]
        for given, path in zip(paths, clean, strict=True):
            if not path:
                raise serializers.ValidationError(f"{given!r} names no file")
        return clean


class UploadReferenceSerializer(serializers.Serializer[Any]):
    """The state of an upload, and the address to follow the upload."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(Upload.State.choices)
    url = serializers.URLField()


class UploadRowSerializer(UploadReferenceSerializer):
    """An upload in the list.

    `settled` is the time at which the work on the upload ended; null before.
    """

    study = serializers.CharField()
    owner = serializers.CharField()
    created = serializers.DateTimeField()
    settled = serializers.DateTimeField(allow_null=True)


class UploadPageSerializer(PageSerializer):
    """A page of the list of uploads."""

    results = UploadRowSerializer(many=True)


class UploadFileSerializer(ArtifactSerializer):
    """A file of an upload, with its recognised format."""

    format = serializers.CharField(allow_null=True)
    encoding = serializers.CharField(allow_null=True)


class UploadRunSerializer(serializers.Serializer[Any]):
    """A run of an upload with its outcome.

    Before a preview is accepted, this is the expected outcome.
    """

    id = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.ChoiceField(UploadRun.Outcome.choices)
    status = serializers.CharField(allow_blank=True)
    summary = serializers.DictField()


class ProgressSerializer(serializers.Serializer[Any]):
    """The progress of an upload: files read and runs loaded, each with the total."""

    files = serializers.IntegerField()
    files_read = serializers.IntegerField()
    runs = serializers.IntegerField()
    runs_loaded = serializers.IntegerField()


class CorrectedPlaceSerializer(serializers.Serializer[Any]):
    """A place in the files: a file, a folder, or lines of a file."""

    path = serializers.CharField(help_text="A file of the upload; a folder where it ends in `/`")
    first = serializers.IntegerField(default=0, min_value=0, help_text="The first line; 0 for the whole file")
    last = serializers.IntegerField(default=0, min_value=0, help_text="The last line; 0 for the whole file")


class CorrectionSerializer(serializers.Serializer[Any]):
    """Facts of runs that a person supplied because no file has the facts."""

    facts = serializers.DictField(child=serializers.CharField(), help_text="As in an upload, and `run_id` and `trial`")
    places = CorrectedPlaceSerializer(
        many=True, default=list, help_text="Of runs made of what stands there; of all when empty"
    )


class UploadSerializer(UploadRowSerializer):
    """One upload with its files, runs and problems.

    `facts` and `corrections` come from people; `error` is null unless the work itself failed.
    """

    preview = serializers.BooleanField()
    facts = serializers.DictField()
    corrections = CorrectionSerializer(many=True)
    progress = ProgressSerializer()
    error = serializers.CharField(allow_null=True, help_text="Why the work itself failed")
    files = UploadFileSerializer(many=True)
    runs = UploadRunSerializer(many=True)
    problems = ProblemSerializer(many=True)


class AcceptSerializer(serializers.Serializer[Any]):
    """Decisions about runs in conflict, by `run_id/trial`."""

    decisions = serializers.DictField(
        child=serializers.ChoiceField(DECISIONS), default=dict, help_text="`run_id/trial` to keep, replace or trial"
    )
