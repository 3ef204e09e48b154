"""Run ids in names: finds them in file and folder names, and reads the dimensions that a study's ids encode."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import PurePosixPath

from importers.collate.kinds import is_client
from importers.collate.run_id_patterns import compile_run_ids, fitting
from importers.key_values import trial_number, whole
from importers.model import Fragment, Problem, RunDraft, Severity, SourcedFact

_NOT_RUN_IDS = frozenset({"client", "server", "lpar", "before", "after", "log", "out", "result", "results"})
_LOOKS_LIKE_RUN_ID = re.compile(r"[A-Za-z](?=\w*[0-9])[A-Za-z0-9-]{2,}")
_TITLE = "report.title"  # the fact with the free text of a report's title
_SIZE = re.compile(r"([0-9]{1,30})\s*([KMGT]?)B?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RunIdPattern:
    """How a study's run ids encode dimensions.

    ``regex`` has named groups, one per dimension: ``NM(?P<device>GB|HI)(?P<workload>[RCS])…``. ``values`` maps
    a group's codes to the dimension's values: ``{"device": {"GB": "QDIO GbE"}}``; a code without an entry
    stands for itself.
    """

    regex: str
    values: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def compile_pattern(pattern: RunIdPattern | None, problems: list[Problem]) -> re.Pattern[str] | None:
    """The pattern ready for use; one that is no regular expression, or takes too long, is reported and not used."""
    if pattern is None:
        return None
    try:
        return compile_run_ids(pattern.regex)
    except ValueError as error:
        message = f"The study's run-id pattern {error}."
        problems.append(Problem(Severity.ERROR, "collate.bad-pattern", message, "Correct it in the study."))
        return None


def run_id_in_name(fragment: Fragment, known: Mapping[str, str], pattern: re.Pattern[str] | None) -> str | None:
    """A run id in the file's name or a folder's, None when there is none or more than one.

    Known run ids count first (``known`` has them by their text in lower case), also as a word of a report's title;
    then what the pattern fits, then a word of letters and digits at the head of the file's name or as the folder's
    name.
    """
    titles = (fact.text for fact in fragment.facts if fact.key == _TITLE)
    words = [*_words(fragment.file), *(word for title in titles for word in title.split())]
    by_content = dict.fromkeys(known[word.casefold()] for word in words if word.casefold() in known)
    by_pattern = dict.fromkeys(word for word in words if pattern is not None and fitting(pattern, word))
    for found in (by_content, by_pattern, dict.fromkeys(_likely(fragment))):
        if found:
            return next(iter(found)) if len(found) == 1 else None
    return None


# A file may have thousands of fragments, one after the other.
@lru_cache(256)
def _words(name: str) -> tuple[str, ...]:
    """The file's name and the folders' names, each whole and cut at dots, blanks, underscores and hyphens."""
    parts = reversed(PurePosixPath(name).parts)
    return tuple(word for part in parts for word in (part, *re.split(r"[.\s]+", part), *re.split(r"[._\-\s]+", part)))


@lru_cache(256)
def _place(name: str) -> tuple[str, str]:
    """The name of the folder in which a file is, and its own."""
    path = PurePosixPath(name)
    return path.parent.name, path.name


def _likely(fragment: Fragment) -> Iterator[str]:
    folder, name = _place(fragment.file)
    for word in (folder, _head(fragment, name)):
        if not _is_usual(word, fragment) and _LOOKS_LIKE_RUN_ID.fullmatch(word):
            yield word


def _head(fragment: Fragment, name: str) -> str:
    """The first word of a file's name. Of a log what an underscore joins to it may tell its run from another."""
    word = re.split(r"[.\s]+", name)[0]
    head, *rest = word.split("_")
    return word if is_client(fragment) and not all(_is_usual(each, fragment) for each in rest) else head


def _is_usual(word: str, fragment: Fragment) -> bool:
    """Whether a word says what the file is, not which run it is of."""
    return word.lower() in (*_NOT_RUN_IDS, fragment.format, fragment.format.rstrip("0123456789")) or (
        word.lower() == (fragment.host or "").lower()
    )


def apply_pattern(compiled: re.Pattern[str] | None, pattern: RunIdPattern | None, draft: RunDraft) -> None:
    """Add the dimensions that the run id encodes and no file states; report those that contradict."""
    match = fitting(compiled, draft.run_id) if compiled else None
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
        for fact in stated:
            # Of several processes each says its own users; all together are those of the run.
            if draft.parts and key == "users":
                continue
            if not same_value(fact.text, value):
                draft.problems.append(_contradiction(draft.run_id, value, fact))


def _contradiction(run_id: str, value: str, fact: SourcedFact) -> Problem:
    message = f"By the study's pattern, run id {run_id} means {fact.key} {value}, but the file says {fact.text}."
    remedy = "Correct the run id, the log or the study's run-id pattern."
    code = "collate.pattern-contradiction"
    return Problem(Severity.WARNING, code, message, remedy, fact.file, fact.line, run_id)


def same_value(one: str, other: str) -> bool:
    """Whether two texts of a dimension mean the same.

    They are equal apart from capitals, leading zeros and the letter for a power of 1024.
    """
    if one.strip().casefold() == other.strip().casefold():
        return True
    sizes = [_SIZE.fullmatch(text.strip()) for text in (one, other)]
    values = [whole(size[1]) << 10 * " KMGT".index(size[2].upper() or " ") for size in sizes if size]
    return len(values) == 2 and values[0] == values[1]
