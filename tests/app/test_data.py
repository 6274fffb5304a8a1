"""The reduced table: every row, what was chosen and the target, in three formats."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import datetime

import obstore
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from obstore.store import LocalStore, ObjectStore

from app.api.schemas.differences import DifferenceRead
from app.datasets import extracts
from app.datasets.extracts import CodedFeature, Extract, coded, coded_schema
from app.datasets.keys import COLUMNS, SAMPLE
from app.outcomes.tables import ARROW, CSV, PARQUET, stream
from app.store.places import DATASETS
from core.results.selection import Derived, EncodedColumn
from tests.app.running import CSV as CSV_BYTES
from tests.app.running import Service
from tests.servers import objects_at

FRAMES: dict[str, Callable[[io.BytesIO], pl.DataFrame]] = {
    CSV: pl.read_csv,
    PARQUET: pl.read_parquet,
    ARROW: pl.read_ipc_stream,
}
CHOSEN = {"a": [1, 2, 3, 4], "b": [2.5, None, 1.0, 0.5], "y": ["x", "y", "x", "y"]}


def test_what_was_chosen_comes_with_the_target(service: Service) -> None:
    dataset = service.ready_dataset(CSV_BYTES.replace(b"slow", b"calm"), name="My table (2).csv")
    job_id = service.submit(dataset, k=2)
    assert service.client.get(f"/v1/jobs/{job_id}/data").status_code in (200, 409)
    service.final(job_id)
    path = f"/v1/jobs/{job_id}/data"
    for media_type, read in FRAMES.items():
        answer = service.client.get(path, headers={"Accept": media_type})
        assert answer.headers["content-type"].startswith(media_type)
        assert read(io.BytesIO(answer.content)).to_dict(as_series=False) == CHOSEN
    name = service.client.get(path).headers["content-disposition"]
    assert name == 'attachment; filename="My-table-2--selected.csv"'
    everything = pl.read_csv(service.client.get(path, params={"columns": "all"}).content)
    assert everything.columns == ["a", "b", "calm", "y"]
    codes = service.client.get(path, params={"encoded": "true"}, headers={"Accept": ARROW}).content
    assert set(pl.read_ipc_stream(codes).dtypes) == {pl.UInt8}


@pytest.mark.parametrize(
    ("query", "accept", "status"),
    [("columns=some", CSV, 422), ("encoded=maybe", CSV, 422), ("", "image/png", 406)],
)
def test_other_wishes_are_refused(service: Service, query: str, accept: str, status: int) -> None:
    path = f"/v1/jobs/job_{'0' * 32}/data?{query}"
    assert service.client.get(path, headers={"Accept": accept}).status_code == status


def test_without_its_dataset_a_job_has_no_table(service: Service) -> None:
    dataset = service.ready_dataset(b"a,y\n1,gone\n2,soon\n")
    job_id = service.submit(dataset, k=1)
    service.final(job_id)
    service.client.delete(f"/v1/datasets/{dataset}").raise_for_status()
    answer = service.client.get(f"/v1/jobs/{job_id}/data")
    assert (answer.status_code, answer.json()["code"]) == (404, "dataset_not_found")


@pytest.mark.parametrize("media_type", FRAMES)
def test_rows_come_a_few_at_a_time_and_codes_are_those_of_the_job(
    media_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extracts, "CELLS_AT_A_TIME", 4)
    moments = [datetime(2026, 1, 5 + day, 3 * day) for day in range(5)]
    table = pa.table(
        {"n": [1.0, 5.0, None, 9.0, 2.0], "other": range(5), "t": list("abcab"), "at": moments}
    )
    file = io.BytesIO()
    pq.write_table(table, file)
    since = Derived(name="at.elapsed", source_column="at", part="elapsed", since="2026-01-05T00:00")
    features = [
        CodedFeature(EncodedColumn(name="t", kind="discrete", levels=("a", "b"))),
        CodedFeature(_cut("n", 3.0)),
        CodedFeature(_cut("at.elapsed", 2.0), since),
        CodedFeature(
            _cut("at.hour", 9.0), Derived(name="at.hour", source_column="at", part="hour")
        ),
    ]
    extract = Extract(file, ["t", "n", "at"])
    codes = coded(extract.batches(), features)
    parts = list(stream(media_type, coded_schema(features), codes))
    assert len(parts) == 6
    found = FRAMES[media_type](io.BytesIO(b"".join(parts)))
    assert found.to_dict(as_series=False) == {
        "t": [0, 1, None, 0, 1],
        "n": [0, 1, None, 1, 0],
        "at.elapsed": [0, 0, 1, 1, 1],
        "at.hour": [0, 0, 0, 1, 1],
    }
    assert file.closed


def _cut(name: str, edge: float) -> EncodedColumn:
    return EncodedColumn(name=name, kind="continuous", levels=("low", "high"), edges=(edge,))


def test_two_jobs_stand_side_by_side(service: Service) -> None:
    dataset = service.ready_dataset()
    one, other = service.submit(dataset, k=1), service.submit(dataset, k=2, seed=7)
    for job_id in (one, other):
        service.final(job_id)
    found = service.client.get(f"/v1/jobs/{one}/difference/{other}").json()
    DifferenceRead.model_validate(found)
    assert {change["name"] for change in found["options"]} == {"/k", "/seed"}
    assert found["features"][1] == {"name": "b", "a": None, "b": 2}
    nobody = f"job_{'0' * 32}"
    assert service.client.get(f"/v1/jobs/{one}/difference/{nobody}").status_code == 404
    page = service.client.get("/compare", params={"a": one, "b": other})
    assert page.headers["location"] == f"/#/compare?a={one}&b={other}"
    assert service.client.get("/compare", params={"a": "javascript:", "b": one}).status_code == 422


@pytest.mark.parametrize("name", [COLUMNS, SAMPLE])
def test_stored_files_that_are_damaged_are_called_so(service: Service, name: str) -> None:
    dataset = service.ready_dataset(f"a,y\n1,{name}\n2,damaged\n".encode())
    job_id = service.submit(dataset, k=1)
    service.final(job_id)
    asked = {COLUMNS: f"/v1/jobs/{job_id}/data", SAMPLE: f"/v1/datasets/{dataset}/warnings"}[name]
    assert service.client.get(asked).status_code == 200
    store = store_of(service)
    key = f"default/{dataset}/{name}"
    obstore.put(store, key, b"PAR1" + bytes(100))
    answer = service.client.get(asked)
    assert (answer.status_code, answer.json()["code"]) == (409, "dataset_damaged")


def test_stored_rows_that_are_missing_are_told_from_a_dataset_that_was_deleted(
    service: Service,
) -> None:
    dataset = service.ready_dataset(b"a,y\n1,rows\n2,missing\n")
    job_id = service.submit(dataset, k=1)
    service.final(job_id)
    obstore.delete(store_of(service), f"default/{dataset}/{COLUMNS}")
    answer = service.client.get(f"/v1/jobs/{job_id}/data")
    assert (answer.status_code, answer.json()["code"]) == (409, "dataset_damaged")
    assert "not there any more" in answer.json()["detail"]


def store_of(service: Service) -> ObjectStore:
    if url := service.env.get("PITH_STORE_URL"):
        return objects_at(url, service.env)
    return LocalStore(service.data_dir / DATASETS)
