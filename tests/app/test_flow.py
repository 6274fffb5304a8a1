"""From a file to the result, over HTTP, with a real worker."""

from __future__ import annotations

import io
import json

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from app.api.lasting import WORTHWHILE_BYTES
from app.api.schemas.datasets import DatasetRead
from app.api.schemas.results import FactorsRead, ResultRead
from app.jobs.specification import Specification
from tests.app.running import Service


def test_upload_submit_poll_result(service: Service) -> None:
    dataset_id = service.upload()["id"]
    job_id = service.submit(dataset_id, k=2, labels={"project": "flow"})  # before it is read
    job = service.final(job_id)
    assert job["status"] == "succeeded"
    assert job["chosen"] == ["a", "b"]
    assert job["progress"] == 1
    assert job["attempts"] == 1
    assert set(job["phase_seconds"]) == {"encode", "fit", "select"}
    result = service.client.get(f"/v1/jobs/{job_id}/result").json()
    ResultRead.model_validate(result)
    assert [chosen["name"] for chosen in result["selected"]] == ["a", "b"]
    assert result["provenance"]["dataset"]["id"] == dataset_id
    assert result["provenance"]["specification"] == job["specification"]
    assert job["specification"].keys() == Specification.model_fields.keys()


def test_profile_names_every_column(service: Service) -> None:
    dataset_id = service.ready_dataset()
    dataset = service.client.get(f"/v1/datasets/{dataset_id}").json()
    DatasetRead.model_validate(dataset)
    assert dataset["n_rows"] == 4
    by_name = {column["name"]: column for column in dataset["columns"]}
    assert by_name["b"] == {
        "name": "b",
        "kind": "number",
        "levels": 3,
        "missing": 1,
        "infinite": 0,
        "min": 0.5,
        "max": 2.5,
        "counts": [1, 0, 0, 0, 1, *[0] * 10, 1],
        "values": None,
        "notes": [],
        "detected": "number",
        "chosen": False,
        "why": "Every value is a number.",
        "reading": None,
        "unfit": 0,
        "unfit_values": [],
        "examples": [],
        "parts": [],
    }
    assert by_name["y"]["kind"] == "text"


@pytest.mark.parametrize("media_type", ["parquet", "arrow.stream", "arrow.file"])
def test_binary_formats(service: Service, media_type: str) -> None:
    frame = pl.DataFrame({"f": [1, 2, None], "t": ["a", "b", media_type]})
    buffer = io.BytesIO()
    if media_type == "parquet":
        frame.write_parquet(buffer)
    elif media_type == "arrow.stream":
        frame.write_ipc_stream(buffer)
    else:
        frame.write_ipc(buffer)
    full = "application/vnd.apache." + media_type
    dataset_id = service.ready_dataset(buffer.getvalue(), media_type=full)
    columns = service.client.get(f"/v1/datasets/{dataset_id}").json()["columns"]
    assert [(c["name"], c["kind"], c["missing"]) for c in columns] == [
        ("f", "integer", 1),
        ("t", "text", 0),
    ]


def test_same_bytes_same_dataset(service: Service) -> None:
    content = b"p,q\n1,2\n3,4\n"
    first = service.client.post(
        "/v1/datasets", content=content, headers={"content-type": "text/csv"}
    )
    again = service.client.post("/v1/datasets", files={"file": ("x.csv", content, "text/csv")})
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["location"] == f"/v1/datasets/{first.json()['id']}"
    other = service.upload(content, header="false")
    assert other["id"] != first.json()["id"]


def test_factors_in_three_formats(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=2)
    service.final(job_id)
    path = f"/v1/jobs/{job_id}/factors"
    plain = service.client.get(path).json()
    FactorsRead.model_validate(plain)
    variables = plain["models"][0]["variables"]
    assert [variable["name"] for variable in variables] == ["a", "b", "y"]
    packed = service.client.get(path, headers={"accept": "application/x-npz"})
    with np.load(io.BytesIO(packed.content)) as arrays:
        assert arrays["0/weights"].tolist() == plain["models"][0]["weights"]
    arrow = service.client.get(path, headers={"accept": "application/vnd.apache.arrow.stream"})
    rows = pa.ipc.open_stream(arrow.content).read_all().to_pylist()
    assert rows[0]["probabilities"] == plain["models"][0]["weights"]
    level = {
        "model": 0,
        "variable": "a",
        "level": "low",
        "probabilities": variables[0]["factor"][0],
    }
    assert rows[1] == level
    refused = service.client.get(path, headers={"accept": "image/png"})
    assert (refused.status_code, refused.json()["code"]) == (406, "not_acceptable")
    part = service.client.get(path, params={"features": ["b"]}).json()
    assert part["models"][0]["variables"] == variables[1:]
    unknown = service.client.get(path, params={"features": ["b", "z"]})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "unknown_column")
    assert unknown.json()["errors"][0]["pointer"] == "/features/1"


def test_methods_without_a_model_have_no_factors(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=1, method={"name": "mrmr"})
    service.final(job_id)
    answer = service.client.get(f"/v1/jobs/{job_id}/factors")
    assert (answer.status_code, answer.json()["code"]) == (404, "no_factors")


def test_failures_have_codes_and_no_tracebacks(service: Service) -> None:
    content = b"fault,huge,refused,z\n1,2,3,4\n2,3,4,5\n"
    dataset_id = service.ready_dataset(content)
    codes = {}
    for target in ("fault", "huge", "refused"):
        job = service.final(service.submit(dataset_id, target=target))
        assert job["status"] == "failed"
        assert "secret" not in json.dumps(job)
        codes[target] = (job["error"]["code"], job["error"]["retryable"])
    assert codes == {
        "fault": ("internal_error", True),
        "huge": ("out_of_memory", False),
        "refused": ("invalid_data", False),
    }


def test_a_job_on_a_file_that_is_rejected_fails(service: Service) -> None:
    dataset_id = service.upload(b"only\n1\n")["id"]
    body = {"dataset_id": dataset_id, "target": "only"}
    response = service.client.post("/v1/jobs", json=body)
    if response.status_code == 202:  # it was not read yet
        job = service.final(response.json()["id"])
        assert (job["status"], job["error"]["code"]) == ("failed", "dataset_rejected")
    dataset = service.until(f"/v1/datasets/{dataset_id}", lambda d: d["status"] == "rejected")
    assert "fewer than two columns" in dataset["reason"]
    late = service.client.post("/v1/jobs", json=body)
    assert (late.status_code, late.json()["code"]) == (422, "dataset_rejected")


def test_a_job_that_waited_for_its_dataset_is_checked_too(service: Service) -> None:
    dataset_id = service.upload(b"m,n\n1,2\n2,1\n5,5\n")["id"]
    response = service.client.post("/v1/jobs", json={"dataset_id": dataset_id, "target": "nn"})
    if response.status_code == 202:
        job = service.final(response.json()["id"])
        assert job["error"]["code"] == "unknown_column"
        assert "'n'" in job["error"]["message"]
    else:
        assert response.json()["code"] == "unknown_column"


def test_what_never_changes_is_known_by_its_tag_and_compressed(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), k=2)
    service.final(job_id)
    for part in ("result", "factors", "charts", "report"):
        path = f"/v1/jobs/{job_id}/{part}"
        plain = service.client.get(path, headers={"accept-encoding": "identity"})
        assert "content-encoding" not in plain.headers
        packed = service.client.get(path, headers={"accept-encoding": "br, gzip;q=0.5"})
        assert packed.content == plain.content
        is_large = len(plain.content) >= WORTHWHILE_BYTES
        assert packed.headers.get("content-encoding") == ("gzip" if is_large else None)
        tag = plain.headers["etag"]
        assert packed.headers["etag"] == tag
        known = service.client.get(path, headers={"if-none-match": f'"other", {tag}'})
        assert (known.status_code, known.content, known.headers["etag"]) == (304, b"", tag)
        head = service.client.head(path, headers={"accept-encoding": "identity"})
        assert (head.status_code, head.content, head.headers["etag"]) == (200, b"", tag)
        assert head.headers["content-length"] == plain.headers["content-length"]
    assert service.client.delete(f"/v1/jobs/{job_id}").status_code == 204
    gone = service.client.get(path, headers={"if-none-match": tag})
    assert gone.status_code == 404


def test_heads_of_everything_that_can_be_got(service: Service) -> None:
    job_id = service.submit(service.ready_dataset(), target="slow")
    paths = ("/", "/livez", "/openapi.json", "/v1/jobs", f"/v1/jobs/{job_id}", "/v1/methods")
    for path in (*paths, f"/v1/jobs/{job_id}/events"):
        head = service.client.head(path, headers={"accept": "text/event-stream, */*"})
        assert (head.status_code, head.content) == (200, b""), path
    assert service.client.head("/v1/nothing").status_code == 404
    assert service.client.head(f"/v1/jobs/{job_id}/cancel").status_code == 405
    assert service.client.post(f"/v1/jobs/{job_id}/cancel").status_code in {200, 202}
