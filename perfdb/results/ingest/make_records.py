"""Run records made from fragments: collated, normalized, and derived from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from importers.collate.drafts import Collated, collate
from importers.collate.run_ids import RunIdPattern
from importers.model import Fragment, RunDraft, content_digest
from perfdb.results.models import Study
from perfdb.results.runs.derive import collect_figures, derive_again, derive_into
from perfdb.results.runs.normalize import Aliases, Context, prepare
from perfdb.results.runs.normalize.alias_dimensions import align
from perfdb.results.runs.normalize.run_checks import add_audit
from perfdb.results.runs.record import RunRecord, Source

Span = tuple[int, int]  # The first and last line of a fragment.


def pattern_of(study: Study) -> RunIdPattern | None:
    """Return the pattern by which the study's run IDs encode dimensions, or None."""
    if not study.run_id_pattern:
        return None
    groups = study.run_id_values if isinstance(study.run_id_values, dict) else {}
    values = {
        name: {code: str(value) for code, value in codes.items()}
        for name, codes in groups.items()
        if isinstance(codes, dict)
    }
    return RunIdPattern(study.run_id_pattern, values)


def collate_fragments(study: Study, fragments: Iterable[Fragment]) -> Collated:
    """Return the run drafts of fragments, by the study's run-ID pattern."""
    return collate(fragments, pattern_of(study))


def single_draft(study: Study, fragments: Sequence[Fragment]) -> RunDraft | None:
    """Return the draft of all these fragments; None unless all make one run."""
    drafts = collate_fragments(study, fragments).drafts
    complete = len(drafts) == 1 and digests_of(fragments) <= digests_of(drafts[0].fragments)
    return drafts[0] if complete else None


def make_record(draft: RunDraft, context: Context) -> RunRecord:
    """Return a draft's record with derived values and audit."""
    record = prepare(draft, context)
    if not record.refused:
        derive_into(record)
        add_audit(record, context.artifacts)
    return record


def realign_dimensions(
    record: RunRecord, aliases: Aliases, dimensions: Iterable[str], artifacts: Mapping[str, int]
) -> None:
    """Apply other aliases to these dimensions, and derive again if needed."""
    before = collect_figures(record)
    align(record, aliases, dimensions, artifacts)
    # No formula reads the printed texts that an alias keeps as facts.
    if replace(collect_figures(record), facts=before.facts) != before:
        derive_again(record)


def digests_of(fragments: Iterable[Fragment]) -> set[str]:
    """Return the digests of fragments, which are equal for equal content."""
    return {content_digest(fragment) for fragment in fragments}


def spans_of(fragments: Iterable[Fragment]) -> tuple[Span, ...]:
    """Return the lines of each fragment, in order."""
    return tuple(sorted({(fragment.first_line, fragment.last_line) for fragment in fragments}))


def make_source(own: Sequence[Fragment], about: tuple[int, int, str, str, int]) -> Source:
    """Return a source of these fragments; ``about``: artifact, upload, path, format and version."""
    digests, has_driver = tuple(sorted(digests_of(own))), any(fragment.is_client for fragment in own)
    return Source(*about, digests, has_driver, spans_of(own))


def sources_of(fragments: Iterable[Fragment], artifacts: Mapping[str, int], upload: int) -> list[Source]:
    """Return a source for each file of fragments, which came with one upload."""
    files: dict[str, list[Fragment]] = {}
    for fragment in fragments:
        files.setdefault(fragment.file, []).append(fragment)
    return [
        make_source(own, (artifacts[file], upload, file, own[0].format, own[0].format_version))
        for file, own in files.items()
    ]
