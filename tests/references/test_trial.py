"""`pith connections check`: what works, and what is wrong with what does not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests import servers

FILE = """
[lake]
type = "s3"
url = "{lake}"
endpoint = "{s3}"
write = ["out"]
secrets.access_key_id = {{ env = "AWS_ACCESS_KEY_ID" }}
secrets.secret_access_key = {{ env = "AWS_SECRET_ACCESS_KEY" }}
[revoked]
type = "s3"
url = "{lake}"
endpoint = "{s3}"
secrets.access_key_id = {{ env = "AWS_ACCESS_KEY_ID" }}
secrets.secret_access_key = {{ env = "HUSH" }}
[elsewhere]
type = "s3"
url = "s3://no-such-bucket/x"
endpoint = "{s3}"
secrets.access_key_id = {{ env = "AWS_ACCESS_KEY_ID" }}
secrets.secret_access_key = {{ env = "AWS_SECRET_ACCESS_KEY" }}
[folder]
type = "file"
url = "file://{directory}"
[gone]
type = "file"
url = "file://{directory}/gone"
[warehouse]
type = "postgres"
url = "postgresql://{owner}@127.0.0.1:{postgres}/postgres"
secrets.password = {{ env = "HUSH" }}
[mighty]
type = "postgres"
url = "postgresql://postgres@127.0.0.1:{postgres}/postgres"
[schemas]
type = "postgres"
url = "postgresql://{owner}@127.0.0.1:{postgres}/postgres"
schemas = ["nothing"]
[absent]
type = "postgres"
url = "postgresql://{owner}@127.0.0.1:{postgres}/absent"
secrets.password = {{ env = "HUSH" }}
[private]
type = "https"
hosts = ["localhost"]
[silent]
type = "https"
hosts = ["127.0.0.1:{nobody}"]
networks = ["127.0.0.0/8"]
[unset]
type = "https"
hosts = ["localhost"]
secrets.token = {{ env = "NOT_SET" }}
"""
REASONS = {
    "revoked": "refuses the credentials",
    "elsewhere": "there is no such bucket",
    "gone": "there is no directory",
    "mighty": "its role is a superuser",
    "schemas": "may not use the schema 'nothing'",
    "absent": 'database "absent" does not exist',
    "private": "which is not public",
    "silent": "nobody listens there",
    "unset": "the secret 'token' is not to be had from variable NOT_SET",
}


def check(directory: Path, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app", "connections", "check", *options]
    full = {**os.environ, "PITH_DATA_DIR": str(directory), **env}
    return subprocess.run(command, env=full, capture_output=True, text=True, check=False)


def test_what_is_wrong_with_connections(
    s3: servers.S3, postgres: servers.Postgres, tmp_path: Path
) -> None:
    where = {"lake": s3.url(), "s3": s3.env["AWS_ENDPOINT_URL"], "directory": tmp_path}
    where |= {"postgres": postgres.port, "owner": servers.OWNER, "nobody": servers.free_port()}
    file = tmp_path / "connections.toml"
    file.write_text(FILE.format(**where))
    env = {**s3.env, "HUSH": "hush-hush", "PITH_CONNECTIONS": str(file)}
    done = check(tmp_path, "--json", **env)
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert {name for name, wrong in found.items() if wrong is None} == {
        "lake",
        "folder",
        "warehouse",
    }
    for name, reason in REASONS.items():
        assert reason in found[name], (name, found[name])
    assert "hush-hush" not in done.stdout + done.stderr
    assert [len(some) for some in s3.objects(str(where["lake"])).list()] == []


def test_exit_codes_and_help(tmp_path: Path) -> None:
    file = tmp_path / "connections.toml"
    file.write_text(f'[folder]\ntype = "file"\nurl = "file://{tmp_path}"\n')
    works = check(tmp_path, PITH_CONNECTIONS=str(file))
    assert (works.returncode, works.stdout) == (0, "folder: works\n")
    file.write_text("[folder]\ntype = 'ftp'\n")
    wrong = check(tmp_path, PITH_CONNECTIONS=str(file))
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "folder" in wrong.stderr
    assert "exit code" in check(tmp_path, "--help").stdout
