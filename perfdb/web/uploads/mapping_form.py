"""Form of pasted tables' mappings, read from a request and shown with guesses.

Fields are named ``t0.top.1``: table, part of its mapping, and index. A heading's meaning is written
``cpu_util@client``, ``mtu``, ``difference`` or ``ignore``, in one text field.
"""

import re
from collections.abc import Iterator, Sequence
from collections.abc import Mapping as Map
from dataclasses import replace
from typing import Any, NamedTuple

from importers.published.grid import Grid
from importers.published.heading_words import NOTHING, Guess, read_unit
from importers.published.headings import section_text
from importers.published.mapping import DIFFERENCES, FACTOR, IN_CELLS, LINES, Line, Mapping, Name, What, line_kind
from perfdb.analysis import dimensions, metrics
from perfdb.analysis.metrics import TOTAL, Measure
from perfdb.results.published.map_tables import ReadTable

# What holds for a whole table where it says nothing else: name, label, help.
FIXED = (
    ("workload", "Workload", "RR, CRR, STRG, STRP, or with sizes: RR 200/32K"),
    ("device", "Device", "display name"),
    ("mtu", "MTU", "1500, 8K, 8992"),
    ("users", "Users", "concurrent connections"),
    ("layer", "Layer", "2 or 3"),
    ("level", "Level", "a name for the software levels"),
    ("system", "System", "the machine measured on"),
    ("campaign", "Campaign", "the runs measured together"),
    ("metric", "Metric", "where no heading names one: mb_per_s"),
    ("unit", "Unit", "of that metric: MB/sec"),
    ("role", "Role", "whose figures: client, server"),
    ("trials", "Trials", "how many runs each figure is the mean of"),
    ("processors", "Processors", "of the system, for the audit"),
    ("method", "CPU figures from", "snapshot or report, for the audit"),
)
_WORDS: dict[str, str] = {
    Line.NAMES: "names of metrics",
    Line.BOTH: "workload and users",
    Line.ROLE: "client or server",
    Line.UNIT: "units",
    Line.IGNORE: "nothing",
}
_DIFFERENCES = {
    What.DIFFERENCE: "differences in per cent",
    What.REDUCTION: "reductions in per cent",
    What.IMPROVEMENT: "improvements in per cent: less time or CPU, more throughput",
    What.ABSOLUTE: "differences in the unit of the metric",
}
_SURE = 0.8
_SHOWN_TEXTS = 6
_SHOWN_ROWS = 200


class Why(NamedTuple):
    """The reason of a guess. ``ask``: a person should check the guess."""

    text: str = ""
    ask: bool = False


def _why(guess: Guess | None) -> Why:
    """Return the reason of a guess in words."""
    if guess is None:
        return Why()
    if not guess.value:
        return Why("not stated", ask=True)
    doubt = "" if guess.certainty >= _SURE else "perhaps: "
    return Why(f"{doubt}{guess.reason}", ask=bool(doubt))


# From the form.


def read_mappings(tables: Sequence[ReadTable], data: Map[str, str]) -> tuple[list[Mapping], list[str]]:
    """Read the fields of each table, with errors; missing fields stay as guessed."""
    mappings, errors = list[Mapping](), list[str]()
    for number, table in enumerate(tables):
        prefix = f"t{number}."
        fields = {name.removeprefix(prefix): text.strip() for name, text in data.items() if name.startswith(prefix)}
        mappings.append(_mapping(table, fields, errors) if fields.get("head") else table.guessed.mapping)
    return mappings, errors


def _mapping(table: ReadTable, fields: Map[str, str], errors: list[str]) -> Mapping:
    guessed = table.guessed.mapping
    head = _number(fields["head"], guessed.head, min(len(table.grid.rows), 50))
    side = _number(fields.get("side", ""), guessed.side, min(table.grid.width, 50))
    return replace(
        guessed,
        head=head,
        side=side,
        top=tuple(_line(fields, f"top.{at}", guessed.top, at) for at in range(head)),
        left=tuple(_line(fields, f"left.{at}", guessed.left, at) for at in range(side)),
        section=_line(fields, "section", (guessed.section,), 0),
        names={text: _name(fields, f"name.{at}", text, guessed, errors) for at, text in _texts(fields, "name")},
        values=_values(fields, guessed),
        fixed={name: text for name, _, _ in FIXED if (text := fields.get(f"fixed.{name}"))},
        difference=fields.get("difference", guessed.difference),
        compared=fields.get("compared", guessed.compared),
        baseline=fields.get("baseline", guessed.baseline),
    )


def _number(text: str, otherwise: int, most: int) -> int:
    return min(int(text), most) if text.isdecimal() and len(text) < 5 else otherwise


def _texts(fields: Map[str, str], part: str) -> list[tuple[str, str]]:
    """Return (number, text) of the fields ``part.NUMBER.text``."""
    matches = ((re.fullmatch(rf"{part}\.(.*)\.text", name), text) for name, text in fields.items())
    return [(match[1], text) for match, text in matches if match]


def _line(fields: Map[str, str], name: str, guessed: Sequence[str], at: int) -> str:
    try:
        return line_kind(fields.get(name, guessed[at] if at < len(guessed) else ""))
    except ValueError:
        return ""


def _name(fields: Map[str, str], part: str, text: str, guessed: Mapping, errors: list[str]) -> Name:
    known = guessed.names.get(text, Name())
    means, unit = fields.get(f"{part}.means", ""), fields.get(f"{part}.unit", "")
    if (means, unit) == (written(known), known.read_as):
        return known
    try:
        name = parse_meaning(means)
    except ValueError as error:
        errors.append(f"{text}: {error}")
        return Name()
    read = read_unit(unit)
    return replace(name, unit=known.unit, read_as=read.read_as if read else unit) if name.metric else name


def _values(fields: Map[str, str], guessed: Mapping) -> dict[str, dict[str, str]]:
    values = {dimension: dict(meanings) for dimension, meanings in guessed.values.items()}
    for at, text in _texts(fields, "value"):
        dimension, means = fields.get(f"value.{at}.dimension", ""), fields.get(f"value.{at}.means", "")
        own = values.setdefault(dimension, {})
        own.pop(text, None)
        if means and means != text:
            own[text] = means
    return {dimension: meanings for dimension, meanings in values.items() if meanings}


def written(name: Name) -> str:
    """Return a meaning as written in the form."""
    if name.what is What.MEASURE:
        return str(Measure(name.metric, name.role))
    return name.dimension if name.what is What.DIMENSION else name.what.value


def parse_meaning(text: str) -> Name:
    """Return the meaning of a text in the form. Raise ValueError for others."""
    if text in {*DIFFERENCES, What.IGNORE, What.UNKNOWN}:
        return Name(What(text))
    if text in LINES[:-4] or (text.startswith(FACTOR) and len(text) > len(FACTOR)):
        return Name(What.DIMENSION, dimension=text)
    metric, _, role = text.partition("@")
    if metric not in metrics.BY_NAME:
        raise ValueError(f"{text!r} is no metric and no dimension; others are {', '.join(DIFFERENCES)} and ignore")
    return Name(What.MEASURE, metric, role or TOTAL)


# To the page.


def meanings() -> list[tuple[str, str]]:
    """Return (text, title) of all possible meanings of a heading."""
    found = [(each.name, f"{each.title} ({each.unit})" if each.unit else each.title) for each in metrics.METRICS]
    found += [(name, f"{_title(name)}: its row or column holds values") for name in LINES[:-5]]
    return [*found, *((kind.value, title) for kind, title in _DIFFERENCES.items()), ("ignore", "left out")]


def build_table(table: ReadTable, mapping: Mapping, number: int) -> dict[str, Any]:
    """Return one table for the page, with its present mapping. ``asks``: number of parts that a person should check."""
    grid, why = table.grid, table.guessed.why
    lines = _lines(grid, mapping, why)
    names = [
        {
            "name": f"name.{at}",
            "text": text,
            "means": written(name),
            "why": _why(why.get(f"names.{text}")),
            "unit": name.read_as,
        }
        for at, (text, name) in enumerate(mapping.names.items())
    ]
    fixed = [
        (name, label, help_text, mapping.fixed.get(name, ""), _why(why.get(f"fixed.{name}")))
        for name, label, help_text in FIXED
    ]
    difference: list[tuple[str, str, str, Why]] = []
    if any(name.what in DIFFERENCES for text, name in mapping.names.items() if text != IN_CELLS):
        difference = [
            ("difference", "Dimension that differs", mapping.difference, Why()),
            ("compared", "Printed is how much larger", mapping.compared, _why(why.get("difference", NOTHING))),
            ("baseline", "than", mapping.baseline, Why()),
        ]
    reasons = [*(each["why"] for each in (*lines, *names)), *(each[-1] for each in (*fixed, *difference))]
    return {
        "prefix": f"t{number}.",
        "title": grid.title,
        "head": mapping.head,
        "side": mapping.side,
        "rows": list(_cells(grid, mapping)),
        "cut": len(grid.rows) > _SHOWN_ROWS,
        "lines": lines,
        "names": names,
        "values": [
            {"name": f"value.{at}", "text": text, "means": means, "dimension": dimension}
            for at, (dimension, text, means) in enumerate(_printed_values(table, mapping))
        ],
        "fixed": fixed,
        "difference": difference,
        "asks": sum(each.ask for each in reasons),
    }


def _lines(grid: Grid, mapping: Mapping, why: Map[str, Guess]) -> list[dict[str, Any]]:
    """Return the heading rows and columns, and the texts between rows. ``name``: the field's name."""
    texts = grid.texts()
    sections = [text for row in grid.rows[mapping.head :] if (text := section_text(row))]
    valued = [text for text in sections if mapping.names.get(text, Name()).what is What.UNKNOWN]
    lines = [
        *((f"top.{at}", f"Heading row {at + 1}", mapping.top[at], texts[at]) for at in range(mapping.head)),
        *(
            (f"left.{at}", f"Heading column {at + 1}", mapping.left[at], [row[at] for row in texts[mapping.head :]])
            for at in range(mapping.side)
        ),
        *([("section", "Texts alone in their row", mapping.section, valued)] if valued else []),
    ]
    return [
        {
            "name": name,
            "title": title,
            "texts": _sample(own),
            "options": _options(kind, own[0] if own else ""),
            "why": _why(why.get(name)),
        }
        for name, title, kind, own in lines
    ]


def _sample(texts: Sequence[str]) -> str:
    several = list(dict.fromkeys(filter(None, texts)))
    return " · ".join(several[:_SHOWN_TEXTS]) + (" …" if len(several) > _SHOWN_TEXTS else "")


def _options(kind: str, heading: str) -> list[tuple[str, str, bool]]:
    """Return the choices of a heading line, also a factor named like the heading."""
    slug = "_".join("".join(each if each.isalnum() else " " for each in heading.casefold()).split())[:40]
    factors = dict.fromkeys(each for each in (kind, f"{FACTOR}{slug or 'variant'}") if each.startswith(FACTOR))
    return [
        ("", "not known", kind == ""),
        *((name, _WORDS.get(name) or _title(name), kind == name) for name in LINES),
        *((name, f"a factor: {_title(name)}", kind == name) for name in factors),
    ]


def _title(dimension: str) -> str:
    return dimensions.dimension(dimension).title


def _cells(grid: Grid, mapping: Mapping) -> Iterator[list[dict[str, str]]]:
    """Yield the shown rows; ``kind`` of a cell is heading, section or ""."""
    for at, row in enumerate(grid.rows[:_SHOWN_ROWS]):
        usual = "section" if at >= mapping.head and section_text(row) else "heading" if at < mapping.head else ""
        yield [{"text": cell.text, "kind": usual or ("heading" if cell.column <= mapping.side else "")} for cell in row]


def _printed_values(table: ReadTable, mapping: Mapping) -> list[tuple[str, str, str]]:
    """Return (dimension, text, value) of the devices and workloads in the table."""
    found: dict[tuple[str, str], str] = {}
    for run in table.applied.runs:
        for dimension in ("device", "workload"):
            said = run.facts.get(dimension)
            if said is not None and said.line and Line.BOTH not in (*mapping.left, *mapping.top):
                found[dimension, said.printed] = said.value
    return [(dimension, text, value) for (dimension, text), value in found.items()]
