"""A study's runs, read once: a report asks dozens of questions of the same few hundred runs."""

from collections.abc import Iterable

from perfdb.analysis.query.query import Query
from perfdb.analysis.tables.observations import Observations, narrowed
from perfdb.analysis.tables.table import Table
from perfdb.results.models import Study
from perfdb.results.queries.answers import answer_query, make_tables
from perfdb.results.queries.observations import add_notes, read_observations
from perfdb.results.runs.aliases import meanings, understood


class Archive:
    """The complete runs of a study with the measures that some questions read; answers them as the database would."""

    def __init__(self, study: Study, questions: Iterable[Query]) -> None:
        measures = dict.fromkeys(measure for query in questions for measure in query.measures)
        self._measures = set(measures)
        whole = Query(metrics=tuple(measures), filters={"study": (study.slug,)})
        self._runs = add_notes(read_observations(whole), whole)
        self._aliases = meanings([study.slug])

    def observations(self, query: Query) -> Observations:
        """The runs of a question about the study, with all measures that were read."""
        if "tag" in query.named:
            return add_notes(read_observations(query), query)
        return narrowed(understood(query, self._runs, self._aliases), self._runs)

    def answer(self, query: Query) -> tuple[Query, list[Table]]:
        """As `querysets.answer`, in which a question ends up that reads something else. Raises QueryError."""
        if not query.metrics or not self._measures.issuperset(query.measures):
            return answer_query(query)
        query = understood(query, self._runs, self._aliases)
        return query, make_tables(query, self.observations(query))
