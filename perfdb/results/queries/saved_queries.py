"""Named queries: questions that people keep, answered from the present data when opened."""

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Page, SavedQuery, Study
from perfdb.results.queries.questions import Question

LONGEST_NAME = 200


class NameTakenError(Exception):
    """The person already has a query of this name, ``taken``."""

    def __init__(self, taken: SavedQuery) -> None:
        self.taken = taken
        super().__init__(f"there is a query called {taken.name!r} already")


def list_queries(page: str = "") -> QuerySet[SavedQuery]:
    """Return all named queries, or those of one page, by name."""
    found = SavedQuery.objects.select_related("owner", "study").order_by("name", "pk")
    return found.filter(page=page) if page else found


def save_query(owner: User, name: str, question: Question, *, replace: bool = False) -> SavedQuery:
    """Save a question, or ``replace`` that of the name. Raise QueryError, NameTakenError."""
    name = _checked(name)
    with transaction.atomic():
        taken = SavedQuery.objects.select_for_update().filter(owner=owner, name=name).first()
        if taken and not replace:
            raise NameTakenError(taken)
        saved = taken or SavedQuery(owner=owner, name=name)
        overwrite_query(saved, question)
        return saved


def overwrite_query(saved: SavedQuery, question: Question) -> None:
    """Replace the question of a named query, and the study that lists the query."""
    # Each person has an inbox of the same slug, so that an inbox may be ambiguous.
    asked = [str(study) for study in question.studies]
    found = list(Study.objects.filter(slug=asked[0])[:2]) if len(asked) == 1 else []
    saved.page, saved.query, saved.study = Page(question.page), question.encode(), found[0] if len(found) == 1 else None
    saved.save()


def rename_query(saved: SavedQuery, name: str) -> None:
    """Rename a query. Raise QueryError for an invalid name, and NameTakenError."""
    saved.name = _checked(name)
    try:
        with transaction.atomic():
            saved.save(update_fields=["name", "changed"])
    except IntegrityError:
        taken = SavedQuery.objects.get(owner=saved.owner_id, name=saved.name)
        saved.refresh_from_db()
        raise NameTakenError(taken) from None


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or "\0" in name:
        raise QueryError("name", f"a query needs a name, of {LONGEST_NAME} characters at most")
    return name
