"""Endpoint of published tables: read, preview with audit, load."""

from typing import Any

from django.db import transaction
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from importers.published.apply_mapping import Figure
from importers.published.mapping import Mapping
from importers.published.pasted_tables import Syntax
from perfdb.analysis.metrics import Measure
from perfdb.analysis.query.parameters import QueryError
from perfdb.api.permissions import signed_in
from perfdb.api.renderers import created
from perfdb.api.runs.run_data import upload_reference
from perfdb.api.schema import describe
from perfdb.api.serializers import UploadReferenceSerializer, validate
from perfdb.results.ingest import uploads
from perfdb.results.ingest.match_runs import Match
from perfdb.results.ingest.uploads import DECISIONS
from perfdb.results.models import Study
from perfdb.results.models.dimensions import INBOX
from perfdb.results.published.load_tables import Preview, load_tables, preview_tables
from perfdb.results.published.map_tables import Reading, read_paste
from perfdb.results.published.published_records import PublishedRecord
from perfdb.results.runs.record import RunRecord

LONGEST_TEXT = 1024 * 1024


class MappingField(serializers.JSONField):
    """The mapping of one table, as `docs/published-tables.md` describes.

    With null, perfdb guesses the mapping.
    """

    def to_internal_value(self, data: Any) -> Any:
        """Return the Mapping, or None for null. Raise ValidationError for anything else."""
        if data is None:
            return None
        try:
            return Mapping.from_json(data)
        except ValueError as error:
            raise serializers.ValidationError(str(error)) from None


class NewTablesSerializer(serializers.Serializer[Any]):
    """Published tables as text, to preview or to store.

    `mapping` has one item for each table, in the order of the tables.
    """

    text = serializers.CharField(max_length=LONGEST_TEXT, trim_whitespace=False, help_text="The tables as pasted")
    format = serializers.ChoiceField(
        [each.value for each in Syntax], required=False, help_text="How they are written; recognised unless said"
    )
    study = serializers.SlugField(
        required=False, default="", allow_blank=True, help_text="Where the runs go; your inbox unless said"
    )
    create_study = serializers.BooleanField(default=True, help_text="Make the study when there is none")
    mapping = serializers.ListField(
        child=MappingField(allow_null=True), default=list, help_text="What the headings of each table mean"
    )
    decisions = serializers.DictField(
        child=serializers.ChoiceField(DECISIONS), default=dict, help_text="`run_id/trial` of a conflict: what to do"
    )
    preview = serializers.BooleanField(default=False, help_text="Answer what would be stored, and store nothing")


class GuessSerializer(serializers.Serializer[Any]):
    """The reason for one part of a guessed mapping.

    `value` is empty if perfdb has no guess.
    """

    value = serializers.CharField(allow_blank=True)
    certainty = serializers.FloatField()
    reason = serializers.CharField(allow_blank=True)


class ReadTableSerializer(serializers.Serializer[Any]):
    """A table as perfdb reads the text.

    `mapping` is the mapping in use, `why` gives the reason for each guessed part, and `open` lists the parts without a
    guess.
    """

    title = serializers.CharField(source="grid.title", allow_blank=True)
    line = serializers.IntegerField(source="grid.line")
    mapping = serializers.DictField(source="mapping.to_json")
    why = serializers.DictField(source="guessed.why", child=GuessSerializer())
    open = serializers.ListField(source="guessed.open", child=serializers.CharField())


class PublishedFigureSerializer(serializers.Serializer[Any]):
    """A printed value.

    `value` is in the unit of its metric; null if perfdb could not convert the number, or another table's value is
    stored instead.
    """

    measure = serializers.CharField()
    printed = serializers.CharField()
    unit = serializers.CharField(allow_blank=True)
    value = serializers.FloatField(allow_null=True)
    table = serializers.CharField()
    line = serializers.IntegerField()


class PreviewedRunSerializer(serializers.Serializer[Any]):
    """A run that storing the tables would make, with its expected outcome."""

    run_id = serializers.CharField()
    trial = serializers.IntegerField()
    outcome = serializers.CharField()
    dimensions = serializers.DictField()
    figures = PublishedFigureSerializer(many=True)


class PreviewedPercentSerializer(serializers.Serializer[Any]):
    """A printed difference of the run `compared` from the run `baseline`.

    `kind` is `difference`, `reduction` or `improvement` (in per cent), or `absolute` (in the metric's unit).
    """

    measure = serializers.CharField()
    kind = serializers.CharField()
    printed = serializers.CharField()
    compared = serializers.CharField()
    baseline = serializers.CharField()
    table = serializers.CharField()
    line = serializers.IntegerField()


class FoundProblemSerializer(serializers.Serializer[Any]):
    """A problem, or a printed value that does not match the others.

    The `code` of such a value begins with `audit.`.
    """

    severity = serializers.CharField()
    code = serializers.CharField()
    message = serializers.CharField()
    remedy = serializers.CharField(allow_blank=True)
    line = serializers.IntegerField(allow_null=True)
    run_id = serializers.CharField(allow_null=True)


class TablesPreviewSerializer(serializers.Serializer[Any]):
    """Runs and problems that storing the tables would bring. Nothing is stored."""

    format = serializers.CharField()
    tables = ReadTableSerializer(many=True)
    runs = PreviewedRunSerializer(many=True)
    differences = PreviewedPercentSerializer(many=True)
    problems = FoundProblemSerializer(many=True)


class TablesLoadedSerializer(UploadReferenceSerializer):
    """The upload that stored the tables, already settled."""


@describe(
    "published_tables",
    "Import published tables",
    {200: TablesPreviewSerializer, 201: TablesLoadedSerializer},
    (409,),
    post=NewTablesSerializer,
)
def published_tables(request: Request) -> Response:
    """Store published tables, given as text, as runs.

    With `preview`, in the body or the address, the answer shows the runs and problems and nothing is stored.
    """
    user = signed_in(request)
    asked, body = request.query_params.get("preview"), request.data
    given = validate(NewTablesSerializer, {**body, "preview": asked} if asked and isinstance(body, dict) else body)
    named = given["study"] not in {"", INBOX}
    own_inbox = Study.objects.filter(owner=user, slug=INBOX)
    study = (Study.objects.filter(slug=given["study"]) if named else own_inbox).first()
    if study is None and named and not given["create_study"]:
        known = Study.objects.exclude(slug=INBOX).order_by("slug").values_list("slug", flat=True)
        raise QueryError("study", f"there is no study {given['study']!r}, and create_study forbids to make it", known)
    reading = read_paste(given["text"], study, Syntax(given["format"]) if "format" in given else None, given["mapping"])
    if not reading.tables:
        raise ValidationError({"text": [f"{each.message} {each.remedy}" for each in reading.problems]})
    if given["preview"]:
        return Response(_body(reading, preview_tables(study, reading)))
    # Tables that are refused must not leave a new study behind.
    with transaction.atomic():
        study = uploads.study_called(user, given["study"]) if named else None
        upload = load_tables(user, study, reading, given["decisions"])
    return created(upload_reference(request, upload))


def _body(reading: Reading, preview: Preview) -> dict[str, Any]:
    return {
        "format": reading.syntax,
        "tables": ReadTableSerializer(reading.tables, many=True).data,
        "runs": [_run(*each) for each in zip(preview.records.runs, preview.matches, strict=True)],
        "differences": [
            {
                "measure": str(Measure(each.metric, each.role)),
                "kind": each.kind,
                "printed": each.printed,
                "compared": preview.records.runs[each.compared].record.identity,
                "baseline": preview.records.runs[each.baseline].record.identity,
                "table": each.table,
                "line": each.line,
            }
            for each in preview.records.percents
        ],
        "problems": FoundProblemSerializer(preview.problems, many=True).data,
    }


def _run(run: PublishedRecord, match: Match) -> dict[str, Any]:
    record = match.record
    return {
        "run_id": record.run_id,
        "trial": record.trial,
        "outcome": match.outcome,
        "dimensions": record.configuration.dimensions(),
        "figures": [_figure(record, figure) for figure in run.figures],
    }


def _figure(record: RunRecord, figure: Figure) -> dict[str, Any]:
    measure = Measure(figure.metric, figure.role)
    value = record.values.get(measure)
    # Another table's figure of the same measure is stored where that came first.
    own = value is not None and (value.printed, value.line) == (figure.printed, figure.line)
    return {
        "measure": str(measure),
        "printed": figure.printed,
        "unit": figure.unit,
        "value": value.value if value is not None and own else None,
        "table": figure.table,
        "line": figure.line,
    }
