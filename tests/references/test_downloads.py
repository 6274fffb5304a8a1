"""Files over https, from a host that means no good."""

from __future__ import annotations

import http.client
import socket
from dataclasses import replace
from typing import Any

import pytest

from app.datasets.faults import Passing, Rejected
from app.references import downloads
from app.references.look import is_same
from app.references.source import Source
from tests.references import conftest
from tests.references.conftest import HUSH, Reads
from tests.references.misbehaving import CERTIFICATE, CSV, Host, misbehaving

NOT_PUBLIC = "which is not public"
NOT_NAMED = "does not lead to"


def test_a_file_and_a_redirect_to_it(web: dict[str, Any], host: Host, reads: Reads) -> None:
    here = f"http://good.test:{host.port}"
    for path in (
        "/file.csv",
        "/to.csv?/file.csv",
        f"/to.csv?http://127.0.0.1:{host.port}/file.csv",
    ):
        outcome, found = reads(web, path=here + path)
        assert found.columns == ["a", "b"]
        (one,) = outcome["origin"]["objects"]
        assert (one["path"].endswith("/file.csv"), one["size"], one["e_tag"]) == (
            True,
            len(CSV),
            '"one"',
        )
        source = Source(connection="web", path=here + path).model_dump(mode="json")
        assert is_same(web, source, outcome["origin"])
        other = {"objects": [{**one, "e_tag": '"two"'}]}
        assert not is_same(web, source, other)
    assert set(host.tokens) == {f"Bearer {HUSH}"}


@pytest.mark.parametrize(
    ("path", "error", "why"),
    [
        ("to.csv?http://169.254.169.254/latest/meta-data", Rejected, NOT_NAMED),
        ("to.csv?http://127.0.0.1:1/file.csv", Rejected, NOT_NAMED),
        ("to.csv?http://evil.test:{port}/file.csv", Rejected, NOT_NAMED),
        ("to.csv?//good.test@evil.test:{port}/file.csv", Rejected, "password"),
        ("to.csv?http://good.test/file.csv", Rejected, NOT_NAMED),
        ("to.csv?file:///etc/passwd", Rejected, "must begin with"),
        ("to.csv?ftp://good.test:{port}/file.csv", Rejected, "must begin with"),
        ("to.csv?http://[::ffff:169.254.169.254]/", Rejected, NOT_NAMED),
        ("loop.csv", Rejected, "more than 5 redirects"),
        ("nowhere.csv", Rejected, "more than 5 redirects"),
        ("half.csv", Passing, downloads.AWAY),
        ("half-a-chunk.csv", Passing, downloads.AWAY),
        ("busy.csv", Passing, downloads.AWAY),
        ("noise.csv", Passing, downloads.AWAY),
        ("forbidden.csv", Rejected, "answers 403"),
    ],
)
def test_what_a_host_may_do(
    web: dict[str, Any],
    host: Host,
    reads: Reads,
    path: str,
    error: type[Exception],
    why: str,
) -> None:
    address = f"http://good.test:{host.port}/{path.format(port=host.port)}"
    with pytest.raises(error, match=why) as refused:
        reads(web, path=address)
    assert HUSH not in str(refused.value)


def test_a_body_without_end(
    web: dict[str, Any], host: Host, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conftest, "LIMITS", replace(conftest.LIMITS, scratch_bytes=1 << 20))
    with pytest.raises(Rejected, match="larger than 1048576 bytes"):
        reads(web, path=f"http://good.test:{host.port}/endless.csv")


def test_a_host_that_says_nothing(
    web: dict[str, Any], host: Host, reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "SECONDS", 0.2)
    with pytest.raises(Passing, match=downloads.AWAY):
        reads(web, path=f"http://good.test:{host.port}/nothing.csv")


def test_a_name_that_means_this_machine(web: dict[str, Any], host: Host, reads: Reads) -> None:
    for name in ("good.test", "127.0.0.1"):
        with pytest.raises(Rejected, match=NOT_PUBLIC):
            reads({**web, "networks": []}, path=f"http://{name}:{host.port}/file.csv")
    assert host.asked == []


def test_the_address_that_was_judged_is_connected_to(
    web: dict[str, Any], reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A name that means something else a moment later gains nothing."""
    meanings = iter(["8.8.8.8", "127.0.0.1"])
    found = lambda *_, **__: [(socket.AF_INET, None, None, "", (next(meanings), 0))]  # noqa: E731
    monkeypatch.setattr(socket, "getaddrinfo", found)
    connected: list[str] = []

    def connect(client: http.client.HTTPConnection) -> None:
        connected.append(client.host)
        raise ConnectionRefusedError

    monkeypatch.setattr(http.client.HTTPConnection, "connect", connect)
    with pytest.raises(Passing):
        reads({**web, "hosts": ["good.test"], "networks": []}, path="http://good.test/file.csv")
    assert connected == ["8.8.8.8"]


def test_plain_http_is_not_for_everybody(web: dict[str, Any], host: Host, reads: Reads) -> None:
    with pytest.raises(Rejected, match=NOT_NAMED):
        reads({**web, "plain": False}, path=f"http://good.test:{host.port}/file.csv")


def test_a_host_proves_its_name(
    web: dict[str, Any], reads: Reads, monkeypatch: pytest.MonkeyPatch
) -> None:
    with misbehaving(secure=True) as secure:
        web["hosts"] = [f"good.test:{secure.port}", f"other.test:{secure.port}"]
        address = f"https://good.test:{secure.port}/file.csv"
        with pytest.raises(Passing):
            reads(web, path=address)
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        assert reads(web, path=address)[0]["n_rows"] == 1000
        with pytest.raises(Passing):
            reads(web, path=address.replace("good", "other"))
        with pytest.raises(Rejected, match=NOT_NAMED):
            reads(
                {**web, "plain": False},
                path=f"{address}?".replace("file.csv?", "to.csv?http://good.test/"),
            )
