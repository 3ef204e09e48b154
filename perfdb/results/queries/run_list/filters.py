"""The filter of the list of runs, shared by page, API and export.

The filter of a dimension follows from the declaration. Values of one dimension are alternatives; filters of several
dimensions all apply. Withdrawn runs are hidden by default. An unknown parameter is an error that lists the known ones.
"""

from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import QueryDict
from django_filters import CharFilter, Filter, FilterSet, IsoDateTimeFilter  # type: ignore[import-untyped]

from perfdb.analysis.dimensions import DIMENSIONS, FACTOR, SELECTORS, Dimension, dimension
from perfdb.analysis.dimensions import Value as DimensionValue
from perfdb.analysis.query.parameters import KNOWN_FILTERS, MISSING, QueryError
from perfdb.analysis.query.query import Query
from perfdb.results.models import Run, SearchName, UploadRun
from perfdb.results.queries.conditions import build_conditions, narrow_runs

# The parameters of an address beside filters: order, place and size of a page.
PAGING = ("sort", "cursor", "size")

# The number of run ids with a text that are looked up; with more, the runs are searched.
MOST_NAMES = 1000


class SeveralInput(forms.SelectMultiple):
    """Reader of a repeated parameter, without choices."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        """Return the values without blank ones, since a form sends empty fields too."""
        texts = data.getlist(name) if isinstance(data, QueryDict) else data.get(name, [])
        return [text for text in texts if text.strip()]


class ParsedField(forms.Field):
    """A field for a repeated parameter; ``parse`` reads the texts, or raises ValueError with the message."""

    widget = SeveralInput

    def __init__(self, *, parse: Callable[[Sequence[str]], Any], **kwargs: Any) -> None:
        self.parse = parse
        super().__init__(**kwargs)

    def clean(self, value: Any) -> Any:
        """Return the parsed texts, also of an empty field."""
        try:
            return self.parse(value or ())
        except ValueError as error:
            raise ValidationError(str(error)) from None


class DimensionFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """A filter for runs with one of several values of a dimension."""

    field_class = ParsedField

    def __init__(self, declared: Dimension) -> None:
        super().__init__(
            field_name=declared.name,
            label=declared.title,
            parse=lambda texts: [_parse_value(declared, text) for text in texts],
        )

    def condition(self, value: Sequence[DimensionValue]) -> Q:
        name = cast(str, self.field_name)
        return build_conditions({name: value})[name]


def _parse_value(declared: Dimension, text: str) -> DimensionValue:
    """Return a value in the type of a dimension, None for ``(none)``."""
    if "\0" in text:
        raise ValueError("a value contains a NUL character")
    return None if text == MISSING else declared.parse(text)


class PartFilter(CharFilter):  # type: ignore[misc] # django-filter has no types
    """A filter for runs whose run id contains a text.

    Run ids are looked up first, since a million runs share a few thousand.
    """

    def condition(self, value: str) -> Q:
        known = SearchName.objects.filter(kind=SearchName.Kind.RUN, text__icontains=value)
        names = list(known.values_list("text", flat=True)[: MOST_NAMES + 1])
        return Q(run_id__in=names) if len(names) <= MOST_NAMES else Q(run_id__icontains=value)


class StatusFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """A filter for runs by status; withdrawn runs only on request."""

    field_class = ParsedField

    def filter(self, qs: QuerySet[Run], value: Sequence[str]) -> QuerySet[Run]:
        return qs.filter(status__in=value) if value else qs.exclude(status=Run.Status.WITHDRAWN)


def _parse_statuses(texts: Sequence[str]) -> list[str]:
    for text in texts:
        if text not in Run.Status.values:
            raise ValueError(f"{text!r} is not a choice; known are: {', '.join(Run.Status.values)}")
    return list(texts)


class UploadFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """A filter for runs that an upload stored or extended."""

    field_class = forms.IntegerField

    def filter(self, qs: QuerySet[Run], value: int | None) -> QuerySet[Run]:
        if value is None:
            return qs
        return qs.filter(Exists(UploadRun.objects.filter(upload_id=value, run=OuterRef("pk"))))


class QueryPartFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """A filter by one parameter of a Query, ``DIMENSION:VALUE``: an exclusion or a range."""

    field_class = ParsedField

    def __init__(self, parameter: str, label: str) -> None:
        super().__init__(
            field_name=parameter, label=label, parse=lambda texts: Query.parse((parameter, text) for text in texts)
        )

    def filter(self, qs: QuerySet[Run], value: Query) -> QuerySet[Run]:
        return narrow_runs(qs, value)


class _RunFilterForm(forms.Form):
    """A form that refuses unknown parameters."""

    def clean(self) -> dict[str, Any]:
        """Add an error for each unknown parameter."""
        for name in self.data:
            if name not in self.fields and name not in PAGING:
                self.add_error(None, ValidationError(f"{name!r} is not a parameter", code=name))
        return self.cleaned_data


class RunFilter(FilterSet):  # type: ignore[misc] # django-filter has no types
    """The filters of the list of runs; check ``first_error`` before ``qs``."""

    q = PartFilter(label="Run ID contains")
    status = StatusFilter(label="Status", parse=_parse_statuses)
    started_after = IsoDateTimeFilter(field_name="started", lookup_expr="gte", label="Started at or after")
    started_before = IsoDateTimeFilter(field_name="started", lookup_expr="lt", label="Started before")
    upload = UploadFilter(label="Upload", min_value=1, max_value=2**63 - 1)
    exclude = QueryPartFilter("exclude", "All but `dimension:value`")
    range = QueryPartFilter("range", "`dimension:low..high`")

    class Meta:
        """No fields by reflection: the fields of dimensions follow from declarations."""

        form = _RunFilterForm

    def __init__(self, data: QueryDict, queryset: QuerySet[Run] | None = None) -> None:
        super().__init__(data, Run.objects.all() if queryset is None else queryset)
        self._conditions: dict[str, Q] = {}
        factors = (name for name in data if name.startswith(FACTOR) and name != FACTOR)
        for declared in (*DIMENSIONS, *SELECTORS.values(), *map(dimension, factors)):
            self.filters[declared.name] = DimensionFilter(declared)

    def read_values(self) -> dict[str, Any]:
        """Return the values by parameter; none while any parameter has an error."""
        cleaned = self.form.cleaned_data if self.form.is_valid() else {}
        return {name: value for name, value in cleaned.items() if value not in (None, "", [], Query())}

    def statuses(self) -> list[str]:
        """Return the statuses of the list."""
        return self.form.cleaned_data["status"] or [each for each in Run.Status.values if each != Run.Status.WITHDRAWN]

    def narrow(self, queryset: QuerySet[Any], without: Collection[str] = ()) -> QuerySet[Any]:
        """Return the runs that the parameters leave, except parameters in ``without``.

        Also narrows experiments, unless a parameter separates runs of one experiment.
        """
        for name, value in self.form.cleaned_data.items():
            if name not in without:
                queryset = self._narrow_by(queryset, name, value)
        return queryset

    def _narrow_by(self, queryset: QuerySet[Any], name: str, value: Any) -> QuerySet[Any]:
        declared = self.filters[name]
        if not isinstance(declared, DimensionFilter | PartFilter):
            return cast("QuerySet[Any]", declared.filter(queryset, value))
        if value and name not in self._conditions:
            # Names are looked up once, however often the filter is used.
            self._conditions[name] = declared.condition(value)
        return queryset.filter(self._conditions[name]) if value else queryset

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """Return the runs that all parameters leave, for ``qs``."""
        return self.narrow(queryset)

    def errors_found(self) -> list[QueryError]:
        """Return all errors of the parameters, unknown parameters first."""
        found = self.form.errors.as_data()
        unknown = [QueryError(str(e.code), e.message, list_parameters()) for e in found.pop("__all__", [])]
        return unknown + [
            QueryError(name, f"{name}: {' '.join(error.messages)}")
            for name, errors in found.items()
            for error in errors
        ]

    def first_error(self) -> QueryError | None:
        """Return the first error of the parameters, or None."""
        return next(iter(self.errors_found()), None)


def list_parameters() -> tuple[str, ...]:
    """Return the parameters of the list of runs, factors as ``factor.NAME``."""
    return (*KNOWN_FILTERS, *RunFilter.base_filters, *PAGING)


def filter_runs(data: QueryDict) -> QuerySet[Run]:
    """Return the runs that the parameters select. Raise QueryError for the first invalid parameter."""
    runs = RunFilter(data)
    error = runs.first_error()
    if error is not None:
        raise error
    return cast("QuerySet[Run]", runs.qs)


# Most runs that can be chosen by their ids.
MOST_NUMBERED = 10_000


def choose_runs(numbers: Sequence[str], everything: str | None = None) -> QuerySet[Run]:
    """Return the runs of ids or a list's address. Raise QueryError for none."""
    if everything is not None:
        data = QueryDict(everything.removeprefix("?"), mutable=True)
        data.pop("columns", None)
        return filter_runs(data)
    if not numbers:
        raise QueryError("run", "no run is chosen")
    if len(numbers) > MOST_NUMBERED or not all(each.isdecimal() and len(each) < 19 for each in numbers):
        raise QueryError("run", f"runs are named by their numbers, at most {MOST_NUMBERED} at once")
    return Run.objects.filter(pk__in=[int(each) for each in numbers])
