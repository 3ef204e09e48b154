"""Where the lines of a file begin, in a few bytes: kept beside a large file, it spares going through all of it again.

An outline holds the encoding, how lines end, and for each block of lines where it begins and how many lines stand
before it: some 16 bytes for 256 KB of the file.
"""

import json
import sys
from array import array
from typing import Any

from importers.files.content import Content
from importers.files.lines import Cut, Lines
from importers.files.text import Form, Records
from importers.model import Text

# Rises whenever files are cut into lines in another way: what was kept before is of no use then.
VERSION = 1
_NUMBER = 8


def outline(text: Text, content: Content) -> bytes | None:
    """The outline of a file that was decoded; None where its lines are not those of its own bytes, as in UTF-16."""
    lines = text.lines
    if not isinstance(lines, Lines) or not lines.are_of(content):
        return None
    head = {
        "version": VERSION,
        "order": sys.byteorder,
        "size": len(content),
        "encoding": text.encoding,
        "whole": text.ends_whole,
        "form": _spelled(lines.cut),
    }
    return json.dumps(head).encode() + b"\n" + lines.starts.tobytes() + lines.firsts.tobytes()


def _spelled(cut: Cut) -> dict[str, Any]:
    if isinstance(cut, Records):
        return {"records": cut.length}
    assert isinstance(cut, Form)
    return {"codec": cut.codec, "ends": cut.ends.hex(), "end": cut.end}


def reopened(name: str, content: Content, kept: bytes) -> Text:
    """The text of a file by its outline, as ``decode`` made it; nothing is read until a line is asked for.

    Raises ValueError for what is no outline of this file, or that of another version.
    """
    head, _, numbers = kept.partition(b"\n")
    told = json.loads(head)
    if [told.get(each) for each in ("version", "order", "size")] != [VERSION, sys.byteorder, len(content)]:
        raise ValueError(f"not an outline of {name} as it is read today")
    half, odd = divmod(len(numbers), 2)
    if odd or half % _NUMBER or not half:
        raise ValueError(f"the outline of {name} is cut off")
    starts, firsts = array("Q", numbers[:half]), array("Q", numbers[half:])
    return Text(name, Lines(content, _form(told["form"]), starts, firsts), told["encoding"], told["whole"])


def _form(told: dict[str, Any]) -> Cut:
    if "records" in told:
        return Records(told["records"])
    return Form(told["codec"], bytes.fromhex(told["ends"]), told["end"])
