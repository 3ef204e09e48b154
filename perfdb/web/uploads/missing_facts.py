"""Missing facts of a preview: fields, choices, and earlier corrections."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from perfdb.analysis.dimensions import Value, dimension
from perfdb.analysis.query.parameters import sort_dimensions
from perfdb.results.changes.corrections import CORRECTABLE, fact_title, parse_place
from perfdb.results.ingest.supplied_facts import Correction, corrections_of
from perfdb.results.models import Device, Level, Upload, UploadRun, Workload
from perfdb.results.models.dimensions import INBOX, Study

# Fields are offered in so many rows: a thousand of them would keep a browser busy, and one is enough for all.
_MOST_ROWS = 200
# The longest list of values that is offered, and what is worth offering before anything is stored.
_MOST_VALUES = 200
_USUAL: Mapping[str, tuple[str, ...]] = {
    "mtu": ("1492", "1500", "8992", "9000"),
    "workload": ("RR", "CRR", "STRG", "STRP"),
}
_VOCABULARY = {"device": Device, "workload": Workload, "level": Level}
ROW, SAID, SAY = "fact", "said", "value"
"""Names of form fields: of a run's fact (``fact:NUMBER:KEY``), and of several runs'."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Input that was refused: texts and errors by field."""

    texts: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()


NOTHING = Entered()


Circumstance = tuple[str, Value, bool]
"""A title, a value, and whether a person supplied the value."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run of an upload with circumstances and missing facts."""

    run: UploadRun
    circumstances: list[Circumstance]
    gaps: list[dict[str, Any]]

    @property
    def waits(self) -> bool:
        """Return whether a person has to look at the run: for a decision, a refusal, or a missing fact."""
        return bool(self.gaps) or self.run.outcome in (UploadRun.Outcome.CONFLICT, UploadRun.Outcome.REJECTED)


class Said(NamedTuple):
    """A correction in words, with its number for undo."""

    number: int
    facts: list[tuple[str, str]]
    about: str


def _shown_runs(runs: Sequence[UploadRun], *, ask: bool, entered: Entered) -> list[ShownRun]:
    """Return the rows of the preview; ``ask``: corrections are possible."""
    needs = Counter(key for run in runs for key in _needed(run)) if ask else Counter[str]()
    return [
        ShownRun(
            run,
            _circumstances(run.summary),
            [_gap(run, key, needs[key], entered) for key in _needed(run)] if ask and row < _MOST_ROWS else [],
        )
        for row, run in enumerate(runs)
    ]


def _needed(run: UploadRun) -> list[str]:
    """Return the facts that a run lacks or the importer assumed; none if rejected."""
    if run.outcome == UploadRun.Outcome.REJECTED:
        return []
    return [*run.summary.get("lacks", ()), *run.summary.get("assumed", ())]


def _circumstances(summary: Mapping[str, Any]) -> list[Circumstance]:
    """Return the dimensions in declared order, then factors, then other supplied facts."""
    values, given = summary["dimensions"], summary.get("given", {})
    names = [name for name in sort_dimensions(values) if values[name] not in (None, "")]
    told = [(dimension(name).title, values[name], name in given) for name in names]
    return told + [(fact_title(key), text, True) for key, text in given.items() if key not in values]


def _gap(run: UploadRun, key: str, runs: int, entered: Entered) -> dict[str, Any]:
    """Return a missing fact of a run. ``assumed``: value that the importer assumes."""
    name = f"{ROW}:{run.number}:{key}"
    return {
        "key": key,
        "title": fact_title(key),
        "field": name,
        "assumed": run.summary["dimensions"].get(key),
        "runs": runs,
        "text": entered.texts.get(name, ""),
        "error": entered.errors.get(name, ""),
    }


def _offered(runs: Sequence[ShownRun]) -> dict[str, list[str]]:
    """Return values for each fact: of other runs, then stored and usual."""
    keys = sorted({*_VOCABULARY, *_USUAL, *(gap["key"] for shown in runs for gap in shown.gaps)}) if runs else []
    return {key: list(dict.fromkeys(_values_of(key, runs)))[:_MOST_VALUES] for key in keys}


def _values_of(key: str, runs: Sequence[ShownRun]) -> Iterator[str]:
    yield from (str(value) for each in runs if (value := each.run.summary["dimensions"].get(key)) is not None)
    if key in _VOCABULARY:
        named = _VOCABULARY[key]._default_manager.order_by("name")
        yield from named.values_list("name", flat=True)[:_MOST_VALUES]
    yield from _USUAL.get(key, ())


def _corrections(upload: Upload, runs: Sequence[UploadRun]) -> list[Said]:
    """Return the corrections of an upload, the first one first."""
    labels = {tuple(place): run.run_label for run in runs if (place := run.summary.get("place"))}
    return [
        Said(number, [(fact_title(key), text) for key, text in each.facts.items()], _about(each, labels))
        for number, each in enumerate(corrections_of(upload))
    ]


def _about(correction: Correction, labels: Mapping[tuple[Any, ...], str]) -> str:
    if len(correction.places) != 1:
        return f"{len(correction.places)} runs" if correction.places else "all runs"
    (place,) = correction.places
    label = labels.get((place.path, place.first, place.last))
    return f"run {label}" if label else place.path


def corrections_in(posted: Mapping[str, str], chosen: Sequence[str], runs: Sequence[UploadRun]) -> list[Correction]:
    """Return the corrections of one fact or of rows. Raise KeyError for unknown ones."""
    if "all" in posted:
        number, _, key = posted["all"].partition(":")
        text = posted[f"{ROW}:{number}:{key}"].strip()
        return _of(text, key, [run for run in runs if key in _needed(run)])
    written = _of_several(posted, chosen, runs)
    if "say" in posted:
        return written
    by_number = {str(run.number): run for run in runs}
    for name, text in posted.items():
        row, _, rest = name.partition(":")
        if row == ROW and text.strip():
            number, _, key = rest.partition(":")
            written += _of(text.strip(), key, [by_number[number]])
    return written


def _of_several(posted: Mapping[str, str], chosen: Sequence[str], runs: Sequence[UploadRun]) -> list[Correction]:
    """Return the fact of the chosen runs, or of all."""
    if not (text := posted.get(SAY, "").strip()):
        return []
    key = posted[SAID]
    if posted.get("about") == "all":
        return [Correction({key: text})]
    return _of(text, key, [run for run in runs if str(run.number) in set(chosen)])


def _of(text: str, key: str, runs: Sequence[UploadRun]) -> list[Correction]:
    places = tuple(parse_place(run.summary["place"]) for run in runs if "place" in run.summary)
    return [Correction({key: text}, places)] if text and places else []


def fields_of(posted: Mapping[str, str], key: str, text: str) -> list[str]:
    """Return the form fields from which a refused text came."""
    if "all" in posted:
        return [f"{ROW}:{posted['all']}"]
    rows = [name for name, value in posted.items() if name.endswith(f":{key}") and value.strip() == text]
    several = [SAY] if posted.get(SAID) == key and posted.get(SAY, "").strip() == text else []
    return several if "say" in posted else rows + several


def context(upload: Upload, runs: Sequence[UploadRun], *, ask: bool, entered: Entered) -> dict[str, Any]:
    """Return the template context of the page's runs."""
    shown = _shown_runs(runs, ask=ask, entered=entered)
    # The circumstances that several runs have in common are told once.
    first, several = (shown[0].circumstances if shown else []), len(shown) > 1
    common = [each for each in first if several and all(each in run.circumstances for run in shown)]
    return {
        "equal": common,
        "waiting": [
            replace(run, circumstances=[each for each in run.circumstances if each not in common])
            for run in shown
            if run.waits
        ],
        "offered": _offered(shown) if ask else {},
        "corrections": _corrections(upload, runs),
        "may_leave_out": ask,
        "correctable": [(key, fact_title(key)) for key in CORRECTABLE] if ask else [],
        "entered": entered,
        "studies": Study.objects.exclude(slug=INBOX).exclude(pk=upload.study_id).order_by("title") if ask else [],
    }
