"""Fragments to run drafts: which log, which snapshots and which reports belong to one run.

Fragments are joined by the run id in their content, else by a run id in the file or folder name, else by
overlapping time on the same hosts. What stays ambiguous is a problem and is left out, never guessed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from importers.collate.assumptions import assumed_in, giving_way
from importers.collate.circumstances import add_circumstances, by_run, left_over, unused
from importers.collate.client_processes import groups_of_parts
from importers.collate.companions import companions_of, copies_of
from importers.collate.placement import Bench
from importers.collate.run_ids import RunIdPattern, apply_pattern, compile_pattern
from importers.collate.snapshot_pairs import pair_up
from importers.model import Fragment, Kind, Problem, RunDraft, Severity, SourcedFact

LONGEST_NAME = 200
"""How many characters a run id, role, host or adapter may have."""


@dataclass(slots=True)
class Collated:
    """The drafts, in the order of their first files, and the problems that belong to no draft.

    ``rows`` are those of manifests that went to no draft; the problems tell of them too.
    """

    drafts: list[RunDraft] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    rows: list[Fragment] = field(default_factory=list)


def collate(fragments: Iterable[Fragment], pattern: RunIdPattern | None = None) -> Collated:
    """Put fragments together to runs; a run's identity is (run id, trial).

    Two client logs of one identity with different content make two drafts, unless their processes were started
    together. Manifests, and then a run id's pattern, fill dimensions that the logs lack. Drafts may have snapshots
    only.
    """
    problems: list[Problem] = []
    compiled = compile_pattern(pattern, problems)
    usable = [fragment for fragment in fragments if _is_usable(fragment, problems)]
    known = {fragment.run_id.casefold(): fragment.run_id for fragment in usable if fragment.run_id}
    bench = Bench(known, compiled, problems)
    run_ids = {id(fragment): bench.run_id_of(fragment) for fragment in usable}
    bench.beside = companions_of(usable, run_ids)
    ordered = bench.without_duplicates(usable)
    bench.copies = copies_of(ordered)
    rows = by_run(fragment for fragment in ordered if fragment.kind is Kind.CIRCUMSTANCES)
    bench.place_all(ordered, groups_of_parts(ordered, run_ids, rows))
    collated = Collated(problems=problems)
    position = {id(fragment): index for index, fragment in enumerate(ordered)}
    for seat in sorted(bench.seats, key=lambda seat: min(position[id(each)] for each in seat.members)):
        pair_up(seat.draft, [each for each in seat.members if each.kind is Kind.SNAPSHOT])
        if seat.draft.fragments:
            seat.draft.facts = _merged_facts(seat.draft.fragments)
            add_circumstances(seat.draft, rows)
            apply_pattern(compiled, pattern, seat.draft)
            collated.drafts.append(seat.draft)
        else:
            problems.extend(seat.draft.problems)
    collated.rows = unused(rows, collated.drafts)
    problems.extend(left_over(collated.rows))
    return collated


def has_usable_names(fragment: Fragment) -> bool:
    """Whether run id, role, host and adapters are names; a longer text is none, and no database could index it."""
    # The client's logs of very many runs have no counters.
    names = fragment.run_id, fragment.role, fragment.host
    longest = max([len(name) for name in names if name], default=0)
    return longest <= LONGEST_NAME and (not fragment.counters or len(_longest_name(fragment)) <= LONGEST_NAME)


def _longest_name(fragment: Fragment) -> str:
    names = (fragment.run_id, fragment.role, fragment.host, *(each.subject for each in fragment.counters))
    return max((name for name in names if name), key=len, default="")


def _is_usable(fragment: Fragment, problems: list[Problem]) -> bool:
    if has_usable_names(fragment):
        return True
    longest = _longest_name(fragment)
    message = f"{longest[:20]}… has {len(longest)} characters; a run id or name has at most {LONGEST_NAME}."
    remedy = "Correct the file, or transfer it again."
    about = (fragment.file, fragment.first_line, (fragment.run_id or "")[:LONGEST_NAME] or None)
    problems.append(Problem(Severity.ERROR, "collate.long-name", message, remedy, *about))
    return False


def _merged_facts(fragments: Sequence[Fragment]) -> list[SourcedFact]:
    """All facts of a draft's fragments, driver first; the same statement once, of each host its own."""
    facts: dict[tuple[str, str, str | None], SourcedFact] = {}
    stated = {fact.key for each in fragments for fact in each.facts if fact.key not in assumed_in(each.facts)}
    for each in fragments:
        for fact in giving_way(each.facts, stated):
            sourced = SourcedFact(fact.key, fact.text, each.file, fact.line, each.role, fact.of_host)
            host = each.host or each.file if fact.of_host else None
            facts.setdefault((fact.key, fact.text, host), sourced)
    return list(facts.values())
