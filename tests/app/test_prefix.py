"""Below a prefix, whether the proxy takes it off or not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from app.main import create_app
from app.settings import Settings
from tests.app.running import CSV

PREFIX = "/tools/pith"


@pytest.mark.usefixtures("logging_configured")
@pytest.mark.parametrize("sent", [PREFIX, ""])
def test_everything_is_below_the_prefix(sqlite_url: str, tmp_path: Path, sent: str) -> None:
    app = create_app(
        Settings(
            database_url=sqlite_url,
            broker_url="memory://",
            data_dir=tmp_path,
            root_path=PREFIX,
        )
    )

    async def talk() -> None:
        transport = httpx.ASGITransport(app)
        client = httpx.AsyncClient(transport=transport, base_url=f"http://127.0.0.1{sent}")
        async with app.router.lifespan_context(app), client:
            stored = await client.post(
                "/v1/datasets", content=CSV, headers={"content-type": "text/csv"}
            )
            assert stored.headers["location"] == f"{PREFIX}/v1/datasets/{stored.json()['id']}"
            assert (await client.get(f"/v1/datasets/{stored.json()['id']}")).status_code == 200
            document = (await client.get("/openapi.json")).json()
            assert document["servers"][0]["url"] == PREFIX
            page, reference = await client.get("/"), await client.get("/docs")
            for text in (page.text, reference.text):
                assert 'href="/' not in text
                assert 'src="/' not in text
            assert (await client.get("/web/main.js")).status_code == 200
            for path in ("/v1/jobs/", "/docs/", "/livez/"):  # no redirect to what a Host says
                elsewhere = await client.get(path, headers={"Host": "localhost"})
                assert elsewhere.status_code == 404, path

    asyncio.run(talk())


@pytest.mark.usefixtures("logging_configured")
def test_the_prefix_alone_leads_to_its_folder(tmp_path: Path) -> None:
    app = create_app(Settings(data_dir=tmp_path, root_path=PREFIX))

    async def ask() -> httpx.Response:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
            return await client.get(f"http://127.0.0.1{PREFIX}")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.headers["location"]) == (307, f"{PREFIX}/")


@pytest.mark.parametrize("prefix", ["pith", "/pith/", "/", "//pith", "/a b"])
def test_what_is_no_prefix_is_refused(prefix: str) -> None:
    with pytest.raises(ValidationError):
        Settings(root_path=prefix)
