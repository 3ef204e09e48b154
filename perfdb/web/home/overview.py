"""Parts of the start page: studies, uploads, totals, and a comparison of the newest study's devices."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from typing import Any, NamedTuple

from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from perfdb.analysis.dimensions import dimension
from perfdb.analysis.query.parameters import QueryError, value_order
from perfdb.analysis.query.query import Query
from perfdb.analysis.render.charts.chart_options import Drawing
from perfdb.results.ingest.parse_files import ARCHIVE
from perfdb.results.models import DimensionCount, Run, Study, Upload, UploadFile
from perfdb.results.queries.answers import answer_query
from perfdb.results.queries.compare import suggest_sides
from perfdb.results.queries.questions import answer_question
from perfdb.web.compare.compare_page import link_suggestions
from perfdb.web.links import to_page
from perfdb.web.questions.question_links import charts_address, device_ranking, usual_workload, workload_query
from perfdb.web.tables.maximum_page import build_maxima
from perfdb.web.tables.table_grids import build_panels

# So many uploads, studies, and devices of a study; the rest is a click away.
_MOST_UPLOADS, _MOST_STUDIES, _MOST_DEVICES = 8, 12, 6
_PAGES = (("Compare", "compare"), ("Ranking", "maximum"))
_MOST_STORED, _MOST_FAILED = 4, 50
# How long the start page tells of an upload that failed.
_FAILED_FOR = timedelta(days=7)
# A comparison has at least so many devices and numbers of users, and is looked for in so many studies.
_FEWEST, _TRIED = 2, 3


class Link(NamedTuple):
    """A name with its address."""

    title: str
    address: str


class StudyCard(NamedTuple):
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


class UploadLine(NamedTuple):
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
    """Return uploads in progress, then the last that stored runs, newest first."""
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
    about = Query(filters={"study": (study.slug,)})
    asked = [
        (name, workload_query(name).with_filter("study", study.slug)) for name in sorted(workloads, key=value_order)
    ]
    return StudyCard(
        study,
        study.activity.runs,
        [Link(name, to_page("charts", query)) for name, query in asked],
        [Link(name, to_page("runs", about.with_filter("device", name))) for name in sorted(devices, key=value_order)],
        [Link(title, to_page(page, about)) for title, page in _PAGES],
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
    return f"{number:,} {one if number == 1 else several}"


def build_live_comparison(cards: Sequence[StudyCard]) -> dict[str, Any] | None:
    """Return the ranking of the first study with several devices and numbers of users, or None.

    ``answer``: sentences beside the chart; ``pages`` continue from there. ``at_users``: the ranking at each number of
    users.
    """
    fitting = [card for card in cards if len(card.devices) >= _FEWEST and card.workloads]
    for card in fitting[:_TRIED]:
        names = [each.title for each in card.workloads]
        # A workload without a pattern has no rate to rank by.
        with suppress(QueryError):
            if found := _build(card, usual_workload(names)):
                return found
    return None


def _build(card: StudyCard, workload: str) -> dict[str, Any] | None:
    ranking, address = device_ranking(card.study.slug, workload)
    ranked = answer_question(ranking)
    lines = workload_query(workload).with_filter("study", card.study.slug)
    maxima = build_maxima(ranked.tables, ranked.best)
    query, tables = answer_query(lines.replace(metrics=lines.metrics[:1]))
    if maxima is None or not maxima["answer"] or not tables or len(tables[0].rows) < _FEWEST:
        return None
    ((panel, *_), *_) = build_panels(tables[:1])
    return {
        "study": card.study.title,
        "workload": workload,
        "answer": maxima["answer"],
        "panel": replace(panel, number=0),
        "pages": [Link("Open the ranking", address), Link("Open the charts", charts_address(query, Drawing()))],
        "at_users": [Link(str(users), f"{address}&users={users}") for (users,) in tables[0].rows if users is not None],
    }


def suggest_comparison(cards: Sequence[StudyCard]) -> tuple[str, str] | None:
    """Return (text, address) of the comparison with most pairs; None without any."""
    for card in cards[:_TRIED]:
        if found := suggest_sides(card.study.slug):
            sides, pairs = found[0]
            say = dimension(sides.dimension).describe
            (link,) = link_suggestions(Query().with_filter("study", card.study.slug), found[:1])
            return f"{say(sides.new)} against {say(sides.old)}: {pairs} matched pair{'s' * (pairs != 1)}", link.address
    return None
