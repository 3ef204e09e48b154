"""The one filter of the list of runs, shared by page, API and export.

Each dimension's filter follows from its declaration and may be given several times (or within, and between).
Withdrawn runs are hidden unless they are asked for. A parameter that is not known is an error that lists the known.
"""

from collections.abc import Collection, Iterable, Sequence
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

# What a list's address holds besides filters: order, place and length of a page.
PAGING = ("sort", "cursor", "size")

# So many names that contain a text are looked up; with more of them the runs themselves are gone through.
MOST_NAMES = 1000


class SeveralInput(forms.SelectMultiple):
    """Reads a parameter that is repeated, without offering choices."""

    def value_from_datadict(self, data: Any, files: Any, name: str) -> list[str]:
        """All values given, without blank ones: a form sends its empty fields too."""
        texts = data.getlist(name) if isinstance(data, QueryDict) else data.get(name, [])
        return [text for text in texts if text.strip()]


class ValuesField(forms.Field):
    """Values of one dimension."""

    widget = SeveralInput

    def __init__(self, *, dimension: Dimension, **kwargs: Any) -> None:
        self.dimension = dimension
        super().__init__(**kwargs)

    def clean(self, value: Any) -> list[DimensionValue]:
        """The values in the dimension's own type, None for ``(none)``."""
        return [self._clean_one(text) for text in value or ()]

    def _clean_one(self, text: str) -> DimensionValue:
        if "\0" in text:
            raise ValidationError("a value contains a NUL character")
        try:
            return None if text == MISSING else self.dimension.parse(text)
        except ValueError as error:
            raise ValidationError(str(error)) from None


class DimensionFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """Runs with one of the given values of a dimension."""

    field_class = ValuesField

    def __init__(self, declared: Dimension) -> None:
        super().__init__(field_name=declared.name, label=declared.title, dimension=declared)

    def condition(self, value: Sequence[DimensionValue]) -> Q:
        """Which runs are meant."""
        name = cast(str, self.field_name)
        return build_conditions({name: value})[name]


class PartFilter(CharFilter):  # type: ignore[misc] # django-filter has no types
    """Runs whose id contains a text. Few enough names are looked up first: a million runs share a few thousand."""

    def condition(self, value: str) -> Q:
        """Which runs are meant."""
        known = SearchName.objects.filter(kind=SearchName.Kind.RUN, text__icontains=value)
        names = list(known.values_list("text", flat=True)[: MOST_NAMES + 1])
        return Q(run_id__in=names) if len(names) <= MOST_NAMES else Q(run_id__icontains=value)


class ChoicesField(forms.MultipleChoiceField):
    """Values of a closed set; the message lists the set."""

    widget = SeveralInput

    def validate(self, value: Any) -> None:
        """Refuse what is not among the choices."""
        known = [key for key, _ in cast(Iterable[tuple[str, str]], self.choices)]
        for text in value:
            if text not in known:
                raise ValidationError(f"{text!r} is not a choice; known are: {', '.join(known)}")


class StatusFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """Runs that ended in one of these ways; withdrawn ones only when asked for."""

    field_class = ChoicesField

    def filter(self, qs: QuerySet[Run], value: Sequence[str]) -> QuerySet[Run]:
        """Narrow the runs."""
        return qs.filter(status__in=value) if value else qs.exclude(status=Run.Status.WITHDRAWN)


class UploadFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """Runs that an upload brought or extended."""

    field_class = forms.IntegerField

    def filter(self, qs: QuerySet[Run], value: int | None) -> QuerySet[Run]:
        """Narrow the runs."""
        if value is None:
            return qs
        return qs.filter(Exists(UploadRun.objects.filter(upload_id=value, run=OuterRef("pk"))))


class QueryPartField(forms.Field):
    """A parameter of a Query that is written ``DIMENSION:VALUE`` and may be repeated."""

    widget = SeveralInput

    def __init__(self, *, parameter: str, **kwargs: Any) -> None:
        self.parameter = parameter
        super().__init__(**kwargs)

    def clean(self, value: Any) -> Query:
        """The query that asks for nothing else."""
        try:
            return Query.parse((self.parameter, text) for text in value or ())
        except QueryError as error:
            raise ValidationError(str(error)) from None


class QueryPartFilter(Filter):  # type: ignore[misc] # django-filter has no types
    """Runs that a Query with this one parameter is about: what it leaves out, and its ranges."""

    field_class = QueryPartField

    def __init__(self, parameter: str, label: str) -> None:
        super().__init__(field_name=parameter, label=label, parameter=parameter)

    def filter(self, qs: QuerySet[Run], value: Query) -> QuerySet[Run]:
        """Narrow the runs."""
        return narrow_runs(qs, value)


class _RunFilterForm(forms.Form):
    """A form that refuses parameters it has no field for."""

    def clean(self) -> dict[str, Any]:
        """Name each unknown parameter and the known ones."""
        for name in self.data:
            if name not in self.fields and name not in PAGING:
                self.add_error(None, ValidationError(f"{name!r} is not a parameter", code=name))
        return self.cleaned_data


class RunFilter(FilterSet):  # type: ignore[misc] # django-filter has no types
    """Filters of the list of runs. Make it of a QueryDict; ask ``first_error`` before using ``qs``."""

    q = PartFilter(label="Run id contains")
    status = StatusFilter(label="Status", choices=Run.Status.choices)
    started_after = IsoDateTimeFilter(field_name="started", lookup_expr="gte", label="Started at or after")
    started_before = IsoDateTimeFilter(field_name="started", lookup_expr="lt", label="Started before")
    upload = UploadFilter(label="Upload", min_value=1, max_value=2**63 - 1)
    exclude = QueryPartFilter("exclude", "All but `dimension:value`")
    range = QueryPartFilter("range", "`dimension:low..high`")

    class Meta:
        """No fields by reflection: those of dimensions are added from their declarations."""

        form = _RunFilterForm

    def __init__(self, data: QueryDict, queryset: QuerySet[Run] | None = None) -> None:
        super().__init__(data, Run.objects.all() if queryset is None else queryset)
        self._conditions: dict[str, Q] = {}
        factors = (name for name in data if name.startswith(FACTOR) and name != FACTOR)
        for declared in (*DIMENSIONS, *SELECTORS.values(), *map(dimension, factors)):
            self.filters[declared.name] = DimensionFilter(declared)

    def asked(self) -> dict[str, Any]:
        """What is asked for, by parameter; empty while anything is wrong with the parameters."""
        cleaned = self.form.cleaned_data if self.form.is_valid() else {}
        return {name: value for name, value in cleaned.items() if value not in (None, "", [], Query())}

    def statuses(self) -> list[str]:
        """The ways to end that are asked for."""
        return self.form.cleaned_data["status"] or [each for each in Run.Status.values if each != Run.Status.WITHDRAWN]

    def narrowed(self, queryset: QuerySet[Any], without: Collection[str] = ()) -> QuerySet[Any]:
        """What the parameters leave of some runs, but for those that are not to count.

        Of experiments, too, as far as nothing is asked that tells runs of one experiment apart.
        """
        for name, value in self.form.cleaned_data.items():
            if name not in without:
                queryset = self._narrowed_by(queryset, name, value)
        return queryset

    def _narrowed_by(self, queryset: QuerySet[Any], name: str, value: Any) -> QuerySet[Any]:
        declared = self.filters[name]
        if not isinstance(declared, DimensionFilter | PartFilter):
            return cast("QuerySet[Any]", declared.filter(queryset, value))
        if value and name not in self._conditions:
            # Names are looked up once, however often the filter is used.
            self._conditions[name] = declared.condition(value)
        return queryset.filter(self._conditions[name]) if value else queryset

    def filter_queryset(self, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """What all parameters leave; ``qs`` asks for it."""
        return self.narrowed(queryset)

    def errors_found(self) -> list[QueryError]:
        """Everything that is wrong with the parameters, unknown ones first."""
        found = self.form.errors.as_data()
        unknown = [QueryError(str(e.code), e.message, known_parameters()) for e in found.pop("__all__", [])]
        return unknown + [QueryError(name, _said(name, error)) for name, errors in found.items() for error in errors]

    def first_error(self) -> QueryError | None:
        """The first thing that is wrong with the parameters, None when all is well."""
        return next(iter(self.errors_found()), None)


def _said(name: str, error: ValidationError) -> str:
    return f"{name}: {' '.join(error.messages)}"


def known_parameters() -> tuple[str, ...]:
    """The parameters of the list of runs, factors as ``factor.NAME``."""
    return (*KNOWN_FILTERS, *RunFilter.base_filters, *PAGING)


def filter_runs(data: QueryDict) -> QuerySet[Run]:
    """The runs that the parameters ask for; raises QueryError for the first one that is not understood."""
    runs = RunFilter(data)
    error = runs.first_error()
    if error is not None:
        raise error
    return cast("QuerySet[Run]", runs.qs)


# More numbers than that are named by a filter.
MOST_NUMBERED = 10_000


def chosen(numbers: Sequence[str], everything: str | None = None) -> QuerySet[Run]:
    """The runs that a person picked: by their numbers, or all that a list's query string asks for.

    Columns and order of the list do not matter. Raises QueryError when nothing is chosen and for wrong parameters.
    """
    if everything is not None:
        data = QueryDict(everything.removeprefix("?"), mutable=True)
        data.pop("columns", None)
        return filter_runs(data)
    if not numbers:
        raise QueryError("run", "no run is chosen")
    if len(numbers) > MOST_NUMBERED or not all(each.isdecimal() and len(each) < 19 for each in numbers):
        raise QueryError("run", f"runs are named by their numbers, at most {MOST_NUMBERED} at once")
    return Run.objects.filter(pk__in=[int(each) for each in numbers])
