"""The door of a service that listens beyond loopback; every route that there is is tried."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi.routing import iter_route_contexts

from app.api.door.auth import READING, is_public
from app.keys.token import new_token
from app.main import create_app
from app.settings import Settings
from tests import servers
from tests.app.running import running_api

pytestmark = pytest.mark.usefixtures("logging_configured")

# Nothing listens there: whoever asks the database fails.
NOWHERE = "postgresql+psycopg://nobody@127.0.0.1:1/nothing"
SETTINGS: dict[str, Any] = {"database_url": NOWHERE, "key_secret": "s" * 32}
BEYOND = create_app(Settings(host="0.0.0.0", **SETTINGS))
HERE = create_app(Settings(**SETTINGS))
IDS = {
    "job_id": "job_" + "0" * 32,
    "other_id": "job_" + "1" * 32,
    "dataset_id": "ds_" + "0" * 32,
    "webhook_id": "wh_" + "0" * 32,
    "key_id": "key_" + "0" * 16,
}
PUBLIC = ["/", "/livez", "/version", "/openapi.json", "/docs", "/docs/swagger-ui.css"]


def calls() -> list[tuple[str, str]]:
    """Every method of every route."""
    return sorted(
        (method, str(route.path))
        for route in iter_route_contexts(BEYOND.routes)
        for method in route.methods or ()
    )


def call(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    base = options.pop("base", "http://127.0.0.1")

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url=base)
        async with app.router.lifespan_context(app), client:
            return await client.request(method, path.format(**IDS), **options)

    return asyncio.run(send())


@pytest.mark.parametrize(("method", "path"), calls())
def test_every_route_but_the_public_ones_wants_a_key(method: str, path: str) -> None:
    if is_public(path):
        return
    answer = call(BEYOND, method, path, content=b"{")
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == 'Bearer realm="pith"'
    assert (answer.headers.get("connection") == "close") == (method not in READING)
    if method != "HEAD":
        assert answer.json()["code"] == "key_required"


def test_what_does_not_exist_is_not_told_to_strangers() -> None:
    assert call(BEYOND, "GET", "/v2/anything").status_code == 401


def test_the_public_routes_need_none() -> None:
    for path in PUBLIC:
        assert call(BEYOND, "GET", path).status_code == 200


def test_a_mistyped_key_is_refused_without_a_database() -> None:
    headers = {"Authorization": "Bearer pith_" + "0" * 54}
    answer = call(BEYOND, "GET", "/v1/jobs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid")
    headers = {"Authorization": f"Bearer {new_token()}"}
    answer = call(BEYOND, "GET", "/v1/jobs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")


def test_a_socket_elsewhere_wants_a_key_whatever_the_settings_say() -> None:
    """As an inherited one may be."""
    assert call(HERE, "GET", "/v1/methods").status_code == 200
    assert call(HERE, "GET", "/v1/methods", base="http://192.0.2.7").status_code == 401


@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {"Host": "localhost:8000"}, 200),
        ("GET", {"Host": "[::1]:8000"}, 200),
        ("GET", {"Host": "page.example"}, 401),  # its name was made to lead here
        ("GET", {"Host": "127.0.0.1.page.example"}, 401),
        ("GET", {"Sec-Fetch-Site": "cross-site"}, 200),  # a link; the other page cannot read it
        ("POST", {"Sec-Fetch-Site": "cross-site"}, 401),  # a form
        ("POST", {"Sec-Fetch-Site": "same-site"}, 401),
        ("POST", {"Origin": "https://evil.example"}, 401),  # by a browser that says no more
        ("POST", {"Origin": "null"}, 401),
        ("POST", {"Origin": "https://evil.example", "Sec-Fetch-Site": "same-origin"}, 401),
        ("POST", {"Sec-Fetch-Site": "same-origin"}, 405),
    ],
)
def test_pages_of_others_cannot_use_a_browser_here(
    method: str, headers: dict[str, str], status: int
) -> None:
    assert call(HERE, method, "/v1/methods", headers=headers).status_code == status


def test_an_address_that_the_caller_makes_up_is_not_believed(
    migrated_sqlite: Path, valkey: servers.Valkey, tmp_path: Path
) -> None:
    """Each guess would come from an address of its own."""
    database = shutil.copy(migrated_sqlite, tmp_path / "pith.db")
    limits = {"PITH_REQUIRE_KEYS": "true", "PITH_FAILED_KEYS_PER_MINUTE": "3"}
    with running_api(f"sqlite:///{database}", valkey.url(4), tmp_path, **limits) as service:
        statuses = [
            service.client.get(
                "/v1/jobs",
                headers={
                    "Authorization": f"Bearer {new_token()}",
                    "X-Forwarded-For": f"192.0.2.{i}",
                },
            ).status_code
            for i in range(8)
        ]
    assert statuses[-1] == 429
