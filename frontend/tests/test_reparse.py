"""Re-import of stored files by a newer importer, from the notice to the figures."""

from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from frontend.tests.visits import Watch, sign_in
from perfdb.results.models import Run, RunEvidence, RunSource
from perfdb.results.runs.evidence import decode_facts, encode_facts


def test_runs_of_an_older_importer_are_read_again_by_a_button(
    page: Page, watch: Watch, live_server: LiveServer, filled: dict[str, int], celery_worker_running: None
) -> None:
    """An older importer's text differs; a person's text stays."""
    run = Run.objects.get(pk=filled["run"])
    run.notes.create(text="the switch was replaced before")
    evidence = RunEvidence.objects.get(run=run)
    facts = decode_facts(evidence)
    key, right = next((key, fact) for key, fact in facts.items() if fact.line)
    old = facts | {key: right._replace(text="as it was read once")}
    evidence.facts = encode_facts(old, evidence.artifacts, evidence.lines)
    evidence.save()
    RunSource.objects.filter(run=run).update(format_version=0)

    sign_in(page, live_server)
    page.goto(f"{live_server.url}/uploads/")
    page.get_by_role("link", name="See what reading it again would change").click()
    expect(page.locator("#result")).to_contain_text(f"{run.run_id}, trial {run.trial}")
    expect(page.locator("#result")).to_contain_text("as it was read once")
    evidence.refresh_from_db()
    assert decode_facts(evidence) == old

    page.get_by_role("button", name="Apply to 1 run").click()

    expect(page.locator("#result")).to_contain_text("1 run was read again and 1 changed")
    evidence.refresh_from_db()
    assert decode_facts(evidence) == facts
    page.goto(f"{live_server.url}/runs/{run.pk}/")
    expect(page.locator("#content")).to_contain_text("the switch was replaced before")
