"""``manage.py loadstudies``: load the published studies of ``fixtures/studies``; safe to repeat."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from django.core.management.base import BaseCommand, CommandError, CommandParser

from fixtures.studies import files
from perfdb.analysis.audit.printed_values import Method
from perfdb.analysis.units import to_base
from perfdb.results.models import ReportItem, Study
from perfdb.results.runs import access
from perfdb.results.runs.record import SystemIdentity
from perfdb.results.studies.load_document import (
    Document,
    DocumentClaim,
    DocumentDevice,
    DocumentFigure,
    DocumentItem,
    DocumentPercent,
    DocumentRun,
    SlugTakenError,
    enqueue_loading,
    load_document,
)

_Row = TypeVar("_Row", DocumentFigure, DocumentPercent, DocumentClaim)
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_QUERY = re.compile(r"^- `([^`]+)`$", re.MULTILINE)
# Rises when the documents made of the files change, so that all are loaded again.
_VERSION = 3


class Command(BaseCommand):
    """The command that loads new and changed studies."""

    help = "Load the published studies."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slugs", nargs="*", metavar="SLUG", help="all unless said")
        parser.add_argument("--background", action="store_true", help="let a worker do it, if there is anything to do")

    def handle(self, *args: Any, **options: Any) -> None:
        """Load each study, whole or not at all."""
        present = sorted(path.parent.name for path in files.FOLDER.glob("*/study.toml"))
        unknown = set(options["slugs"]) - set(present)
        if unknown:
            raise CommandError(f"no study {', '.join(sorted(unknown))}; there are {', '.join(present)}")
        if options["background"]:
            digests = dict(Study.objects.filter(slug__in=present).values_list("slug", "document_digest"))
            if any(digests.get(slug) != _digest(files.FOLDER / slug) for slug in present):
                enqueue_loading()
            return
        owner = access.find_owner()
        for slug in options["slugs"] or present:
            try:
                if load_document(read_document(files.FOLDER / slug), owner):
                    self.stdout.write(f"loaded {slug}")
            except SlugTakenError as error:
                self.stderr.write(f"left {slug} alone: {error}")


def read_document(folder: Path) -> Document:
    """Read a study's folder (docs/studies.md) as a document."""
    about = _toml(folder / "study.toml")
    study = files.read_study(folder)
    audit, run_id, systems = about.get("audit", {}), about.get("run_id", {}), about.get("system", ())
    return Document(
        slug=about["slug"],
        title=about["title"],
        purpose=about["purpose"].strip(),
        method=about["method"].strip(),
        source=about["source"],
        digest=_digest(folder),
        date=about["date"],
        runs=[
            DocumentRun(run.row, run.run_id, int(run.trial or 1), int(run.n or 1), run.mtu_printed, run.dimensions)
            for run in study.runs
        ],
        figures=[
            _row(DocumentFigure, each, line=int(each.line), number=files.number(each.printed)) for each in study.figures
        ],
        percents=[_row(DocumentPercent, each, line=int(each.line)) for each in study.percents],
        claims=[
            _row(DocumentClaim, each, name=each.claim, line=int(each.line), value=float(each.value))
            for each in study.claims
        ],
        items=[*_tables_and_figures(_toml(folder / "tables.toml")), *_findings(folder / "findings.md")],
        systems={each["name"]: SystemIdentity(each["name"], "", each.get("processors")) for each in systems},
        devices={each["name"]: _device(each) for each in about.get("device", ())},
        notes=about.get("note", ()),
        plan=_toml(folder / "plan.toml").get("part", ()),
        audit_method=Method(audit["method"]) if "method" in audit else None,
        asked_s=audit.get("asked_s"),
        think_ms=audit.get("think_ms"),
        mtu=audit.get("mtu"),
        run_id_pattern=run_id.get("pattern", ""),
        run_id_values=run_id.get("values", {}),
    )


def _toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def _digest(folder: Path) -> str:
    digest = sha256(str(_VERSION).encode())
    for path in sorted(folder.iterdir()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def _row(kind: type[_Row], source: Any, **changed: Any) -> _Row:
    """Return a row with the fields of another one, except changed fields."""
    names = {each.name for each in fields(kind)} - changed.keys()
    return kind(**{name: getattr(source, name) for name in names}, **changed)


def _device(about: Mapping[str, Any]) -> DocumentDevice:
    number, _, unit = about.get("speed", "").partition(" ")
    # Bits come out as bytes.
    return DocumentDevice(about.get("kind", ""), round(8 * to_base(number, unit)) if unit else None)


def _tables_and_figures(about: Mapping[str, Any]) -> Iterator[DocumentItem]:
    for kind in (ReportItem.Kind.TABLE, ReportItem.Kind.FIGURE):
        for each in about.get(kind.value, ()):
            # TOML makes a table of an unquoted factor name such as factor.kernel; tables are left out.
            order = {name: values for name, values in each.get("order", {}).items() if isinstance(values, list)}
            queries = tuple(_ordered(query, order) for query in each.get("queries", ()))
            asks = _ordered(each["asks"], order) if "asks" in each else ""
            yield DocumentItem(kind.value, each["number"], each["title"], queries, asks)


def _ordered(query: str, orders: Mapping[str, Sequence[object]]) -> str:
    """Return a query with the orders of the dimensions in the layout."""
    pairs = parse_qsl(query, keep_blank_values=True)
    shown = {name for key, text in pairs if key in ("rows", "columns", "split") for name in text.split(",")}
    extra = [("order", f"{name}:{value}") for name, values in orders.items() if name in shown for value in values]
    return f"{query}&{urlencode(extra, quote_via=quote, safe=':/()')}" if extra else query


def _findings(path: Path) -> Iterator[DocumentItem]:
    """Yield the findings: sections with a heading, prose and queries."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    parts = _HEADING.split(text)[1:]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        prose = _QUERY.sub("", body).strip()
        yield DocumentItem(ReportItem.Kind.FINDING.value, "", title.strip(), tuple(_QUERY.findall(body)), prose=prose)
