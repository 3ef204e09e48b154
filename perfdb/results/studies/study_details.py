"""Creating, publishing, editing and deleting a study, with the test plan."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from itertools import chain, count
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F
from django.utils.text import slugify

from importers.collate.run_ids import RunIdPattern
from perfdb.analysis.insights import plan_coverage
from perfdb.analysis.insights.plan_coverage import Part
from perfdb.analysis.query.parameters import QueryError
from perfdb.analysis.trends.histories import BY_DATE, check_order
from perfdb.results.models import Experiment, Run, Study, Upload
from perfdb.results.models.dimensions import INBOX
from perfdb.results.runs.access import ChangedMeanwhileError
from perfdb.results.runs.bulk_changes import lock_study

MAX_TITLE = 200
_LONGEST_SLUG = 60
# Addresses below /studies/ of other pages.
_TAKEN = ("new", INBOX)


def check_title(title: str) -> str:
    """Return a stripped title. Raise QueryError."""
    title = title.strip()
    if not title or len(title) > MAX_TITLE or "\0" in title:
        raise QueryError("title", f"a study needs a title, of {MAX_TITLE} characters at most")
    return title


def create_study(owner: User, title: str, slug: str = "", **texts: str) -> Study:
    """Create a study; without ``slug`` the title makes one. Raise QueryError."""
    title = check_title(title)
    with transaction.atomic():
        return Study.objects.create(owner=owner, title=title, slug=_choose_slug(title, slug.strip()), **texts)


def _choose_slug(title: str, asked: str) -> str:
    """Return the requested slug, or a free one made of the title. Raise QueryError."""
    if asked and (slugify(asked) != asked or len(asked) > _LONGEST_SLUG):
        raise QueryError("slug", f"{asked!r} is no slug: small letters, digits and hyphens, {_LONGEST_SLUG} at most")
    if asked and not _is_free(asked):
        raise QueryError("slug", f"the slug {asked} is taken")
    base = slugify(title)[:_LONGEST_SLUG].strip("-") or "study"
    return asked or next(filter(_is_free, chain([base], (f"{base}-{number}" for number in count(2)))))


def _is_free(slug: str) -> bool:
    return slug not in _TAKEN and not Study.objects.filter(slug=slug).exists()


def reason_to_keep(study: Study) -> str:
    """Return the reason why a study cannot be deleted, or ""."""
    if study.slug == INBOX:
        return "Everybody has an inbox."
    if Run.objects.filter(study=study).exists():
        return "It has runs. Move them to another study, or undo their uploads, first."
    if Upload.objects.filter(study=study).exists():
        return "Uploads were made into it, and their files are kept; an upload says where it went."
    return ""


def delete_study(study: Study) -> None:
    """Delete an empty study. Raise QueryError for another one."""
    with transaction.atomic():
        lock_study(study)
        if why := reason_to_keep(study):
            raise QueryError("study", why)
        Experiment.objects.filter(study=study, run=None).delete()
        study.delete()


def publish_study(study: Study) -> str:
    """Give a study a new read-only address; return the secret part."""
    token = secrets.token_urlsafe(16)
    Study.objects.filter(pk=study.pk).update(share_token=token)
    study.share_token = token
    return token


def unpublish_study(study: Study) -> None:
    """Remove the read-only address."""
    Study.objects.filter(pk=study.pk).update(share_token=None)
    study.share_token = None


TEXTS = ("title", "source", "purpose", "method")
MAX_TEXT = 100_000
# Compared as a whole if two people edit at once.
_EDITED = (*TEXTS, "trend_order", "notes", "run_id_pattern", "run_id_values", "plan")


def details_digest(study: Study) -> str:
    """Return a digest of the edited columns, which does not depend on runs."""
    said = json.dumps([getattr(study, name) for name in _EDITED], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def change_details(study: Study, columns: Mapping[str, Any], state: str = "") -> None:
    """Change columns of a study. Raise QueryError, and ChangedMeanwhileError unless ``state`` is the digest."""
    checked = {name: _check(name, value) for name, value in columns.items()}
    with transaction.atomic():
        lock_study(study)
        if state and details_digest(Study.objects.get(pk=study.pk)) != state:
            raise ChangedMeanwhileError(f"study {study.slug} was changed by somebody else meanwhile")
        Study.objects.filter(pk=study.pk).update(**checked, version=F("version") + 1)
    study.refresh_from_db()


def _check(name: str, value: Any) -> Any:
    if name == "title":
        return check_title(value)
    if name == "trend_order":
        return check_order(str(value).strip() or BY_DATE)
    if name in TEXTS and (len(value) > MAX_TEXT or "\0" in value):
        raise QueryError(name, f"a text has at most {MAX_TEXT} characters, and none that cannot be stored")
    if name == "plan":
        return check_plan(value)
    return _check_notes(value) if name == "notes" else value


def _check_notes(notes: Sequence[Any]) -> list[dict[str, Any]]:
    """Return notes with text and tables. Raise QueryError."""
    found = []
    for note in notes:
        text = str(note.get("text", "")).strip() if isinstance(note, Mapping) else ""
        if not text or "\0" in text:
            raise QueryError("notes", "a note needs a text")
        found.append({"tables": [str(table) for table in note.get("tables", [])], "text": text})
    return found


def pattern_columns(pattern: RunIdPattern | None) -> dict[str, Any]:
    """Return the columns of a study that hold a pattern."""
    regex, values = (pattern.regex, pattern.values) if pattern else ("", {})
    return {"run_id_pattern": regex, "run_id_values": values}


def example_run_ids(study: Study) -> list[str]:
    """Return the first eight run ids of a study."""
    return list(Run.objects.filter(study=study).order_by("run_id").values_list("run_id", flat=True).distinct()[:8])


# Keys of a part besides its lists of values.
ABOUT_PART = ("name", "figure", "trials")
MAX_PARTS = 100


def parse_plan(written: Sequence[Mapping[str, Any]]) -> list[Part]:
    """Return the parts of a stored plan. Raise QueryError."""
    if len(written) > MAX_PARTS:
        raise QueryError("plan", f"a plan has at most {MAX_PARTS} parts")
    found = []
    for number, part in enumerate(written, 1):
        name = str(part.get("name") or f"part {number}")
        lists = {key: values for key, values in part.items() if key not in ABOUT_PART}
        for key, values in lists.items():
            if not isinstance(values, list):
                raise QueryError("plan", f"part {name!r}: {key} is not a list of values")
            if not all(isinstance(value, str | int) for value in values):
                raise QueryError("plan", f"part {name!r}: {key} has a value that is neither text nor number")
        found.append(plan_coverage.parse_part(name, lists, _trials(name, part.get("trials"))))
    return found


def _trials(name: str, given: object) -> int | None:
    if given is None or (isinstance(given, int) and not isinstance(given, bool) and given > 0):
        return given
    raise QueryError("plan", f"part {name!r}: trials must be a whole number above 0, not {given!r}")


def check_plan(written: object) -> list[dict[str, Any]]:
    """Return a plan that a study may store. Raise QueryError."""
    if not isinstance(written, list) or not all(isinstance(part, dict) for part in written):
        raise QueryError("plan", "a plan is a list of parts, each with lists of values by dimension")
    for part in written:
        for name in ("name", "figure"):
            if not isinstance(part.get(name, ""), str):
                raise QueryError("plan", f"the {name} of a part is a text")
    parse_plan(written)
    return written
