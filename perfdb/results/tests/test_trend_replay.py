"""The nightly study, brought in night by night: each planted change becomes one event, and nothing else does."""

from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.db import transaction

from fixtures.nights import NIGHTS, night_records
from perfdb.results.ingest import uploads
from perfdb.results.models import Delivery, Study, TrendChange, TrendEvent
from perfdb.results.tests.builders import make_study
from perfdb.results.tests.conftest import Work
from perfdb.results.trends.look import look_at
from perfdb.results.trends.subscriptions import subscribe


def bring_night(study: Study, owner: User, work: Work, night: int) -> None:
    """Upload a night, and look at the study."""
    content = ContentFile("\n".join(night_records(night)).encode())
    upload = uploads.receive(owner, [(f"night-{night:02}.ndjson", content)], study=study)
    assert work(upload).state == "done"
    with transaction.atomic():
        look_at(study)


def told(event: TrendEvent) -> list[tuple[str, bool, object, int]]:
    """Metric, whether it got better, shared dimensions and number of series of each part."""
    parts = event.summary["parts"]
    return [(each["metric"], each["better"], each["rule"]["terms"], each["members"]) for each in parts]


def test_a_replay_finds_each_planted_change_once(owner: User, work: Work, sent: list[int]) -> None:
    study = make_study("nightly")
    subscribe(owner, "https://hooks.example.org/perfdb")
    ever: dict[int, str] = {}
    for night in range(NIGHTS):
        bring_night(study, owner, work, night)
        ever |= {event.pk: event.began[:10] for event in TrendEvent.objects.all()}

    improvement, regression = TrendEvent.objects.order_by("began")
    assert ever == {improvement.pk: "2026-10-04", regression.pk: "2026-10-20"}
    messages = Delivery.objects.order_by("pk").values_list("event", "message__began")
    assert [(event, began[:10]) for event, began in messages] == list(ever.items())
    assert told(improvement) == [("mb_per_s", True, [["device", "HiperSockets"]], 3)]
    osa = [["device", "OSA"]]
    assert told(regression) == [("trans_per_s", False, osa, 3), ("cpu_ms_per_trans", False, osa, 3)]
    assert [each["key"] for each in improvement.summary["differs"]] == ["driver"]
    assert [each["key"] for each in regression.summary["differs"]] == ["kernel"]
    assert not TrendChange.objects.filter(late=True, event__isnull=False).exists()
    others = TrendChange.objects.filter(event=None).exclude(phase="gone").order_by("shape")
    assert [(each.shape, each.phase, each.dimensions["device"]) for each in others] == [
        ("drift", "confirmed", "vCTC"),
        ("levels", "suspect", "Guest LAN"),
    ]
