"""Overview of studies, runs and uploads, without reading all runs."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Count, Q, QuerySet, Sum
from django.urls import reverse
from django.utils import timezone

from perfdb.analysis.query.parameters import value_order
from perfdb.analysis.query.query import Query
from perfdb.results.ingest.parse_files import ARCHIVE
from perfdb.results.models import DimensionCount, Run, Study, Upload, UploadFile
from perfdb.web.questions import question_links

# So many uploads, studies, and devices of a study; the rest is a click away.
_MOST_UPLOADS, _MOST_STUDIES, _MOST_DEVICES = 8, 12, 6
_PAGES = (("Compare", "compare"), ("Ranking", "maximum"))
_MOST_STORED, _MOST_FAILED = 4, 50
# How long the start page tells of an upload that failed.
_FAILED_FOR = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Link:
    """A name with its address."""

    title: str
    address: str


@dataclass(frozen=True, slots=True)
class StudyCard:
    """A study at a glance: subject, size, and first questions."""

    study: Study
    runs: int
    workloads: list[Link]
    devices: list[Link]
    pages: list[Link]

    @property
    def first_devices(self) -> list[Link]:
        """Return the devices that fit on a card."""
        return self.devices[:_MOST_DEVICES]

    @property
    def more_devices(self) -> int:
        """Return the number of further devices."""
        return len(self.devices[_MOST_DEVICES:])


@dataclass(frozen=True, slots=True)
class UploadLine:
    """An upload: in progress, waiting, failed or stored. ``files``: number of files to read."""

    upload: Upload
    files: int

    @property
    def busy(self) -> bool:
        """Return whether a worker still has to work on the upload."""
        return self.upload.state not in Upload.SETTLED

    @property
    def loading(self) -> bool:
        """Return whether the upload's runs are being stored."""
        return self.upload.state == Upload.State.LOADING


def read_uploads() -> list[UploadLine]:
    """Return uploads in progress or waiting, then the last ones that stored runs, newest first."""
    newest = Upload.objects.select_related("study", "owner").order_by("-created", "-id")
    open_ones = list(newest.exclude(state__in=Upload.SETTLED - {Upload.State.PREVIEW})[:_MOST_UPLOADS])
    stored = newest.filter(state=Upload.State.DONE)[: max(0, _MOST_STORED - len(open_ones))]
    shown = [*open_ones, *stored]
    files = _files_to_read([each.pk for each in shown if each.state not in Upload.SETTLED])
    return [UploadLine(each, files.get(each.pk, 0)) for each in shown]


def read_failed_uploads() -> list[Upload]:
    """Return the uploads that failed lately, newest first."""
    since = timezone.now() - _FAILED_FOR
    failed = Upload.objects.filter(state=Upload.State.FAILED, created__gte=since).select_related("study", "owner")
    return list(failed.order_by("-created", "-id")[:_MOST_FAILED])


def _files_to_read(busy: Sequence[int]) -> Mapping[int, int]:
    """Return the number of files to read by upload, counting members instead of archives."""
    if not busy:
        return {}
    files = UploadFile.objects.filter(upload__in=busy).exclude(format=ARCHIVE).order_by()
    return dict(files.values_list("upload").annotate(number=Count("pk")))


def read_studies() -> list[StudyCard]:
    """Return the studies with runs that changed last."""
    active = Study.objects.filter(activity__runs__gt=0).select_related("activity")
    found = list(active.order_by("-activity__changed", "title")[:_MOST_STUDIES])
    names = read_names(found)
    return [_card(each, names[each.pk, "workload"], names[each.pk, "device"]) for each in found]


def read_names(studies: Sequence[Study]) -> Mapping[tuple[int, str], set[str]]:
    """Return the workloads and devices of studies: (study, dimension) -> names."""
    names: dict[tuple[int, str], set[str]] = defaultdict(set)
    kept = _kept().filter(study__in=studies, name__in=("workload", "device")).exclude(value="")
    for study, name, value in kept.values_list("study", "name", "value"):
        names[study, name].add(value)
    return names


def _kept() -> QuerySet[DimensionCount]:
    """Return the counts of runs that are not withdrawn."""
    return DimensionCount.objects.filter(runs__gt=0).exclude(status=Run.Status.WITHDRAWN)


def _card(study: Study, workloads: Iterable[str], devices: Iterable[str]) -> StudyCard:
    about = Query().with_filter("study", study.slug)
    charts = reverse("web:charts")
    first = [
        Link(name, f"{charts}?{question_links.workload_query(name).with_filter('study', study.slug).encode()}")
        for name in sorted(workloads, key=value_order)
    ]
    runs = reverse("web:runs")
    return StudyCard(
        study,
        study.activity.runs,
        first,
        [
            Link(name, f"{runs}?{about.with_filter('device', name).encode()}")
            for name in sorted(devices, key=value_order)
        ],
        [Link(title, f"{reverse(f'web:{page}')}?{about.encode()}") for title, page in _PAGES],
    )


def describe_totals() -> str:
    """Return the totals in words: ``587 runs over 9 devices in 5 studies``."""
    found = _kept().aggregate(
        runs=Sum("runs", filter=Q(name=""), default=0),
        devices=Count("value", distinct=True, filter=Q(name="device") & ~Q(value="")),
        studies=Count("study", distinct=True),
    )
    runs, devices = _counted(found["runs"], "run", "runs"), _counted(found["devices"], "device", "devices")
    return f"{runs} over {devices} in {_counted(found['studies'], 'study', 'studies')}"


def _counted(number: int, one: str, several: str) -> str:
    """Return a number with its word in singular or plural."""
    return f"{number:,} {one if number == 1 else several}"
