"""A study as a thing of its own: making one, taking an empty one away, and its published read-only address."""

import secrets

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Experiment, Run, Study, Upload
from perfdb.results.models.dimensions import INBOX
from perfdb.results.runs.lock import lock_study

LONGEST_TITLE = 200
_LONGEST_SLUG = 60
# Addresses below /studies/ that are no study's.
_TAKEN = ("new", INBOX)


def checked_title(title: str) -> str:
    """A title as it may be kept. Raises QueryError."""
    title = title.strip()
    if not title or len(title) > LONGEST_TITLE or "\0" in title:
        raise QueryError("title", f"a study needs a title, of {LONGEST_TITLE} characters at most")
    return title


def make(owner: User, title: str, slug: str = "", **texts: str) -> Study:
    """A new study; its slug follows from the title where none is asked for. ``texts``: purpose, method, source.

    Raises QueryError for a title or slug that may not be.
    """
    title = checked_title(title)
    with transaction.atomic():
        return Study.objects.create(owner=owner, title=title, slug=_slug(title, slug.strip()), **texts)


def _slug(title: str, asked: str) -> str:
    """A free slug: the one asked for, or one made of the title, numbered where others have it."""
    if asked:
        if slugify(asked) != asked or len(asked) > _LONGEST_SLUG:
            raise QueryError(
                "slug", f"{asked!r} is no slug: small letters, digits and hyphens, {_LONGEST_SLUG} at most"
            )
        if not _free(asked):
            raise QueryError("slug", f"the slug {asked} is taken")
        return asked
    base = slugify(title)[:_LONGEST_SLUG].strip("-") or "study"
    numbered = (f"{base}-{number}" for number in range(2, 10_000))
    return base if _free(base) else next(slug for slug in numbered if _free(slug))


def _free(slug: str) -> bool:
    return slug not in _TAKEN and not Study.objects.filter(slug=slug).exists()


def why_kept(study: Study) -> str:
    """Why a study cannot be taken away; empty where it can."""
    if study.slug == INBOX:
        return "Everybody has an inbox."
    if Run.objects.filter(study=study).exists():
        return "It has runs. Move them to another study, or undo their uploads, first."
    if Upload.objects.filter(study=study).exists():
        return "Uploads were made into it, and their files are kept; an upload says where it went."
    return ""


def take_away(study: Study) -> None:
    """Delete a study that nothing stands in. Raises QueryError where something does."""
    with transaction.atomic():
        lock_study(study)
        if why := why_kept(study):
            raise QueryError("study", why)
        Experiment.objects.filter(study=study, run=None).delete()
        study.delete()


def publish(study: Study) -> str:
    """Give the study a read-only address, a new one where it had another; answers the secret part of it."""
    token = secrets.token_urlsafe(16)
    Study.objects.filter(pk=study.pk).update(share_token=token)
    study.share_token = token
    return token


def withdraw(study: Study) -> None:
    """Take the read-only address back: whoever has it sees nothing any more."""
    Study.objects.filter(pk=study.pk).update(share_token=None)
    study.share_token = None
