"""Run IDs in file and folder names, and patterns that decode run IDs."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePosixPath
from re import _parser as parser  # type: ignore[attr-defined] # what `re` itself reads patterns with
from typing import Any

from importers.key_values import trial_number, whole
from importers.model import Fragment, Problem, RunDraft, Severity, SourcedFact

_NOT_RUN_IDS = frozenset({"client", "server", "lpar", "before", "after", "log", "out", "result", "results"})
_LOOKS_LIKE_RUN_ID = re.compile(r"[A-Za-z](?=\w*[0-9])[A-Za-z0-9-]{2,}")
_TITLE = "report.title"  # the fact with the free text of a report's title
_DAY = r"(?:19|20)\d\d(?:[-_.]?\d\d[-_.]?\d\d|/\d\d/\d\d)"
_DATED = re.compile(rf"/{_DAY}(?:[-_.T ]?\d\d[-_.:h]?\d\d(?:[-_.:]?\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?(?=/)")
_SIZE = re.compile(r"([0-9]{1,30})\s*([KMGT]?)B?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunIdPattern:
    """The encoding of dimensions in a study's run IDs.

    ``regex`` has named groups, one per dimension: ``NM(?P<device>GB|HI)(?P<workload>[RCS])…``. ``values`` maps a
    group's codes to values: ``{"device": {"GB": "QDIO GbE"}}``; a code without an entry stands for itself.
    """

    regex: str
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def compile_pattern(pattern: RunIdPattern | None, problems: list[Problem]) -> re.Pattern[str] | None:
    """Compile the pattern; report an invalid or too slow one, and return None."""
    if pattern is None:
        return None
    try:
        return compile_run_ids(pattern.regex)
    except ValueError as error:
        message = f"The study's run-id pattern {error}."
        problems.append(Problem(Severity.ERROR, "collate.bad-pattern", message, "Correct it in the study."))
        return None


def run_id_in_name(fragment: Fragment, known: Mapping[str, str], pattern: re.Pattern[str] | None) -> str | None:
    """Return the only run ID in file and folder names, or None.

    ``known`` run IDs (by their lower case) win, also as a word of a report's title; then matches of the pattern; then a
    word of letters and digits at the head of the file's name or as the folder's name.
    """
    titles = (fact.text for fact in fragment.facts if fact.key == _TITLE)
    words = [*_words(fragment.file), *(word for title in titles for word in title.split())]
    by_content = dict.fromkeys(known[word.casefold()] for word in words if word.casefold() in known)
    by_pattern = dict.fromkeys(word for word in words if pattern is not None and match_run_id(pattern, word))
    for found in (by_content, by_pattern, dict.fromkeys(_likely(fragment))):
        if found:
            return next(iter(found)) if len(found) == 1 else None
    return None


# A file may have thousands of fragments, one after the other.
@lru_cache(256)
def _words(name: str) -> tuple[str, ...]:
    """Return the names of file and folders, whole and in words."""
    parts = reversed(PurePosixPath(name).parts)
    return tuple(word for part in parts for word in (part, *re.split(r"[.\s]+", part), *re.split(r"[._\-\s]+", part)))


@lru_cache(256)
def _folder_and_head(name: str) -> tuple[str, str]:
    """Return the names of folder and file, the latter up to a dot."""
    path = PurePosixPath(name)
    return path.parent.name, re.split(r"[.\s]+", path.name)[0]


def _likely(fragment: Fragment) -> Iterator[str]:
    folder, name = _folder_and_head(fragment.file)
    head, *rest = name.split("_")
    # Words that underscores join may tell a client log's run from another, so the whole word counts there.
    word = name if fragment.is_client and not all(_is_usual(each, fragment) for each in rest) else head
    for likely in (folder, word):
        if not _is_usual(likely, fragment) and _LOOKS_LIKE_RUN_ID.fullmatch(likely):
            yield likely


def _is_usual(word: str, fragment: Fragment) -> bool:
    """Return whether a word describes the file rather than its run."""
    own = (fragment.format, fragment.format.rstrip("0123456789"), (fragment.host or "").lower())
    return word.lower() in (*_NOT_RUN_IDS, *own)


def apply_pattern(compiled: re.Pattern[str] | None, pattern: RunIdPattern | None, draft: RunDraft) -> None:
    """Add the dimensions encoded in the run ID that no file states; report contradictions."""
    match = match_run_id(compiled, draft.run_id) if compiled else None
    if match is None or pattern is None:
        return
    for key, code in match.groupdict().items():
        if code is None:
            continue
        value = pattern.values.get(key, {}).get(code, code)
        stated = [fact for fact in draft.facts if fact.key == key]
        if not stated:
            draft.facts.append(SourcedFact(key, value, "", 0))
            if key == "trial":
                draft.trial = trial_number(value) or draft.trial
        # Of several processes each says its own users; all together are those of the run.
        for fact in stated if not (draft.parts and key == "users") else ():
            if not same_value(fact.text, value):
                draft.problems.append(_contradiction(draft.run_id, value, fact))


def _contradiction(run_id: str, value: str, fact: SourcedFact) -> Problem:
    message = f"By the study's pattern, run id {run_id} means {fact.key} {value}, but the file says {fact.text}."
    remedy = "Correct the run id, the log or the study's run-id pattern."
    code = "collate.pattern-contradiction"
    return Problem(Severity.WARNING, code, message, remedy, fact.file, fact.line, run_id)


def same_value(one: str, other: str) -> bool:
    """Return whether texts are equal but for capitals, zeros and powers of 1024."""
    if one.strip().casefold() == other.strip().casefold():
        return True
    sizes = [_SIZE.fullmatch(text.strip()) for text in (one, other)]
    values = [whole(size[1]) << 10 * " KMGT".index(size[2].upper() or " ") for size in sizes if size]
    return len(values) == 2 and values[0] == values[1]


def folder_of(fragment: Fragment, run_id: str | None) -> str | None:
    """Return the path of the innermost folder named after the run, or None."""
    if run_id is None:
        return None
    folders = PurePosixPath(fragment.file).parents
    return next((str(folder) for folder in folders if folder.name.casefold() == run_id.casefold()), None)


def own_folder(fragment: Fragment, run_id: str | None) -> str | None:
    """Return the folder named after the run; without run ID the file's, if any."""
    if run_id is not None:
        return folder_of(fragment, run_id)
    parent = PurePosixPath(fragment.file).parent
    return str(parent) if parent.name else None


def distinct_names(paths: Iterable[str]) -> dict[str, str]:
    """Return a run ID for each path, from as few parts as needed."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    names = {path: own[-1] for path, own in parts.items()}
    for depth in range(2, max(map(len, parts.values()), default=0) + 1):
        used = Counter(names.values())
        for path, own in parts.items():
            if used[names[path]] > 1:
                names[path] = "/".join(own[-depth:])
    return names


def is_date(folder: str | None) -> bool:
    """Return whether the innermost folder of a path is a date."""
    path = f"{folder}/x"
    return not undated(path).endswith(f"{PurePosixPath(path).parent.name}/x")


def undated(path: str) -> str:
    """Return a path without folders that are dates, unless it has no other part."""
    return str(PurePosixPath(_DATED.sub("", f"/{path.lstrip('/')}")).relative_to("/"))


@lru_cache(maxsize=4096)
def strip_ending(file: str) -> str:
    """Return a file's path without the ending of its name."""
    path = PurePosixPath(file)
    packed = path.with_suffix("") if path.suffix == ".gz" else path
    return str(packed.with_suffix("")) if packed.suffix else str(packed)


LONGEST = 100
"""The most characters of a text that is matched."""
MOST_WAYS = 1_000_000
"""The most ways to try a pattern on one text, for tenths of seconds."""

_FIELD = re.compile(r"\{(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::(?P<width>[0-9]{1,2}))?\}")
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ONE_WAY = ("LITERAL", "NOT_LITERAL", "IN", "ANY", "AT", "RANGE", "CATEGORY", "NEGATE")


def compile_run_ids(regex: str) -> re.Pattern[str]:
    """Compile a pattern. Raise ValueError if invalid or too slow.

    A regular expression can take forever to fail (``(a+)+b``). So an upper bound of the ways to try a pattern is
    computed from the parts before the first use; a pattern above `MOST_WAYS` is refused.
    """
    try:
        compiled = re.compile(regex)
        ways = _sequence(parser.parse(regex))
    except (re.error, RecursionError, OverflowError) as error:
        raise ValueError(f"{regex!r} is no regular expression: {error}") from None
    if ways > MOST_WAYS:
        raise ValueError(
            f"{regex!r} could take too long on a text that it does not fit: "
            "say how many characters there are ({2}) in place of * and +, and repeat no group that repeats something"
        )
    return compiled


def match_run_id(compiled: re.Pattern[str], text: str) -> re.Match[str] | None:
    """Return the match of a whole text; None without match or for long texts."""
    return compiled.fullmatch(text) if len(text) <= LONGEST else None


def is_template(text: str) -> bool:
    """Return whether a pattern is written as a template, such as ``NM{device:2}{users:2}``."""
    return "(?" not in text and _FIELD.search(text) is not None


def template_to_regex(text: str) -> str:
    """Return a template's regular expression: ``{users:2}`` is two characters, ``{device}`` one or more.

    Other characters stand for themselves. Raise ValueError for a repeated field.
    """
    parts, end, names = [], 0, set[str]()
    for part in _FIELD.finditer(text):
        name, width = part["name"], part["width"]
        if name in names:
            raise ValueError(f"the template has {name} twice")
        names.add(name)
        count = ".+" if width is None else "." if width == "1" else f".{{{int(width)}}}"
        parts += [re.escape(text[end : part.start()]), f"(?P<{name}>{count})"]
        end = part.end()
    return "".join([*parts, re.escape(text[end:])])


def _sequence(items: Sequence[Any]) -> int:
    """Return the number of ways to try successive parts of a pattern."""
    ways = 1
    for item in items:
        ways = min(ways * _ways(*item), MOST_WAYS + 1)
    return ways


def _ways(op: object, what: Any) -> int:
    """Return an upper bound of a part's ways to match."""
    kind = str(op)
    if kind in _ONE_WAY:
        return 1
    if kind in _REPEATS:
        return _repeated(*what)
    if kind == "SUBPATTERN":
        return _sequence(what[-1])
    if kind == "BRANCH":
        return _either(what[1])
    # What looks around, refers back or asks conditions is not needed to read a run id, and hard to bound.
    return MOST_WAYS + 1


def _repeated(least: int, most: Any, body: Sequence[Any]) -> int:
    """Return the ways of a repetition: the sum over each number of times."""
    ways, each = 0, _sequence(body)
    for times in range(int(least), min(int(most), LONGEST) + 1):
        ways += each ** min(times, LONGEST)
        if ways > MOST_WAYS:
            return MOST_WAYS + 1
    return max(ways, 1)


def _either(branches: Sequence[Sequence[Any]]) -> int:
    """Return the ways of alternatives.

    Of plain texts, none of which begins another, only one can fit; otherwise the ways add up.
    """
    plain = all(branch and all(str(op) == "LITERAL" for op, _ in branch) for branch in branches)
    texts = sorted("".join(chr(what) for _, what in branch) for branch in branches) if plain else []
    if plain and not any(later.startswith(one) for one, later in pairwise(texts)):
        return 1
    return min(sum(map(_sequence, branches)), MOST_WAYS + 1)
