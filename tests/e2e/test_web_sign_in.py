"""The page signs in at an issuer: there and back, and what it does not take for an answer."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from playwright.sync_api import Browser, Page, expect

from tests import servers
from tests.app.running import Service, running_api
from tests.e2e.browser import CHROMIUM, opened
from tests.issuer import CLIENT, Issuer, issuer

pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="Chromium is not installed")


@pytest.fixture(scope="module")
def there() -> Iterator[Issuer]:
    with issuer() as running:
        yield running


@pytest.fixture(scope="module")
def guarded(
    there: Issuer,
    migrated_sqlite: Path,
    valkey: servers.Valkey,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Service]:
    """A service that asks everybody who they are."""
    directory = tmp_path_factory.mktemp("guarded")
    database = shutil.copy(migrated_sqlite, directory / "pith.db")
    issuers = json.dumps([there.settings(client_id=CLIENT, client_parameters={"prompt": "login"})])
    env = {"PITH_REQUIRE_KEYS": "true", "PITH_OIDC_ISSUERS": issuers}
    with running_api(f"sqlite:///{database}", valkey.url(5), directory, **env) as service:
        yield service


def begin(page: Page, view: str) -> None:
    page.goto(view)
    expect(page.get_by_text("This service asks for a key.")).to_be_visible()
    page.get_by_role("button", name="Sign in at 127.0.0.1").click()


def test_there_and_back(browser: Browser, guarded: Service, there: Issuer) -> None:
    with opened(browser, guarded.url, refused=[401]) as page:
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        begin(page, "/#/datasets")
        expect(page.locator("h1")).to_have_text("Datasets")
        expect(page.locator("#key")).to_have_class("quiet set")
        expect(page.locator(".failure")).to_have_count(0)
        expect(page).to_have_url(f"{guarded.url}/#/datasets")
        token = page.evaluate("sessionStorage.getItem('pith-key')")
        assert jwt.decode(token, options={"verify_signature": False})["sub"] == "ada"
        assert page.evaluate("sessionStorage.length") == 1
        assert page.evaluate("Object.keys(localStorage)") == []
        (left,) = (url for url in asked if "/realm/authorize" in url)
        for said in ("code_challenge_method=S256", "response_type=code", "prompt=login"):
            assert said in left
        assert token not in "".join(asked)


@pytest.mark.parametrize(
    ("lie", "reason"),
    [
        ({"state": "another"}, "This sign-in was not begun here."),
        ({"nonce": "another"}, "The token is of another sign-in."),
        ({"iss": "https://another"}, "The sign-in was answered by somebody else."),
        ({"id_token": ""}, "The issuer gave no token for this sign-in."),
    ],
    ids=["state", "nonce", "issuer", "token"],
)
def test_an_answer_to_somebody_else_is_not_taken(
    browser: Browser, guarded: Service, there: Issuer, lie: dict[str, Any], reason: str
) -> None:
    there.lies = lie
    with opened(browser, guarded.url, refused=[401]) as page:
        begin(page, "/#/jobs")
        expect(page.locator("#alerts")).to_contain_text(reason)
        expect(page.get_by_text("This service asks for a key.")).to_be_visible()
        assert page.evaluate("sessionStorage.length") == 0
    there.lies = {}
