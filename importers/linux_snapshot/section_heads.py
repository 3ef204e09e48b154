"""A snapshot file cut into sections: by the heads that ``tail -n +1 FILES`` prints, or by the commands echoed."""

import re
from collections.abc import Iterable, Iterator

from importers.linux_snapshot.evidence import Section
from importers.linux_snapshot.sections import is_known, is_typed_anywhere
from importers.model import Text

_HEAD = re.compile(r"==> (.+) <==")
# ``# cat /proc/stat``, ``$ ethtool -S eth0``, ``root@linuxa:~# date``, ``[perf@linuxa ~]$ date``
_PROMPT = re.compile(r"(?:[\w.-]+@[\w.-]+\S*\s?|\[[^\]]+\]\s?)?[#$]\s+(\S.*)")
_SIGNS = ("==> ", "#", "$")
_CAT = re.compile(r"(?:sudo\s+)?(?:cat|head|tail -n \+1)\s+(?=/)")
_PROBED = 400
"""In how many lines a head must come up: a snapshot begins with one, or with little before it."""


def title_of(line: str) -> str | None:
    """The file or command whose text begins after this line; None when the line is no head."""
    # The same as ``any`` of the signs, which every line of a snapshot would wait for.
    if "$" not in line and "#" not in line and "==> " not in line:
        return None
    head = _HEAD.fullmatch(line.strip())
    if head:
        return head[1].strip()
    prompt = _PROMPT.fullmatch(line.strip())
    if prompt is None:
        return None
    title = _CAT.sub("", prompt[1].strip())
    return title if is_known(title) else None


def has_sections(text: Text) -> bool:
    """Whether a file, or command output, that only a snapshot holds is announced among the first lines.

    People type ``date`` before and after they run a load tool too: behind a prompt that is no snapshot yet.
    """
    for line in text.lines[:_PROBED] if text.mentions(_SIGNS, _PROBED) else ():
        title = title_of(line)
        if title is not None and is_known(title) and (_HEAD.fullmatch(line.strip()) or not is_typed_anywhere(title)):
            return True
    return False


def split(lines: Iterable[tuple[int, str]]) -> Iterator[Section]:
    """The sections, in order; lines before the first head belong to none."""
    section: Section | None = None
    for number, line in lines:
        title = title_of(line)
        if title is not None:
            if section is not None:
                yield section
            section = Section(title, number)
        elif section is not None:
            section.lines.append((number, line))
    if section is not None:
        yield section
