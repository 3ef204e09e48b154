"""Creating, deleting and publishing a study."""

import secrets

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Experiment, Run, Study, Upload
from perfdb.results.models.dimensions import INBOX
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
    """Create a study; without ``slug`` the title makes one.

    ``texts``: purpose, method, source. Raise QueryError for an invalid title or slug.
    """
    title = check_title(title)
    with transaction.atomic():
        return Study.objects.create(owner=owner, title=title, slug=_choose_slug(title, slug.strip()), **texts)


def _choose_slug(title: str, asked: str) -> str:
    """Return the requested slug, or a free one made of the title. Raise QueryError."""
    if asked:
        if slugify(asked) != asked or len(asked) > _LONGEST_SLUG:
            raise QueryError(
                "slug", f"{asked!r} is no slug: small letters, digits and hyphens, {_LONGEST_SLUG} at most"
            )
        if not _is_free(asked):
            raise QueryError("slug", f"the slug {asked} is taken")
        return asked
    base = slugify(title)[:_LONGEST_SLUG].strip("-") or "study"
    numbered = (f"{base}-{number}" for number in range(2, 10_000))
    return base if _is_free(base) else next(slug for slug in numbered if _is_free(slug))


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
