"""Uploads that are refused or break off, over HTTP."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from tests.app.problems import assert_problem
from tests.app.running import CSV, Service

CSV_TYPE = {"content-type": "text/csv"}


def test_bad_uploads(service: Service) -> None:
    post = service.client.post
    assert_problem(post("/v1/datasets", content=b"x"), 415, "unsupported_media_type")
    png = {"content-type": "image/png"}
    assert_problem(post("/v1/datasets", content=b"x", headers=png), 415, "unsupported_media_type")
    assert_problem(post("/v1/datasets", data={"other": "x"}, files={"more": b"y"}), 422, "no_file")
    broken = {"content-type": "multipart/form-data"}
    assert_problem(post("/v1/datasets", content=b"x", headers=broken), 400, "malformed_multipart")
    broken = {"content-type": "multipart/form-data; boundary=B"}
    assert_problem(post("/v1/datasets", content=b"x", headers=broken), 400, "malformed_multipart")
    cut = b'--B\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\na,b'
    assert_problem(post("/v1/datasets", content=cut, headers=broken), 400, "malformed_multipart")
    endless = {"content-type": "multipart/form-data; boundary=" + "B" * 257}
    assert_problem(post("/v1/datasets", content=b"x", headers=endless), 400, "malformed_multipart")
    response = post("/v1/datasets?delimiter=ab", content=CSV, headers=CSV_TYPE)
    assert_problem(response, 422, "invalid_request", "/delimiter")


def test_uploads_beyond_the_limit(service: Service) -> None:
    def endless() -> Any:
        for _ in range(64):
            yield b"1,2\n" * 16_384

    large = b"x" * (3 << 20)
    stored = service.stored
    post = service.client.post
    assert_problem(post("/v1/datasets", content=large, headers=CSV_TYPE), 413, "upload_too_large")
    assert_problem(
        post("/v1/datasets", content=endless(), headers=CSV_TYPE), 413, "upload_too_large"
    )
    files = {"file": ("x.csv", large, "text/csv")}
    assert_problem(post("/v1/datasets", files=files), 413, "upload_too_large")
    assert service.stored == stored


def test_an_upload_that_breaks_off_leaves_nothing(service: Service) -> None:
    stored = service.stored
    address = (service.client.base_url.host, service.client.base_url.port or 80)
    with socket.create_connection(address) as connection:
        head = "POST /v1/datasets HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: text/csv\r\n"
        connection.sendall(f"{head}Content-Length: 1000000\r\n\r\na,b\n1,2\n".encode())
        if "PITH_STORE_URL" not in service.env:  # where a part is sent when there is enough for it
            service.until("/livez", lambda _: service.stored != stored)
    service.until("/livez", lambda _: service.stored == stored)
    assert service.stored == stored
    log = service.data_dir / "api.log"
    service.until("/livez", lambda _: '"status": 499' in log.read_text())
    assert "ClientDisconnect" not in log.read_text()


@pytest.mark.parametrize("name", ["a\x00b.csv", "a\x1b[2Jb.csv", "a\u202eb.csv", "a\u2066b.csv"])
def test_names_of_files_are_kept_as_people_see_them(service: Service, name: str) -> None:
    content = b"a,b\n1,2\n" + repr(name).encode()
    frame = (
        b'--B\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--B--\r\n'
    )
    response = service.client.post(
        "/v1/datasets",
        content=frame % (name.encode(), content),
        headers={"content-type": "multipart/form-data; boundary=B"},
    )
    # A control character may also end the header: then the frame itself is refused.
    if response.status_code == 201:
        assert response.json()["name"] in {"ab.csv", "a[2Jb.csv"}
    else:
        assert_problem(response, 400, "malformed_multipart")
    response = service.client.post(
        "/v1/datasets", params={"name": name}, content=content, headers=CSV_TYPE
    )
    assert_problem(response, 422, "invalid_request", "/name")
