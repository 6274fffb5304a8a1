"""Tokens of an OIDC issuer beside keys: what is believed, what is not, and who waits for whom."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from app.actors import Actor, ActorKind
from app.db.session import Database
from app.errors import Forbidden
from app.identity.claims import grant_of
from app.issuers import Issuer as Configured
from app.keys.scopes import Scope
from app.keys.service import Grant, create_key
from app.main import create_app
from app.settings import Settings
from tests.issuer import Issuer, new_key

pytestmark = pytest.mark.usefixtures("logging_configured")

SECRET = "s" * 32


@dataclass(frozen=True)
class Door:
    """A service that asks everybody who they are, and a key of it."""

    runner: asyncio.Runner
    client: httpx.AsyncClient
    key: str

    def get(self, token: str, path: str = "/v1/jobs", method: str = "GET") -> httpx.Response:
        return self.runner.run(self.send(token, path, method))

    async def send(self, token: str, path: str = "/v1/jobs", method: str = "GET") -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return await self.client.request(method, path, headers=headers)


@pytest.fixture
def door(sqlite_url: str, request: pytest.FixtureRequest) -> Iterator[Door]:
    state: Issuer = request.getfixturevalue(getattr(request, "param", "steady"))
    settings = Settings(
        database_url=sqlite_url,
        require_keys=True,
        key_secret=SECRET,
        oidc_issuers=(Configured(**state.settings()),),
    )
    with Database(sqlite_url, connections=0).write() as session:
        key, _ = create_key(session, SECRET.encode(), "acme", set(Scope), 1, "")
    app = create_app(settings)
    with asyncio.Runner() as runner:
        lifespan: AbstractAsyncContextManager[Any] = app.router.lifespan_context(app)
        runner.run(lifespan.__aenter__())
        client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://pith")
        yield Door(runner, client, key)
        runner.run(client.aclose())
        runner.run(lifespan.__aexit__(None, None, None))


def test_a_good_token_opens_its_tenant_as_far_as_its_scopes_go(door: Door, steady: Issuer) -> None:
    assert door.get(steady.token()).json() == {"items": [], "next_page_token": None}
    refused = door.get(steady.token(), method="POST")
    assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
    assert "token lacks the scope write" in refused.json()["detail"]
    written = door.get(steady.token(scope="pith:write"), method="POST")
    assert written.status_code == 415  # past the door
    assert door.get(steady.token(scope="pith:admin"), "/v1/keys").json()["items"][0]["name"] == ""
    assert door.get(door.key).status_code == 200


def confused(state: Issuer) -> str:
    """Signed by HMAC with the public key, which everybody has."""
    pem = (
        state.keys["first"]
        .public_key()
        .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    )
    parts = state.token().split(".")
    header = jwt.utils.base64url_encode(b'{"alg":"HS256","typ":"JWT","kid":"first"}')
    signed = header + b"." + parts[1].encode()
    signature = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(signed, pem)
    return (signed + b"." + jwt.utils.base64url_encode(signature)).decode()


NOW = time.time()
REFUSED: dict[str, tuple[Callable[[Issuer], str], str]] = {
    "expired": (lambda i: i.token(exp=int(NOW) - 60), "it has expired"),
    "early": (lambda i: i.token(nbf=int(time.time()) + 600), "it is not valid yet"),
    "from the future": (lambda i: i.token(iat=int(time.time()) + 600), "it is not valid yet"),
    "another audience": (lambda i: i.token(aud="billing"), "it is for another audience"),
    "another issuer": (lambda i: i.token(iss="https://issuer.example"), "issuer is not known"),
    "unsigned": (lambda i: i.token(key="", alg="none"), "algorithm that is not allowed"),
    "HMAC with the public key": (confused, "algorithm that is not allowed"),
    "an algorithm that is not configured": (
        lambda i: i.token(alg="PS256"),
        "algorithm that is not allowed",
    ),
    "the wrong key": (lambda i: i.token(key=new_key()), "its signature is wrong"),
    "a key of another kind": (
        lambda i: i.token(key=new_key("ES256"), alg="ES256"),
        "its issuer has no such key",
    ),
    "an unknown key": (
        lambda i: i.token(key=new_key(), kid="last"),
        "its issuer has no such key",
    ),
    "without an end": (lambda i: i.token(exp=None), "it lacks one of the claims"),
    "without a subject": (lambda i: i.token(sub=None), "it lacks one of the claims"),
    "changed": (lambda i: i.token()[:-8] + "AAAAAAAA", "its signature is wrong"),
    "no token": (lambda _: "a.b.c", "it cannot be read"),
    "no token at all": (lambda _: "hello", "it cannot be read"),
    "endless": (lambda i: i.token(much="x" * (1 << 15)), "it cannot be read"),
}


SIGN_OUT: dict[str, Any] = {"http://schemas.openid.net/event/backchannel-logout": {}}
NO_ACCESS: dict[str, dict[str, Any]] = {
    "signs out": {"kind": "logout+jwt"},
    "signs out, and its header does not say so": {"events": SIGN_OUT},
    "tells of events": {"kind": "application/secevent+jwt"},
    "proves a key": {"kind": "dpop+jwt"},
    "of identity": {"at_hash": "77QmUPtjPfzWtF2AnpK9RQ"},
    "of identity, by Keycloak": {"typ": "ID"},
    "of refreshing, by Keycloak": {"typ": "Refresh"},
    "of identity, by Cognito": {"token_use": "id"},
}
ACCESS: list[dict[str, Any]] = [
    {"kind": "at+jwt"}, {"kind": "application/at+jwt"}, {"kind": "AT+JWT"}, {"kind": "JWT"},
    {"kind": None}, {"typ": "Bearer"}, {"token_use": "access"}, {"nonce": "n-0S6_WzA2Mj"},
]  # fmt: skip


def test_a_token_signed_for_another_purpose_opens_nothing(door: Door, steady: Issuer) -> None:
    for name, differs in NO_ACCESS.items():
        answer = door.get(steady.token(**differs))
        assert answer.status_code == 401, name
        assert "it is no access token" in answer.json()["detail"], name
    for differs in ACCESS:
        assert door.get(steady.token(**differs)).status_code == 200, differs


def test_what_is_not_believed(door: Door, steady: Issuer) -> None:
    for name, (make, reason) in REFUSED.items():
        answer = door.get(make(steady))
        assert (answer.status_code, answer.json()["code"]) == (401, "token_invalid"), name
        assert reason in answer.json()["detail"], name
        assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_clocks_may_differ_by_a_little(door: Door, steady: Issuer) -> None:
    now = int(time.time())
    assert door.get(steady.token(exp=now - 5)).status_code == 200
    assert door.get(steady.token(nbf=now + 5, iat=now + 5)).status_code == 200


@pytest.mark.parametrize("tenant", [None, "", "Acme & Sons", ["a", "b"], 7, {"a": "b"}])
def test_a_token_that_names_no_tenant_is_forbidden(
    door: Door, steady: Issuer, tenant: object
) -> None:
    answer = door.get(steady.token(tenant=tenant))
    assert (answer.status_code, answer.json()["code"]) == (403, "tenant_missing")


def test_claims_mean_what_the_settings_say() -> None:
    configured = Configured(
        issuer="https://issuer.example",
        audience="pith",
        tenant_claim="org.id",
        tenants={"4711": "acme"},
        scope_claim="https://claims.example/roles",
        scopes={"analyst": ("read", "write"), "owner": ("admin",)},
    )
    claims = {
        "sub": "248289761001",
        "name": "Ada",
        "org": {"id": "4711"},
        "https://claims.example/roles": ["analyst", "cook", 1],
    }
    actor = Actor(ActorKind.SUBJECT, "248289761001", "Ada", "https://issuer.example")
    expected = Grant("acme", frozenset({Scope.READ, Scope.WRITE}), actor)
    assert grant_of(claims, configured) == expected
    with pytest.raises(Forbidden):
        grant_of({**claims, "org": {"id": "4712"}}, configured)
    fixed = configured.model_copy(update={"tenant_claim": "iss", "tenants": {"https://i": "b"}})
    assert grant_of({**claims, "iss": "https://i"}, fixed).tenant == "b"


@pytest.mark.parametrize(
    "fields",
    [
        {"issuer": "http://issuer.example"},
        {"issuer": "ftp://127.0.0.1"},
        {"audience": ""},
        {"algorithms": ["HS256"]},
        {"algorithms": ["none"]},
        {"algorithms": []},
        {"scopes": {"x": ["root"]}},
        {"secret": "x"},
    ],
)
def test_settings_that_would_open_too_much_are_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(fields))):
        Configured(**{"issuer": "https://issuer.example", "audience": "pith", **fields})


@pytest.mark.parametrize("door", ["fickle"], indirect=True)
def test_an_issuer_that_hangs_holds_up_nobody_with_a_key(door: Door, fickle: Issuer) -> None:
    async def scenario() -> httpx.Response:
        fickle.released.clear()
        waiting = asyncio.create_task(door.send(fickle.token()))
        while not fickle.asked:
            await asyncio.sleep(0.01)
        for _ in range(3):
            assert (await door.send(door.key)).status_code == 200
        assert not waiting.done()
        fickle.released.set()
        return await waiting

    assert door.runner.run(scenario()).status_code == 200
