"""``--dask``: the same records as from local processes, even if workers of the cluster die."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import pytest

import dml2onnx
from dml2onnx.batching.cluster import Cluster
from dml2onnx.batching.driving import drive
from dml2onnx.batching.journal import Journal
from dml2onnx.batching.models import collect_models
from dml2onnx.batching.work import BatchRequest
from dml2onnx.cli import main
from dml2onnx.codes.running import WORKER_DIED, WORKER_NOT_STARTED
from dml2onnx.diagnostics import DmlError
from tests.batching import jobs
from tests.batching.graphs import BROKEN, native, write
from tests.refusals import refused

pytestmark = pytest.mark.filterwarnings("ignore")
OUT = Path("out")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two workers, each a process with a nanny that replaces it when it dies."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": "CRITICAL"}
    with distributed.LocalCluster(processes=True, **options) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def statuses(request: BatchRequest, pool: Cluster) -> dict[str, tuple[str, bool]]:
    with Journal(OUT / "journal.jsonl", request.work()) as journal:
        records = drive(collect_models(["models"], OUT), request, OUT, journal, pool)
        return {Path(item.model).stem: (item.status, is_resumed) for item, is_resumed in records}


def test_models_that_end_workers_are_recorded(cluster: Any) -> None:
    for name in ("a", "dies", "exits", "hangs", "leaves", *map(str, range(20))):
        write(Path(f"models/{name}.json"), native())
    request = BatchRequest("compile")
    found = statuses(request, Cluster(jobs.by_name, cluster.scheduler_address, timeout=3.0))
    failed = {"dies": "died", "exits": "died", "leaves": "died", "hangs": "timeout"}
    assert found == {name: (failed.get(name, "passed"), False) for name in found}
    assert len(found) == 25
    assert len(list(OUT.rglob("*.onnx"))) == 21
    assert not list(OUT.rglob("*.partial"))
    lines = [json.loads(line) for line in (OUT / "journal.jsonl").read_text().splitlines()]
    (died,) = [line for line in lines if line.get("model", "").endswith("exits.json")]
    assert died["answer"]["diagnostics"][0]["code"] == WORKER_DIED.id
    again = statuses(request, Cluster(jobs.by_name, cluster.scheduler_address, timeout=3.0))
    assert again == {name: (status, True) for name, (status, _) in found.items()}


@pytest.mark.skipif(sys.platform == "win32", reason="signals as POSIX has them")
def test_no_model_is_lost_when_workers_die(cluster: Any) -> None:
    for number in range(80):
        write(Path(f"models/{number}.json"), native(number + 1))
    pool = Cluster(jobs.slowly, cluster.scheduler_address)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        victims = list(client.run(os.getpid).values())
        killer = threading.Timer(1.0, lambda: os.kill(victims[0], signal.SIGKILL))
        killer.start()
        found = statuses(BatchRequest("check"), pool)
        killer.join()
        jobs.wait_until(lambda: len(client.run(os.getpid)) == 2)
        assert victims[0] not in client.run(os.getpid).values()
    assert found == {str(number): ("passed", False) for number in range(80)}


def test_a_model_that_kills_workers_of_the_cluster(cluster: Any) -> None:
    """Twice: once among others, which the cluster may blame, and once alone."""
    for name in ("a", "fells", "y", "z"):
        write(Path(f"models/{name}.json"), native())
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.run_on_scheduler(_allow, 0)
        pool = Cluster(jobs.by_name, cluster.scheduler_address)
        found = statuses(BatchRequest("check"), pool)
        client.run_on_scheduler(_allow, 3)
    assert found == {name: ("died" if name == "fells" else "passed", False) for name in ("a", "fells", "y", "z")}


def _allow(times: int, dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = times


def test_a_scheduler_that_goes_away(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error is reported, not that of cancelling its work."""
    write(Path("models/a.json"), native())
    pool = Cluster(jobs.by_name, cluster.scheduler_address)
    start = pool.start

    def gone(*arguments: object, **options: object) -> None:
        raise distributed.comm.CommClosedError("no scheduler")

    def lost(item: Any) -> None:
        start(item)
        for future in pool._futures.values():
            future.cancel()
        monkeypatch.setattr(pool._client, "cancel", gone)

    monkeypatch.setattr(pool, "start", lost)
    with pytest.raises(dml2onnx.DmlError, match="the Dask scheduler has exited"):
        statuses(BatchRequest("compile"), pool)
    with distributed.Client(cluster.scheduler_address, set_as_default=False) as client:
        client.unregister_worker_plugin(pool._name)


def test_the_command(cluster: Any, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("models/good.json"), native())
    write(Path("models/broken.json"), BROKEN)
    address = cluster.scheduler_address
    assert main(["batch", "models", "--do", "compile", "-o", "out", "--dask", address, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["statuses"] == {"errors": 1, "passed": 1}
    assert (OUT / "models" / "good.onnx").is_file()
    assert main(["batch", "models", "--dask", address, "--jobs", "2"]) == 2
    with distributed.Client(address, set_as_default=False) as client:
        left = client.run(_plugins).values()
    assert all(not names for names in left)


def _plugins(dask_worker: Any) -> list[str]:
    return [name for name in dask_worker.plugins if name.startswith("dml2onnx")]


def test_no_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dml2onnx.batching.cluster.CONNECTING", 0.2)
    for address in ("tcp://127.0.0.1:1", "nonsense://", ""):
        assert refused(list, dml2onnx.batch([], dask=address)) == [WORKER_NOT_STARTED.id]


def test_without_the_package(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("models/good.json"), native())
    monkeypatch.delitem(sys.modules, "dml2onnx.batching.cluster")
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert main(["batch", "models", "--dask", "tcp://127.0.0.1:1"]) == 1
    assert 'pip install "dml2onnx[dask]"' in capsys.readouterr().err


@pytest.mark.parametrize("listens", [True, False], ids=["silent", "closed"])
def test_connecting_to_a_scheduler_times_out(*, listens: bool) -> None:
    """After five seconds, whether the port is closed or silent."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        start = time.monotonic()
        with pytest.raises(DmlError) as caught:
            Cluster(jobs.by_name, f"tcp://127.0.0.1:{server.getsockname()[1]}")
        assert time.monotonic() - start < 9
    (finding,) = caught.value.diagnostics
    assert finding.code == WORKER_NOT_STARTED.id
    assert "there is no Dask scheduler" in finding.message
