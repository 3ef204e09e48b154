"""Two webs and three workers with a streaming replica: nothing is lost or stale."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fixtures.demo import demo_files
from perfdb.embedded.tests.cluster import Cluster, Web
from perfdb.embedded.tests.conftest import eventually

# Of the demonstration.
FILES_PER_RUN = 3
PER_UPLOAD = 6 * FILES_PER_RUN
SCANS = "SELECT seq_scan + idx_scan FROM pg_stat_user_tables WHERE relname = 'run'"
IN_PARTS = "SELECT count(DISTINCT (study_id, tableoid)) FROM run"
STORED = "SELECT count(*) FROM run JOIN study ON study.id = study_id WHERE slug = 'replica'"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """One PostgreSQL with a replica, one broker, and the schema."""
    with tempfile.TemporaryDirectory(prefix="perfdb-cluster-") as folder:
        Path(folder).chmod(0o755)
        cluster = Cluster(Path(folder))
        yield cluster
        cluster.stop()


def run_ids(web: Web, study: str) -> list[str]:
    """Return the run ids of a study in the list of runs."""
    found: list[str] = []
    address = f"/api/v1/runs/?study={study}&size=100"
    while address:
        page = web.get(address)
        found += [run["run_id"] for run in page["results"]]
        address = (page["next"] or "").partition(f":{web.port}")[2]
    return sorted(found)


def done(web: Web, uploads: list[str]) -> bool:
    return all(web.get(each)["state"] == "done" for each in uploads)


def test_nothing_is_lost_when_a_web_and_a_worker_die(cluster: Cluster) -> None:
    webs = [cluster.web("web1"), cluster.web("web2")]
    workers = [cluster.worker(f"worker{number}") for number in (1, 2, 3)]
    cluster.beat()
    files = demo_files()
    parts = [dict(files[at : at + PER_UPLOAD]) for at in range(0, len(files), PER_UPLOAD)]

    uploads = [webs[number % 2].upload(part, "lab") for number, part in enumerate(parts[:10])]
    cluster.kill(workers[0])
    cluster.kill(webs[0].child)
    left = webs[1]
    uploads += [left.upload(part, "lab") for part in parts[10:]]

    assert eventually(lambda: done(left, uploads))
    assert run_ids(left, "lab") == sorted({name.split("/")[0] for name, _ in files})


def test_pages_come_from_the_replica_and_never_too_early(cluster: Cluster) -> None:
    web = cluster.web("web3")
    cluster.worker("worker4")
    first, second = (dict(demo_files()[at : at + PER_UPLOAD]) for at in (0, PER_UPLOAD))
    upload = web.upload(first, "replica")
    assert eventually(lambda: done(web, [upload]))
    known = run_ids(web, "replica")
    assert len(known) == PER_UPLOAD / FILES_PER_RUN
    read_before = cluster.on_standby(SCANS)
    assert eventually(lambda: run_ids(web, "replica") == known and cluster.on_standby(SCANS) > read_before)

    cluster.on_standby("SELECT pg_wal_replay_pause()")
    upload = web.upload(second, "replica")
    assert eventually(lambda: done(web, [upload]))
    assert len(run_ids(web, "replica")) == 2 * len(known)
    assert cluster.on_standby(STORED) == len(known)

    cluster.on_standby("SELECT pg_wal_replay_resume()")
    assert eventually(lambda: cluster.on_standby(STORED) == 2 * len(known))


def test_tables_become_partitioned_while_all_goes_on(cluster: Cluster) -> None:
    web = cluster.web("web6")
    cluster.worker("worker6")
    parts = [dict(demo_files()[at : at + PER_UPLOAD]) for at in (0, PER_UPLOAD)]
    upload = web.upload(parts[0], "early")
    assert eventually(lambda: done(web, [upload]))

    cluster.manage("partition", "--runs", "1")
    uploads = [web.upload(part, study) for part, study in ((parts[1], "early"), (parts[0], "late"))]
    assert eventually(lambda: done(web, uploads))
    cluster.manage("partition", "--runs", "1")

    assert len(run_ids(web, "early")) == 2 * PER_UPLOAD / FILES_PER_RUN
    assert 0 < len(run_ids(web, "late")) < len(run_ids(web, "early"))
    assert eventually(lambda: cluster.on_standby("SELECT count(*) FROM run_rest") == 0)
    assert cluster.on_standby(IN_PARTS) == cluster.on_standby("SELECT count(DISTINCT study_id) FROM run")


def test_who_signs_in_by_a_link_is_known_at_once(cluster: Cluster) -> None:
    web = cluster.web("web5")
    link = cluster.manage("signinlink")

    came = web.visit(urlsplit(link).path)
    cookies = "; ".join(each.partition(";")[0] for each in came.headers.get_all("Set-Cookie", []))

    assert came.status == 302
    assert "Sign out" in web.visit("/", Cookie=cookies).text


def test_the_primary_serves_while_the_replica_is_away(cluster: Cluster) -> None:
    web = cluster.web("web4")
    cluster.worker("worker5")
    upload = web.upload(dict(demo_files()[:PER_UPLOAD]), "away")
    assert eventually(lambda: done(web, [upload]))
    known = run_ids(web, "away")

    cluster.stop_standby()

    assert known
    assert run_ids(web, "away") == known
