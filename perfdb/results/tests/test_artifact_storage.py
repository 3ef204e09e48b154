"""Artifacts in a folder and in a bucket: the same files, whole or not there."""

import io
from collections.abc import Iterator
from urllib.request import Request, urlopen

import boto3
import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.files.base import ContentFile, File
from django.core.files.storage import default_storage
from moto.server import ThreadedMotoServer
from pytest_django import Settings

from perfdb.artifact_storage import storage
from perfdb.results.ingest import artifacts
from perfdb.results.models import Artifact, Run
from perfdb.results.tests.conftest import LOGS, Bring, case


@pytest.fixture
def bucket(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of an empty bucket on a server of this machine, where artifacts are kept for now."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "only-for-the-tests")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    urlopen(Request(f"{address}/moto-api/reset", method="POST")).close()
    boto3.client("s3", endpoint_url=address).create_bucket(
        Bucket="perf", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"}
    )
    settings.STORAGES = {**settings.STORAGES, "default": storage(f"s3://perf/lab?endpoint_url={address}")}
    yield address
    server.stop()


def names(address: str) -> list[str]:
    answer = boto3.client("s3", endpoint_url=address).list_objects_v2(Bucket="perf")
    return [each["Key"] for each in answer.get("Contents", [])]


@pytest.mark.django_db
def test_logs_go_the_whole_way_through_a_bucket(bucket: str, bring: Bring) -> None:
    logs = case("awm/three_runs")

    upload = bring(*logs)

    assert (upload.state, Run.objects.count()) == ("done", 3)
    assert sorted(names(bucket)) == sorted(f"lab/{each.path}" for each in Artifact.objects.all())
    kept = {artifacts.open_artifact(each).read() for each in Artifact.objects.all()}
    assert kept == {(LOGS / name).read_bytes() for name in logs}

    again = bring(*logs)
    assert (again.state, Run.objects.count(), len(names(bucket))) == ("done", 3, len(logs))


@pytest.mark.django_db
def test_a_large_file_of_a_bucket_is_read_where_it_is_asked_for(bucket: str) -> None:
    lines = b"".join(b"line %07d\n" % number for number in range(600_000))
    artifact = artifacts.store(ContentFile(lines))

    text = artifacts.decoded(artifact, "large.log").text
    assert text is not None
    assert text.lines[599_999] == "line 0599999"

    assert any(name.endswith(".lines") for name in names(bucket))
    again = artifacts.decoded(artifact, "large.log").text
    assert again is not None
    assert again.lines[2] == "line 0000002"


@pytest.mark.django_db
def test_a_folder_has_nothing_but_whole_files() -> None:
    class Torn(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if self.tell():
                raise OSError("no space left on device")
            return super().read(4)

    with pytest.raises(OSError, match="no space"):
        default_storage.save("ab/torn", File(Torn(b"half of it")))
    assert [name for name in default_storage.listdir("ab")[1] if name.startswith("torn")] == []

    default_storage.save("ab/whole", ContentFile(b"one"))
    assert default_storage.save("ab/whole", ContentFile(b"one")) == "ab/whole"
    with default_storage.open("ab/whole") as kept:
        assert kept.read() == b"one"


@pytest.mark.parametrize("url", ["/var/artifacts", "gs://perf", "s3://", "s3://perf?endpoint=http://s3.example.org"])
def test_an_address_that_cannot_be_meant_is_refused(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=r"ARTIFACTS_URL=.* is not s3://BUCKET/PREFIX"):
        storage(url)
