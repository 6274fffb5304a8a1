"""The file of connections: whose they are, and no secret in any words."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.connections.registry import BadConnections, load_connections, with_secrets
from app.errors import Invalid

FILE = """
[lake]
type = "s3"
url = "s3://bucket/prefix"
read = ["sales/"]
tenants = ["acme"]
[lake.secrets]
access_key_id = { env = "LAKE_KEY" }
secret_access_key = { file = "%s" }
[warehouse]
type = "postgres"
url = "postgresql://reader@db/warehouse"
"""


def write(directory: Path, text: str) -> Path:
    path = directory / "connections.toml"
    path.write_text(text)
    return path


def test_secrets_are_read_when_they_are_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = load_connections(write(tmp_path, FILE % (tmp_path / "secret")))
    lake = found.find("acme", "lake", "/source")
    with pytest.raises(BadConnections, match="'access_key_id' is not to be had"):
        with_secrets(lake)
    monkeypatch.setenv("LAKE_KEY", "k")
    (tmp_path / "secret").write_text("hush\n")
    assert with_secrets(lake)["secrets"] == {"access_key_id": "k", "secret_access_key": "hush"}
    assert "hush" not in repr(lake)


def test_another_tenants_do_not_exist(tmp_path: Path) -> None:
    found = load_connections(write(tmp_path, FILE % "x"))
    assert set(found.of("other")) == {"warehouse"}
    with pytest.raises(Invalid, match="there is no connection 'lake'"):
        found.find("other", "lake", "/source")
    assert load_connections(None).of("other") == {}


@pytest.mark.parametrize(
    "text",
    [
        "[a]\ntype = 's3'\nurl = 's3://k:hush@bucket'",
        "[a]\ntype = 's3'\nurl = 'https://bucket'",
        "[a]\ntype = 'postgres'\nurl = 'postgresql://u:hush@db/x'",
        "[a]\ntype = 's3'\nurl = 's3://b'\nread = ['../x']",
        "[a]\ntype = 's3'\nurl = 's3://b'\nsecrets.k = 'hush'",
        "[a]\ntype = 's3'\nurl = 's3://b'\nsecrets.k = {}",
        "[a]\ntype = 'ftp'",
        "[A]\ntype = 'https'\nhosts = ['x']",
        "[a]\ntype = 'https'\nhosts = ['x']\nnetworks = ['hush']",
        "not toml",
    ],
)
def test_mistakes_are_told_without_what_was_written(tmp_path: Path, text: str) -> None:
    with pytest.raises(BadConnections) as refused:
        load_connections(write(tmp_path, text))
    assert "hush" not in str(refused.value)
