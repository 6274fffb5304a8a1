"""Keys: their form, their life, and what the door makes of them."""

from __future__ import annotations

import stat
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select
from sqlalchemy.orm import Session

from app.actors import Actor, ActorKind
from app.db.base import new_id
from app.db.clock import moment
from app.db.session import Database
from app.errors import Unauthorized
from app.keys import service
from app.keys.models import ApiKey
from app.keys.scopes import Scope
from app.keys.secret import load_secret
from app.keys.token import ALPHABET, PREFIX, id_of, new_token
from app.settings import Settings
from tests import servers
from tests.app.running import CSV, Service
from tests.servers import until

SECRET = b"s" * 32
STREAM = {"Accept": "text/event-stream"}
BOTH = frozenset({Scope.READ, Scope.WRITE})


@given(st.data())
def test_a_mistyped_key_is_no_key(data: st.DataObject) -> None:
    token = new_token()
    assert id_of(token) == "key_" + token[5:21]
    at = data.draw(st.integers(len(PREFIX), len(token) - 2))
    other = data.draw(st.sampled_from(ALPHABET.replace(token[at], "")))
    assert id_of(token[:at] + other + token[at + 1 :]) is None
    swapped = token[:at] + token[at + 1] + token[at] + token[at + 2 :]
    assert swapped == token or id_of(swapped) is None
    assert id_of(token[:-1]) is None
    assert id_of(f"{token} ") is None


def test_the_secret_is_made_once_and_for_its_owner_alone(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "new")
    found: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: found.append(load_secret(settings))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 1
    assert len(found[0]) == 64
    (path,) = (tmp_path / "new").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_secret(Settings(data_dir=tmp_path, key_secret="x" * 32)) == b"x" * 32


@pytest.fixture
def session(database_url: str) -> Iterator[Session]:
    with Database(database_url, connections=0).write() as session:
        yield session


def create(session: Session, tenant: str = "acme", days: int = 1) -> str:
    return service.create_key(session, SECRET, tenant, BOTH, days, "")[0]


def verify(session: Session, token: str, secret: bytes = SECRET) -> service.Grant:
    with session.begin():
        return service.verify(session, secret, token).grant


def test_a_key_is_its_tenants_until_revoked(session: Session) -> None:
    token, row = service.create_key(session, SECRET, "acme", BOTH, 1, "ci")
    actor = Actor(ActorKind.KEY, row.id, "ci")
    assert verify(session, token) == service.Grant("acme", BOTH, actor)
    with session.begin():
        kept = session.execute(select(*ApiKey.__table__.columns)).one()
    assert token not in str(kept)
    revoked = service.revoke_key(session, row.id)
    assert service.revoke_key(session, row.id).revoked_at == revoked.revoked_at
    with pytest.raises(Unauthorized, match="revoked"):
        verify(session, token)


def test_other_secrets_and_forged_keys_open_nothing(session: Session) -> None:
    token = create(session)
    with pytest.raises(Unauthorized, match="no such key"):
        verify(session, token, b"t" * 32)
    with pytest.raises(Unauthorized, match="no such key"):
        verify(session, new_token())
    with pytest.raises(Unauthorized, match="mistyped"):
        verify(session, token[:-1])


def test_a_tenant_has_as_many_keys_as_it_wants(session: Session) -> None:
    keys = [create(session) for _ in range(5)]
    service.revoke_key(session, id_of(keys[0]) or "")
    with pytest.raises(Unauthorized, match="revoked"):
        verify(session, keys[0])
    for key in keys[1:]:
        granted = verify(session, key)
        assert granted.actor.id == id_of(key)
        assert granted == replace(verify(session, keys[1]), actor=granted.actor)


def test_an_expired_key_opens_nothing(session: Session) -> None:
    old = create(session)
    with session.begin():
        session.get_one(ApiKey, id_of(old)).expires_at = moment(timedelta(seconds=-1))
    with pytest.raises(Unauthorized, match="expired"):
        verify(session, old)


def as_holder(service: Service, token: str) -> httpx.Client:
    headers = {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=60)


def test_scopes_decide(service: Service) -> None:
    tenant = new_id("t")
    with as_holder(service, service.key(tenant, Scope.READ)) as reader:
        assert reader.get("/v1/jobs").json()["items"] == []
        refused = reader.post("/v1/jobs", content=b"not even JSON")
        assert (refused.status_code, refused.json()["code"]) == (403, "scope_missing")
        assert 'scope="write"' in refused.headers["www-authenticate"]
        assert reader.get("/metrics").status_code == 403
    with as_holder(service, service.key(tenant, Scope.ADMIN)) as admin:
        assert admin.get("/metrics").status_code == 200
        assert admin.get("/v1/jobs").status_code == 403


@pytest.mark.parametrize(
    ("authorization", "code"),
    [
        ("Basic dXNlcjpwYXNz", "key_required"),
        ("Bearer", "key_required"),
        ("Bearer nonsense", "key_invalid"),
        (f"Bearer {new_token()}", "key_invalid"),
        ("Bearer \xff\xfe", "key_invalid"),
    ],
    ids=["basic", "nothing", "nonsense", "unknown", "bytes"],
)
def test_what_is_no_key_is_401(service: Service, authorization: str, code: str) -> None:
    headers = {b"Authorization": authorization.encode("latin-1")}
    answer = service.client.get("/v1/jobs", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, code)
    assert answer.headers["www-authenticate"].startswith('Bearer realm="pith"')
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


def test_a_revoked_key_stops_within_a_second(service: Service) -> None:
    token = service.key(new_id("t"))
    with as_holder(service, token) as client:
        assert client.get("/v1/jobs").status_code == 200
        with service.keys() as session:
            revoke_key(session, token)
        time.sleep(1)
        answer = client.get("/v1/jobs")
    assert answer.status_code == 401
    assert "was revoked" in answer.json()["detail"]


def test_a_revoked_key_ends_its_waits_and_streams(service: Service) -> None:
    tenant = new_id("t")
    token = service.key(tenant)
    with as_holder(service, token) as client:
        body = client.post("/v1/datasets", content=CSV, headers={"Content-Type": "text/csv"})
        order = {"dataset_id": body.json()["id"], "target": "slow"}
        path = f"/v1/jobs/{client.post('/v1/jobs', json=order).json()['id']}"
        with client.stream("GET", f"{path}/events", headers=STREAM) as events:
            lines = events.iter_lines()
            assert next(lines) == "event: queued"
            with service.keys() as session:
                revoke_key(session, token)
            assert not any("succeeded" in line for line in lines)
        assert client.get(path).status_code == 401
    with as_holder(service, service.key(tenant)) as client:
        assert client.post(f"{path}/cancel").status_code in {200, 202}


def revoke_key(session: Session, token: str) -> None:
    service.revoke_key(session, id_of(token) or "")


def test_the_last_use_is_noted(service: Service) -> None:
    token = service.key(new_id("t"))
    assert last_use(service, token) is None
    with as_holder(service, token) as client:
        client.get("/v1/jobs").raise_for_status()
    servers.until(lambda: last_use(service, token))
    assert last_use(service, token) is not None


def last_use(service: Service, token: str) -> object:
    with service.keys() as session, session.begin():
        return session.get_one(ApiKey, id_of(token)).last_used_at


def test_keys_are_made_listed_and_revoked_by_call(service: Service) -> None:
    tenant = new_id("t")
    with as_holder(service, service.key(tenant, Scope.ADMIN)) as admin:
        body = {"name": "nightly", "scopes": ["read"], "days": 2}
        made = admin.post("/v1/keys", json=body)
        assert made.status_code == 201, made.text
        document = made.json()
        assert (document["name"], document["scopes"]) == ("nightly", ["read"])
        with as_holder(service, document["key"]) as reader:
            assert reader.get("/v1/jobs").json()["items"] == []
            for answer in (reader.get("/v1/keys"), reader.post("/v1/jobs", json={})):
                assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
            listed = admin.get("/v1/keys").json()["items"]
            assert [key["name"] for key in listed] == ["test", "nightly"]
            assert all("key" not in key and "digest" not in key for key in listed)
            assert admin.delete(made.headers["location"]).status_code == 204
            until(lambda: reader.get("/v1/jobs").status_code == 401)
        refused: list[dict[str, object]] = [{"scopes": []}, {"days": 0}, {"scopes": ["root"]}]
        for wrong in refused:
            assert admin.post("/v1/keys", json=wrong).status_code == 422
        with as_holder(service, service.key(new_id("t"), Scope.ADMIN)) as other:
            answer = other.delete(f"/v1/keys/{listed[0]['id']}")
            assert (answer.status_code, answer.json()["code"]) == (404, "key_not_found")
            assert len(other.get("/v1/keys").json()["items"]) == 1
