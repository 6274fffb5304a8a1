"""`pith select` of what lies elsewhere, with the credentials of whoever runs it."""

from __future__ import annotations

import pytest

from app.cli import select
from core.errors import InvalidData
from tests import servers

CSV = b"a,y\n1,u\n2,v\n3,u\n"


def test_files_of_a_bucket_are_read_as_one_table(
    s3: servers.S3, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = s3.url()
    for part in (1, 2):
        s3.objects(url).put(f"day={part}/part.csv", CSV)
    for name, value in s3.env.items():
        monkeypatch.setenv(name, value)
    table = select.read(f"{url}/**/*.csv")
    assert {name: len(column) for name, column in table.columns.items()} == {
        "a": 6,
        "y": 6,
        "day": 6,
    }
    assert (table.name, len(table.sha256())) == ("*.csv", 64)
    table.typed.close()
    with pytest.raises(InvalidData, match=r"there is no '.*absent.csv'"):
        select.read(f"{url}/absent.csv")


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("ftp://host/x.csv", "no address of files"),
        ("s3://bucket", "no address of files"),
        ("https://127.0.0.1/x.csv", "the address"),
    ],
)
def test_what_is_no_place_for_files(address: str, why: str) -> None:
    with pytest.raises(InvalidData, match=why):
        select.read(address)
