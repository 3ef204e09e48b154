"""Serializers of requests and answers, for OpenAPI and for checking requests.

Answers are plain data from `runs.run_data` and `analysis.render.exports.json`, since serializing each row would cost
many times the query. A test checks real answers against these declarations.
"""

from typing import Any

from rest_framework import serializers

from perfdb.analysis.dimensions import NUMBERS
from perfdb.api.uploads.parsers import clean_path
from perfdb.results.ingest.uploads import DECISIONS
from perfdb.results.models import Problem, Run, Upload, UploadRun
from perfdb.results.models.dimensions import INBOX


class ProblemDetailsSerializer(serializers.Serializer[Any]):
    """An error as in RFC 9457."""

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
    """Common fields of all paged lists."""

    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)


class DimensionsSerializer(serializers.Serializer[Any]):
    """The dimensions of a run; null if unknown."""

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
    """A run in the list."""

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
    """A file and, if known, a line of the file."""

    artifact = serializers.IntegerField(allow_null=True)
    file = serializers.CharField(allow_null=True)
    line = serializers.IntegerField(allow_null=True)


class FormulaInputSerializer(PlaceSerializer):
    """An input of a derived value, named by `metric` or `counter`."""

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
    """A formula with its numbers inserted."""

    id = serializers.CharField()
    version = serializers.IntegerField()
    text = serializers.CharField()
    source = serializers.CharField(allow_blank=True)  # type: ignore[assignment] # declared fields leave the class
    worked = serializers.CharField()
    inputs = FormulaInputSerializer(many=True)


class MeasurementSerializer(PlaceSerializer):
    """One value of one metric for one role."""

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
    """The counters of one role; not `usable` if captures misfit the run."""

    role = serializers.CharField()
    subject = serializers.CharField(allow_blank=True)
    host = serializers.CharField(allow_blank=True)
    usable = serializers.BooleanField()
    before_artifact = serializers.IntegerField(allow_null=True)
    after_artifact = serializers.IntegerField(allow_null=True)
    readings = ReadingSerializer(many=True)


class ProblemSerializer(serializers.Serializer[Any]):
    """A problem with its place and remedy."""

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
    """A source file of a run."""

    format = serializers.CharField()
    upload = serializers.IntegerField()


class FactSerializer(serializers.Serializer[Any]):
    """A circumstance as printed."""

    text = serializers.CharField(allow_blank=True)
    artifact = serializers.IntegerField()
    line = serializers.IntegerField()


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


class RunSerializer(DimensionsSerializer):
    """One run."""

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
    """Files to upload."""

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
        """Return the facts. Raise ValidationError unless they are an object."""
        if not isinstance(facts, dict):
            raise serializers.ValidationError('must be a JSON object such as {"processors": 2, "mtu": 1500}')
        return facts

    def validate_paths(self, paths: list[str]) -> list[str]:
        """Return cleaned paths. Raise ValidationError if nothing is left of one."""
        clean = [clean_path(path) for path in paths]
        for given, path in zip(paths, clean, strict=True):
            if not path:
                raise serializers.ValidationError(f"{given!r} names no file")
        return clean


class NewPieceSerializer(serializers.Serializer[Any]):
    """A large file to send in pieces."""

    path = serializers.CharField(help_text="Its relative path, as in an upload")
    size = serializers.IntegerField(min_value=0, help_text="Bytes")
    fingerprint = serializers.CharField(
        default="", allow_blank=True, max_length=200, help_text="Whatever tells that it is the same file tomorrow"
    )
    sha256 = serializers.RegexField(
        r"^[0-9a-fA-F]{64}$", default="", allow_blank=True, help_text="Of the whole file; compared when all is there"
    )


class PieceSerializer(serializers.Serializer[Any]):
    """A large file in transfer."""

    token = serializers.CharField(help_text="What an upload names it by, in `pieces`")
    url = serializers.URLField()
    path = serializers.CharField()
    size = serializers.IntegerField()
    received = serializers.IntegerField(help_text="Bytes that are there: the offset of the next piece")
    fingerprint = serializers.CharField()
    touched = serializers.DateTimeField()
    upload = serializers.IntegerField(allow_null=True, help_text="The upload that has taken it")


class PiecesSerializer(serializers.Serializer[Any]):
    """Files in transfer."""

    results = PieceSerializer(many=True)


class UploadReferenceSerializer(serializers.Serializer[Any]):
    """The address at which to follow an upload."""

    id = serializers.IntegerField()
    state = serializers.ChoiceField(Upload.State.choices)
    url = serializers.URLField()


class UploadRowSerializer(UploadReferenceSerializer):
    """An upload in the list."""

    study = serializers.CharField()
    owner = serializers.CharField()
    created = serializers.DateTimeField()
    settled = serializers.DateTimeField(allow_null=True)


class UploadPageSerializer(PageSerializer):
    """A page of the list of uploads."""

    results = UploadRowSerializer(many=True)


class UploadFileSerializer(ArtifactSerializer):
    """A file of an upload with its recognised format."""

    format = serializers.CharField(allow_null=True)
    encoding = serializers.CharField(allow_null=True)


class UploadRunSerializer(serializers.Serializer[Any]):
    """A run of an upload with its outcome or expected outcome."""

    id = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.ChoiceField(UploadRun.Outcome.choices)
    status = serializers.CharField(allow_blank=True)
    summary = serializers.DictField()


class ProgressSerializer(serializers.Serializer[Any]):
    """Progress of a job."""

    files = serializers.IntegerField()
    files_read = serializers.IntegerField()
    runs = serializers.IntegerField()
    runs_loaded = serializers.IntegerField()


class CorrectedPlaceSerializer(serializers.Serializer[Any]):
    """A corrected place."""

    path = serializers.CharField(help_text="A file of the upload; a folder where it ends in `/`")
    first = serializers.IntegerField(default=0, min_value=0, help_text="The first line; 0 for the whole file")
    last = serializers.IntegerField(default=0, min_value=0, help_text="The last line; 0 for the whole file")


class CorrectionSerializer(serializers.Serializer[Any]):
    """A correction: facts of runs that a person supplied."""

    facts = serializers.DictField(child=serializers.CharField(), help_text="As in an upload, and `run_id` and `trial`")
    places = CorrectedPlaceSerializer(
        many=True, default=list, help_text="Of runs made of what stands there; of all when empty"
    )


class UploadSerializer(UploadRowSerializer):
    """One upload."""

    preview = serializers.BooleanField()
    facts = serializers.DictField()
    corrections = CorrectionSerializer(many=True)
    progress = ProgressSerializer()
    error = serializers.CharField(allow_null=True, help_text="Why the work itself failed")
    files = UploadFileSerializer(many=True)
    runs = UploadRunSerializer(many=True)
    problems = ProblemSerializer(many=True)


class AcceptSerializer(serializers.Serializer[Any]):
    """Decisions about runs in conflict."""

    decisions = serializers.DictField(
        child=serializers.ChoiceField(DECISIONS), default=dict, help_text="`run_id/trial` to keep, replace or trial"
    )


class StudySerializer(serializers.Serializer[Any]):
    """A study."""

    slug = serializers.CharField()
    title = serializers.CharField()
    purpose = serializers.CharField(allow_blank=True)
    owner = serializers.CharField(allow_null=True)
    url = serializers.URLField()
    aliases = serializers.URLField()
    runs = serializers.URLField()


class StudyListSerializer(serializers.Serializer[Any]):
    """All studies."""

    results = StudySerializer(many=True)
