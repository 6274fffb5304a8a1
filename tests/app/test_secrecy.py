"""What answers and logs say, and what they never do."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.keys.token import new_token
from app.main import create_app
from app.settings import Settings
from tests import servers
from tests.app.running import CSV, Service, running_api, running_worker
from tests.issuer import issuer

HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
PAGES = ["/", "/docs"]
DATA = ["/livez", "/v1/jobs", "/v1/nothing", "/openapi.json", "/docs/swagger-ui.css", "/metrics"]


@pytest.mark.parametrize("path", [*PAGES, *DATA, "/v1/jobs?page_size=0"])
def test_every_answer_has_secure_headers(service: Service, path: str) -> None:
    answer = service.client.get(path)
    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    policy = answer.headers.get_list("content-security-policy")
    assert len(policy) == 1
    assert policy[0].startswith("default-src 'none'")
    assert "unsafe" not in policy[0]
    assert "frame-ancestors 'none'" in policy[0]
    assert ("script-src 'self'" in policy[0]) == (path in PAGES)


def test_pages_hold_no_script_that_the_policy_would_stop(service: Service) -> None:
    for path in PAGES:
        page = service.client.get(path).text
        assert page.count("<script") == page.count("<script src=") + page.count("<script type")
        assert "onclick" not in page
        assert "style=" not in page


@pytest.mark.usefixtures("logging_configured")
def test_a_fault_is_logged_and_not_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = create_app(Settings(data_dir=tmp_path, broker_url="memory://"))

    @app.get("/v1/broken")
    def break_down() -> None:
        raise RuntimeError("inner workings")

    async def ask() -> httpx.Response:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/v1/broken")

    answer = asyncio.run(ask())
    assert (answer.status_code, answer.json()["code"]) == (500, "internal_error")
    assert "inner" not in answer.text
    assert "Traceback" not in answer.text
    assert HEADERS.items() <= dict(answer.headers).items()
    assert "inner workings" in caplog.text


def test_secrets_are_in_no_log_and_no_answer(
    postgres_url: str, valkey: servers.Valkey, tmp_path: Path
) -> None:
    """All that can go wrong with addresses that hold passwords, at the most talkative level."""
    database, secret = postgres_url.replace("@", ":hush-database@"), "hush-secret" * 3
    broker = valkey.url(4).replace("//", "//:hush-broker@")  # it has none, and will complain
    answers: list[str] = []
    env = {"PITH_KEY_SECRET": secret, "PITH_LOG_LEVEL": "debug"}
    env["PITH_ALLOWED_NETWORKS"] = "127.0.0.1"
    with (
        issuer() as there,
        running_api(
            database, broker, tmp_path, PITH_OIDC_ISSUERS=json.dumps([there.settings()]), **env
        ) as service,
        running_worker(service),
    ):
        token, unknown = service.key("acme", secret=secret.encode()), new_token()
        signed = [there.token(**claims) for claims in ({}, {"exp": 1}, {"iss": "hush"})]
        for key in (token, unknown, token[:-1], *signed, signed[0][:-9], f"{signed[0]}.x"):
            answers += talk(service, key)
        asked = {"Authorization": f"Bearer {token}"}
        hook = {"url": "http://127.0.0.1:9/"}
        made = service.client.post("/v1/webhooks", json=hook, headers=asked).json()
        service.client.post(f"/v1/webhooks/{made['id']}/ping", headers=asked)
        gone = postgres_url.replace("@", ":hush-database@").replace("/test_", "/gone_test_")
        answers.append(migrate({**service.env, "PITH_DATABASE_URL": gone}))
        worker_log = tmp_path / "worker.log"
        service.until("/livez", lambda _: '"webhook"' in worker_log.read_text())
    written = [path.read_text() for path in tmp_path.glob("*.log")]
    assert len(written) == 2
    assert all(len(text) > 100 for text in written)
    for text in (*answers, *written):
        assert "hush" not in text
        assert token[5:21] + token[21:40] not in text
        assert unknown not in text
        assert made["secret"].removeprefix("whsec_") not in text
        for part in {part for one in signed for part in one.split(".")[1:]}:
            assert part not in text


def talk(service: Service, key: str) -> list[str]:
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "text/csv"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=60) as client:
        answers = [
            client.post("/v1/datasets", content=CSV),
            client.get(f"/v1/jobs?key={key}"),
            client.get(f"/{key}"),
            client.get("/readyz"),
        ]
    return [answer.text.replace(key, "") for answer in answers]


def migrate(env: dict[str, str]) -> str:
    command = [sys.executable, "-m", "app", "migrate"]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stdout + done.stderr


CONNECTIONS = """
[lake]
type = "file"
url = "file://{directory}/lake"
secrets.unused = {{ env = "HUSH_A" }}
[bucket]
type = "s3"
url = "s3://nobody/nothing"
endpoint = "{s3}"
secrets.access_key_id = {{ env = "HUSH_B" }}
secrets.secret_access_key = {{ env = "HUSH_C" }}
[warehouse]
type = "postgres"
url = "postgresql://{owner}@127.0.0.1:{postgres}/{database}"
queries = true
secrets.password = {{ env = "HUSH_D" }}
[gone]
type = "postgres"
url = "postgresql://{owner}@127.0.0.1:{postgres}/gone"
secrets.password = {{ env = "HUSH_D" }}
[web]
type = "https"
hosts = ["localhost"]
secrets.token = {{ env = "HUSH_E" }}
[unset]
type = "https"
hosts = ["localhost"]
secrets.token = {{ env = "HUSH_F" }}
"""
SOURCES: dict[str, dict[str, str]] = {
    "bucket": {"path": "x.csv"},
    "warehouse": {"query": "SELECT 1 AS a, current_setting('hush.x') AS b"},
    "gone": {"table": "x"},
    "web": {"path": "https://localhost/x.csv"},
    "unset": {"path": "https://localhost/x.csv"},
}


def test_secrets_of_connections_are_nowhere(
    sqlite_url: str,
    postgres: servers.Postgres,
    s3: servers.S3,
    valkey: servers.Valkey,
    tmp_path: Path,
) -> None:
    """Every kind of connection fails, one does not; then all that was kept or told is searched."""
    where = {"directory": tmp_path, "s3": s3.env["AWS_ENDPOINT_URL"], "owner": servers.OWNER}
    where |= {"postgres": postgres.port, "database": postgres.create()}
    (tmp_path / "connections.toml").write_text(CONNECTIONS.format(**where))
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "x.csv").write_bytes(CSV)
    env = {f"HUSH_{name}": f"hush-{name}-hush" for name in "ABCDE"}
    env |= {"PITH_CONNECTIONS": str(tmp_path / "connections.toml"), "PITH_LOG_LEVEL": "debug"}
    env["PITH_BACKOFF_SECONDS"] = "0.05"
    with (
        running_api(sqlite_url, valkey.url(5), tmp_path, **env) as service,
        running_worker(service),
    ):
        told = [str(fail(service, name, source)) for name, source in SOURCES.items()]
        body = {"source": {"connection": "lake", "path": "x.csv"}, "target": "y"}
        job = service.final(service.client.post("/v1/jobs", json=body).json()["id"])
        assert job["status"] == "succeeded", job
        paths = ("/v1/connections", "/v1/datasets", f"/v1/jobs/{job['id']}/report", "/", "/metrics")
        told += [service.client.get(path).text for path in paths]
    told += [
        path.read_bytes().decode(errors="replace") for path in tmp_path.rglob("*") if path.is_file()
    ]
    assert "failed" in (tmp_path / "worker.log").read_text()
    for text in told:
        assert "hush-" not in text


def fail(service: Service, connection: str, source: dict[str, str]) -> Any:
    body = {"source": {"connection": connection, **source}}
    answer = service.client.post("/v1/datasets", json=body).json()
    dataset = service.until(
        f"/v1/datasets/{answer['id']}", lambda body: body["status"] != "processing"
    )
    assert dataset["status"] == "rejected", dataset
    return dataset
