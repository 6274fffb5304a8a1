"""`make bench-service`: the service beside the least that could do the same, in one run.

Both sides of every ratio are measured in turns on the same machine, with real servers: Postgres,
Valkey, the API and a worker as processes. Absolute figures depend on the machine; ratios less so.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import numpy as np
from rich.console import Console
from rich.table import Table

from app.cli.select import read
from benchmarks.http_load import requests_per_second
from benchmarks.references import MIB, N_ASKED, N_COLUMNS, measure
from benchmarks.stage import ROOT, Stage, running, stage, until, worker
from benchmarks.uploads import copy_through_socket, upload
from core.config import GsmCpd, SelectionConfig
from core.pipeline import select_features
from tests import servers

ROUNDS = 3
METHOD = {"name": "gsm_cpd", "ranks": [20], "n_models": 3}


@dataclass(frozen=True)
class Figure:
    """One line of the table: the service, what it is compared with, and what was promised."""

    what: str
    unit: str
    service: float
    baseline: float | None
    ratio: float | None
    promise: str
    kept: bool


@dataclass(frozen=True)
class Sides:
    """The service, and the bare route beside it."""

    directory: Path
    api_port: int
    bare_port: int
    client: httpx.Client
    scene: Stage


def main() -> None:
    options = _options()
    with _beside_a_bare_route() as sides:
        figures = [*_polling(sides, options.seconds), *_upload(sides, options.megabytes)]
        with worker(sides.scene):
            figures += [*_start_delay(sides, options.jobs), *_wall_time(sides, options.rows)]
    figures += _by_reference(options.table_megabytes)
    _show(figures)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps([asdict(figure) for figure in figures], indent=2))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=4, help="of each polling measurement")
    parser.add_argument("--megabytes", type=int, default=1024, help="size of the upload")
    parser.add_argument(
        "--table-megabytes", type=int, default=256, help="size of the table by reference; 4096"
    )
    parser.add_argument("--jobs", type=int, default=50, help="submissions for the start delay")
    parser.add_argument("--rows", type=int, default=20_000, help="rows of the job's dataset")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks/out/service.json")
    return parser.parse_args()


@contextmanager
def _beside_a_bare_route() -> Iterator[Sides]:
    with stage() as scene:
        port = servers.free_port()
        env = {**scene.env, "PITH_PORT": str(port)}
        with running(["-m", "benchmarks.bare"], env, scene.directory / "bare.log"):
            until(lambda: httpx.get(f"http://127.0.0.1:{port}/").status_code == 200)
            yield Sides(scene.directory, scene.api_port, port, scene.client, scene)


def _polling(sides: Sides, seconds: float) -> Iterator[Figure]:
    """Poll a queued job: there is no worker yet that could change it."""
    dataset_id = _upload_text(sides, "a,b,y\n" + "1,2,3\n2,1,4\n" * 50)
    answer = sides.client.post("/v1/jobs", json={"dataset_id": dataset_id, "target": "y"})
    path, unchanged = (
        f"/v1/jobs/{answer.json()['id']}",
        f"If-None-Match: {answer.headers['etag']}\r\n",
    )
    rates: dict[str, list[float]] = {"bare": [], "poll": [], "unchanged": []}
    for _ in range(ROUNDS):
        rates["bare"].append(requests_per_second(sides.bare_port, "/", 200, seconds))
        rates["poll"].append(requests_per_second(sides.api_port, path, 200, seconds))
        rates["unchanged"].append(
            requests_per_second(sides.api_port, path, 304, seconds, unchanged)
        )
    bare, poll, same = (statistics.median(values) for values in rates.values())
    yield _figure("poll a job, against a bare route", "requests/s", poll, bare, "ratio >= 0.5", 0.5)
    yield _figure("poll unchanged (304), against 200", "requests/s", same, poll, "ratio > 1", 1)
    sides.client.post(f"{path}/cancel")


def _upload(sides: Sides, megabytes: int) -> Iterator[Figure]:
    source = sides.directory / "upload.csv"
    speeds: dict[str, list[float]] = {"service": [], "socket": []}
    for _ in range(ROUNDS):
        _write_random_csv(source, megabytes)
        speeds["socket"].append(megabytes / copy_through_socket(source, sides.directory / "copy"))
        seconds, dataset_id = upload(source, sides.api_port)
        speeds["service"].append(megabytes / seconds)
        sides.client.delete(f"/v1/datasets/{dataset_id}").raise_for_status()
    service, socket = (statistics.median(values) for values in speeds.values())
    what = f"upload {megabytes} MB, against socket to disk"
    yield _figure(what, "MB/s", service, socket, "ratio >= 0.5", 0.5)


def _start_delay(sides: Sides, n_jobs: int) -> Iterator[Figure]:
    """Submit one job at a time, so that the worker is free at each submission."""
    dataset_id = _upload_text(sides, "a,b,c,y\n" + "1,2,0,3\n2,1,1,4\n1,1,0,4\n" * 20)
    order = {"dataset_id": dataset_id, "target": "y", "k": 1, "method": {"name": "mrmr"}}
    _run(sides, order)
    delays = []
    for seed in range(n_jobs):
        job = _run(sides, {**order, "seed": seed})
        delays.append(1000 * (_time(job, "started_at") - _time(job, "created_at")))
    median = statistics.median(delays)
    yield Figure("submit to start, median", "ms", median, None, None, "< 100 ms", median < 100)


def _wall_time(sides: Sides, n_rows: int) -> Iterator[Figure]:
    source = sides.directory / "job.csv"
    _write_classes(source, n_rows)
    columns = read(str(source)).columns
    config = SelectionConfig(10, method=GsmCpd(ranks=(20,), n_models=3))
    order = {
        "dataset_id": upload(source, sides.api_port)[1],
        "target": "y",
        "k": 10,
        "method": METHOD,
    }
    select_features(columns, "y", config)
    _run(sides, order)
    seconds: dict[str, list[float]] = {"service": [], "core": []}
    for _ in range(ROUNDS):
        seconds["core"].append(_timed(lambda: select_features(columns, "y", config)))
        seconds["service"].append(_timed(lambda: _run(sides, order)))
    service, core = (statistics.median(values) for values in seconds.values())
    kept = service <= 1.1 * core + 1
    ratio, promise = service / core, "<= 1.1 x + 1 s"
    yield Figure(
        "a job from submit to result, against core", "s", service, core, ratio, promise, kept
    )


def _figure(
    what: str, unit: str, service: float, baseline: float, promise: str, least: float
) -> Figure:
    ratio = service / baseline
    return Figure(what, unit, service, baseline, ratio, promise, ratio >= least)


def _upload_text(sides: Sides, text: str) -> str:
    answer = sides.client.post("/v1/datasets", content=text, headers={"Content-Type": "text/csv"})
    identifier: str = answer.raise_for_status().json()["id"]
    return identifier


def _run(sides: Sides, order: dict[str, Any]) -> dict[str, Any]:
    job: dict[str, Any] = sides.client.post("/v1/jobs", json=order).raise_for_status().json()
    path = f"/v1/jobs/{job['id']}"
    while job["status"] in ("queued", "running"):
        job = sides.client.get(path, headers={"Prefer": "wait=30"}).json()
    if job["status"] != "succeeded":
        raise RuntimeError(f"the job did not succeed: {job}")
    return job


def _time(job: dict[str, Any], name: str) -> float:
    return datetime.fromisoformat(job[name]).timestamp()


def _timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _write_random_csv(path: Path, megabytes: int) -> None:
    """Other bytes each time: the service recognises what it already has."""
    block = np.random.default_rng().integers(48, 58, 1 << 20, dtype=np.uint8).tobytes()
    with path.open("wb") as file:
        for number in range(megabytes):
            file.write(number.to_bytes(4, "big") + block[4:])


def _write_classes(path: Path, n_rows: int) -> None:
    rng = np.random.default_rng(7)
    label = rng.integers(0, 4, n_rows)
    features = (label[:, None] * rng.integers(0, 2, 64) + rng.integers(0, 5, (n_rows, 64))) % 5
    header = ",".join([*(f"x{i}" for i in range(64)), "y"])
    table = np.column_stack([features, label])
    np.savetxt(path, table, fmt="%d", delimiter=",", header=header, comments="")


def _by_reference(megabytes: int) -> Iterator[Figure]:
    seen = measure(megabytes, ROUNDS)
    ratio, size = seen.rate / seen.obstore_rate, seen.n_bytes / MIB
    yield Figure(
        f"fetching {size:.0f} MiB from S3, beside obstore's own read",
        "MiB/s",
        seen.rate,
        seen.obstore_rate,
        ratio,
        "at least 0.6",
        ratio >= 0.6,
    )
    asked = N_ASKED / N_COLUMNS
    yield Figure(
        f"bytes fetched for {N_ASKED} of {N_COLUMNS} columns",
        "of all",
        seen.share,
        asked,
        seen.share / asked,
        "at most 1.1",
        seen.share <= 1.1 * asked,
    )
    growth, peak = seen.api_growth / MIB, seen.peaks["reader"] / MIB
    yield Figure("the API grows meanwhile", "MiB", growth, None, None, "at most 16", growth <= 16)
    yield Figure(
        f"peak of the reader, in {seen.seconds:.1f} s",
        "MiB",
        peak,
        None,
        None,
        "below 2048",
        peak < 2048,
    )


def _show(figures: list[Figure]) -> None:
    table = Table(title="The service beside the least that could do the same")
    for heading in ("measured", "unit", "service", "baseline", "ratio", "promised", "kept"):
        table.add_column(heading)
    for figure in figures:
        numbers = [_number(value) for value in (figure.service, figure.baseline, figure.ratio)]
        kept = "yes" if figure.kept else "no"
        table.add_row(figure.what, figure.unit, *numbers, figure.promise, kept)
    Console(width=130).print(table)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}" if value < 100 else f"{value:.0f}"


if __name__ == "__main__":
    main()
