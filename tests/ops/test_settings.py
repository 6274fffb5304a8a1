from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError
from redis import Redis
from sqlalchemy import make_url

from app.settings import Settings


def test_the_default_database_is_a_file_in_the_data_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PITH_DATA_DIR", str(tmp_path))
    assert Settings().database_url == f"sqlite:///{tmp_path / 'pith.db'}"


def test_a_given_database_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITH_DATABASE_URL", "postgresql+psycopg://u:p@db/pith")
    assert Settings().database_url == "postgresql+psycopg://u:p@db/pith"


def test_sizes_are_written_as_people_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PITH_MAX_UPLOAD_BYTES", "3MiB")
    assert Settings().max_upload_bytes == 3 * 1024**2


def test_addresses_with_passwords_stay_out_of_the_representation() -> None:
    settings = Settings(
        database_url="postgresql://u:hush@db/pith",
        broker_url="redis://:hush@r/0",
        key_secret="hush" * 8,
    )
    assert "hush" not in repr(settings)


@pytest.mark.parametrize(
    ("host", "required"),
    [
        ("127.0.0.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),
        ("::", True),
        ("192.168.1.1", True),
        ("example.org", True),
    ],
)
def test_keys_are_required_beyond_loopback(host: str, required: bool) -> None:
    assert Settings(host=host).keys_required == required
    assert Settings(host=host, require_keys=True).keys_required


def test_a_short_secret_is_refused_and_not_repeated() -> None:
    with pytest.raises(ValidationError, match="at least 32 characters") as refused:
        Settings(key_secret="hush")
    assert all("hush" not in error["msg"] for error in refused.value.errors())


def test_a_lease_must_outlast_its_heartbeats() -> None:
    with pytest.raises(ValidationError, match="PITH_LEASE_SECONDS"):
        Settings(lease_seconds=2, heartbeat_seconds=1)


def test_every_setting_is_described() -> None:
    assert [name for name, field in Settings.model_fields.items() if not field.description] == []


@pytest.mark.parametrize("password", ["p/w@d", "a:b#c?d%e", "plain"])
def test_a_password_of_its_own_may_hold_anything(password: str) -> None:
    settings = Settings(
        database_url="postgresql+psycopg://pith@postgres:5432/pith",
        database_password=password,
        broker_url="redis://redis:6379/0",
        broker_password=password,
    )
    address = make_url(settings.database_url)
    assert (address.username, address.password, address.host) == ("pith", password, "postgres")
    with Redis.from_url(settings.broker_url) as client:
        known = client.connection_pool.connection_kwargs
        assert (known["password"], known["host"], known["port"]) == (password, "redis", 6379)
    assert password not in repr(settings)
