"""What a preview asks for: facts that no file says, the values to choose from, and what a person said before."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from perfdb.analysis.dimensions import BY_NAME, Value, dimension
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
"""The names of form fields: of a fact in a run's row (``fact:NUMBER:KEY``), and of one for several runs."""


@dataclass(frozen=True, slots=True)
class Entered:
    """What a person wrote that was refused: the texts by field, and what is wrong with which."""

    texts: Mapping[str, str] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    chosen: frozenset[str] = frozenset()


NOTHING = Entered()


@dataclass(frozen=True, slots=True)
class Gap:
    """A fact that nobody says of a run; ``assumed`` is what an importer takes for it until somebody does."""

    key: str
    field: str
    assumed: Value
    runs: int
    text: str
    error: str

    @property
    def title(self) -> str:
        """What people call it."""
        return fact_title(self.key)


Circumstance = tuple[str, Value, bool]
"""A title, a value, and whether a person gave it."""


@dataclass(frozen=True, slots=True)
class ShownRun:
    """A run of an upload, its circumstances and its gaps."""

    run: UploadRun
    circumstances: list[Circumstance]
    gaps: list[Gap]
    chosen: bool


@dataclass(frozen=True, slots=True)
class Said:
    """A correction in words, with the number by which it is taken back."""

    number: int
    facts: list[tuple[str, str]]
    about: str


def shown_runs(runs: Sequence[UploadRun], *, ask: bool, entered: Entered) -> list[ShownRun]:
    """The rows of the preview; ``ask``: whether there may still be corrections."""
    needs = Counter(key for run in runs for key in _needed(run)) if ask else Counter[str]()
    return [
        ShownRun(
            run,
            _circumstances(run.summary),
            [_gap(run, key, needs[key], entered) for key in _needed(run)] if ask and row < _MOST_ROWS else [],
            str(run.number) in entered.chosen,
        )
        for row, run in enumerate(runs)
    ]


def equal(runs: Sequence[ShownRun]) -> list[Circumstance]:
    """The circumstances that all of several runs have in common."""
    if len(runs) < 2:
        return []
    first, *others = runs
    return [each for each in first.circumstances if all(each in run.circumstances for run in others)]


def _without(common: Collection[Circumstance], run: ShownRun) -> ShownRun:
    """A row that tells only what is its own."""
    return replace(run, circumstances=[each for each in run.circumstances if each not in common])


def _needed(run: UploadRun) -> list[str]:
    """The facts that a run lacks, or that its importer only assumed; one that is refused needs more than that."""
    if run.outcome == UploadRun.Outcome.REJECTED:
        return []
    return [*run.summary.get("lacks", ()), *run.summary.get("assumed", ())]


def _circumstances(summary: Mapping[str, Any]) -> list[Circumstance]:
    """The dimensions in the order of their declaration, factors last, then what else a person gave."""
    values, given = summary["dimensions"], summary.get("given", {})
    order = list(BY_NAME)
    names = sorted(values, key=lambda name: (order.index(name) if name in order else len(order), name))
    told = [(dimension(name).title, values[name], name in given) for name in names if values[name] not in (None, "")]
    return told + [(fact_title(key), text, True) for key, text in given.items() if key not in values]


def _gap(run: UploadRun, key: str, runs: int, entered: Entered) -> Gap:
    name = f"{ROW}:{run.number}:{key}"
    assumed = run.summary["dimensions"].get(key)
    return Gap(key, name, assumed, runs, entered.texts.get(name, ""), entered.errors.get(name, ""))


def values_for(runs: Sequence[ShownRun]) -> dict[str, list[str]]:
    """What to offer for a fact: what other runs of the upload say, what is stored, and the usual."""
    keys = sorted({*_VOCABULARY, *_USUAL, *(gap.key for shown in runs for gap in shown.gaps)}) if runs else []
    return {key: list(dict.fromkeys(_values_of(key, runs)))[:_MOST_VALUES] for key in keys}


def _values_of(key: str, runs: Sequence[ShownRun]) -> Iterator[str]:
    yield from (str(value) for each in runs if (value := each.run.summary["dimensions"].get(key)) is not None)
    if key in _VOCABULARY:
        named = _VOCABULARY[key]._default_manager.order_by("name")
        yield from named.values_list("name", flat=True)[:_MOST_VALUES]
    yield from _USUAL.get(key, ())


def said_before(upload: Upload, runs: Sequence[UploadRun]) -> list[Said]:
    """What was corrected so far, the first act first."""
    labels = {tuple(place): run.run_label for run in runs if (place := run.summary.get("place"))}
    return [
        Said(number, [(fact_title(key), text) for key, text in each.facts.items()], _about(each, labels))
        for number, each in enumerate(corrections_of(upload))
    ]


def _about(correction: Correction, labels: Mapping[tuple[Any, ...], str]) -> str:
    places = correction.places
    if not places:
        return "all runs"
    if len(places) > 1:
        return f"{len(places)} runs"
    place = places[0]
    label = labels.get((place.path, place.first, place.last))
    return f"run {label}" if label else place.path


def corrections_in(posted: Mapping[str, str], chosen: Sequence[str], runs: Sequence[UploadRun]) -> list[Correction]:
    """What a person asks for: one fact of many runs (``all``, ``say``), or what was written in the rows.

    Raises KeyError for a row or fact that there is not.
    """
    if "all" in posted:
        number, _, key = posted["all"].partition(":")
        text = posted[f"{ROW}:{number}:{key}"].strip()
        return _of(text, key, [run for run in runs if key in _needed(run)])
    if "say" in posted:
        text, key = posted.get(SAY, "").strip(), posted[SAID]
        everything = posted.get("about") == "all"
        if everything:
            return [Correction({key: text})] if text else []
        return _of(text, key, [run for run in runs if str(run.number) in set(chosen)])
    by_number = {str(run.number): run for run in runs}
    written: list[Correction] = []
    for name, text in posted.items():
        row, _, rest = name.partition(":")
        if row == ROW and text.strip():
            number, _, key = rest.partition(":")
            written += _of(text.strip(), key, [by_number[number]])
    return written


def _of(text: str, key: str, runs: Sequence[UploadRun]) -> list[Correction]:
    places = tuple(parse_place(run.summary["place"]) for run in runs if "place" in run.summary)
    return [Correction({key: text}, places)] if text and places else []


def fields_of(posted: Mapping[str, str], key: str, text: str) -> list[str]:
    """The form fields from which a refused text came."""
    if "say" in posted:
        return [SAY]
    if "all" in posted:
        return [f"{ROW}:{posted['all']}"]
    return [name for name, value in posted.items() if name.endswith(f":{key}") and value.strip() == text]


def context(upload: Upload, runs: Sequence[UploadRun], *, ask: bool, entered: Entered) -> dict[str, Any]:
    """What the part of the page with the runs shows."""
    shown = shown_runs(runs, ask=ask, entered=entered)
    common = equal(shown)
    return {
        "equal": common,
        "runs": [_without(common, run) for run in shown],
        "gaps": any(each.gaps for each in shown),
        "offered": values_for(shown) if ask else {},
        "said": said_before(upload, runs),
        "may_leave_out": ask,
        "correctable": [(key, fact_title(key)) for key in CORRECTABLE] if ask else [],
        "entered": entered,
        "studies": Study.objects.exclude(slug=INBOX).exclude(pk=upload.study_id).order_by("title") if ask else [],
    }
