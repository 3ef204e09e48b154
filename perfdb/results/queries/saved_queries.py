"""Named queries: questions that people keep, and that are asked anew of the data whenever they are opened."""

from django.contrib.auth.models import AnonymousUser, User
from django.db import IntegrityError, transaction
from django.db.models import QuerySet

from perfdb.analysis.query.parameters import QueryError
from perfdb.results.models import Page, SavedQuery, Study
from perfdb.results.queries.questions import Question

LONGEST_NAME = 200


class NameTakenError(Exception):
    """The person has a query of this name already: ``taken``."""

    def __init__(self, taken: SavedQuery) -> None:
        self.taken = taken
        super().__init__(f"there is a query called {taken.name!r} already")


def listed(page: str = "") -> QuerySet[SavedQuery]:
    """All named queries, or those that one page answers, by name."""
    found = SavedQuery.objects.select_related("owner", "study").order_by("name", "pk")
    return found.filter(page=page) if page else found


def may_change(user: User | AnonymousUser, saved: SavedQuery) -> bool:
    """Whether this visitor may rename, overwrite or delete it: who saved it, and staff."""
    return bool(user.is_authenticated and (user.is_staff or saved.owner_id == user.pk))


def question_of(saved: SavedQuery) -> Question:
    """What it asks. Raises QueryError where perfdb does not understand it any more."""
    return Question.parse(saved.page, saved.query)


def save(owner: User, name: str, question: Question, *, replace: bool = False) -> SavedQuery:
    """Keep a question under a name; ``replace`` puts it in the place of the one of that name.

    Raises QueryError for a name that cannot be one, and NameTakenError.
    """
    name = _checked(name)
    with transaction.atomic():
        taken = SavedQuery.objects.select_for_update().filter(owner=owner, name=name).first()
        if taken and not replace:
            raise NameTakenError(taken)
        saved = taken or SavedQuery(owner=owner, name=name)
        _put(saved, question)
        return saved


def overwrite(saved: SavedQuery, question: Question) -> None:
    """Let it ask something else under the same name."""
    _put(saved, question)


def rename(saved: SavedQuery, name: str) -> None:
    """Give it another name. Raises QueryError and NameTakenError."""
    saved.name = _checked(name)
    try:
        with transaction.atomic():
            saved.save(update_fields=["name", "changed"])
    except IntegrityError:
        taken = SavedQuery.objects.get(owner=saved.owner_id, name=saved.name)
        saved.refresh_from_db()
        raise NameTakenError(taken) from None


def _put(saved: SavedQuery, question: Question) -> None:
    saved.page, saved.query, saved.study = Page(question.page), question.encode(), _study(question)
    saved.save()


def _study(question: Question) -> Study | None:
    """The study that it is listed with: the only one that it is about."""
    if len(question.studies) != 1:
        return None
    # Everybody has an inbox, so a slug may name several; then it is listed with none.
    found = list(Study.objects.filter(slug=str(question.studies[0]))[:2])
    return found[0] if len(found) == 1 else None


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or len(name) > LONGEST_NAME or "\0" in name:
        raise QueryError("name", f"a query needs a name, of {LONGEST_NAME} characters at most")
    return name
