"""Trial numbers of a file's results: equal configurations are trials."""

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from importers.model import Fragment, makes_experiment

_SERVER = "server"


@dataclass(slots=True)
class _Group:
    """Results of one configuration, counted by server: all, and the numbered ones."""

    counts: Counter[str | None] = field(default_factory=Counter)
    numbered: Counter[str | None] = field(default_factory=Counter)

    @property
    def has_servers(self) -> bool:
        """Return whether several servers are named: their results are not trials of each other."""
        return len(self.counts.keys() - {None}) > 1

    def is_final(self, server: str | None) -> bool:
        """Return whether the number of a server's next result can no longer change."""
        return self.counts[server] > 1 and (server is None or self.has_servers)

    def number(self, fragment: Fragment, server: str | None) -> Fragment:
        """Set a result's trial number and server factor, if there are several."""
        has_servers = self.has_servers
        if has_servers and server is not None:
            own = next(fact for fact in fragment.facts if fact.key == _SERVER)
            fragment.facts = (*fragment.facts, own._replace(key=f"factor.{_SERVER}"))
        if (self.counts[server] if has_servers else self.counts.total()) > 1:
            of = server if has_servers else None
            self.numbered[of] += 1
            if fragment.trial is None:
                fragment.trial = self.numbered[of]
        return fragment


def number_trials(fragments: Iterable[Fragment]) -> list[Fragment]:
    """Number a file's fragments within each run ID, role, configuration and perhaps server."""
    return list(number_each(fragments))


def number_each(fragments: Iterable[Fragment]) -> Iterator[Fragment]:
    """Number fragments as ``number_trials`` does, each once the number is final."""
    groups: defaultdict[object, _Group] = defaultdict(_Group)
    waiting: deque[tuple[_Group, Fragment, str | None]] = deque()
    for fragment in fragments:
        server = next((fact.text for fact in fragment.facts if fact.key == _SERVER), None)
        facts = [(fact.key, fact.text) for fact in fragment.facts if makes_experiment(fact.key)]
        group = groups[fragment.run_id, fragment.role, tuple(sorted(facts, key=itemgetter(0)))]
        group.counts[server] += 1
        waiting.append((group, fragment, server))
        while waiting and waiting[0][0].is_final(waiting[0][2]):
            group, first, server = waiting.popleft()
            yield group.number(first, server)
    for group, first, server in waiting:
        yield group.number(first, server)
