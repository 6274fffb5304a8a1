from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from app.logs import configure_logging, job_context, request_context


@pytest.fixture(autouse=True)
def logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in capsys.readouterr().err.splitlines()]


def test_our_lines_and_the_libraries_carry_both_ids(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    with request_context("req_1"), job_context("job_1", attempt=2):
        structlog.get_logger("app").info("started", rows=3)
        logging.getLogger("celery").info("received %s", "task")
    ours, theirs = lines(capsys)
    assert ours["event"] == "started"
    assert ours["rows"] == 3
    assert theirs["event"] == "received task"
    for line in (ours, theirs):
        assert (line["request_id"], line["job_id"], line["attempt"]) == ("req_1", "job_1", 2)


def test_ids_end_with_their_context(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    with request_context("req_1"):
        pass
    structlog.get_logger("app").info("later")
    assert "request_id" not in lines(capsys)[0]


def test_secrets_are_blanked_wherever_they_stand(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    log = structlog.get_logger("app")
    log.info("a", api_key="hush", headers={"Authorization": "Bearer hush"})
    log.info("unknown key pith_hush0123456789hush0123456789", raw=b"whsec_hush/hush=")
    log.info("asked /v1/jobs?token=eyJhbGciOiJSUzI1NiJ9.hush-eyJ.hush_", path=Path("Bearer hush"))
    log.warning("refused", error=ValueError("Authorization: Bearer hush.hush"), n=1)
    log.info("connect to postgresql://user:hush@db/pith", urls=["redis://:hush@host/0"])
    try:
        raise RuntimeError("lost redis://:hush@host:6379/0")
    except RuntimeError:
        logging.getLogger("kombu").exception("failed")
    written = capsys.readouterr().err
    assert "hush" not in written
    assert written.count("[redacted]") >= 10
    assert '"n": 1' in written


def test_levels_below_the_setting_are_dropped(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("warning", "json")
    structlog.get_logger("app").info("small")
    structlog.get_logger("app").warning("large")
    assert [line["event"] for line in lines(capsys)] == ["large"]


def test_the_console_form_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "console")
    structlog.get_logger("app").info("started")
    written = capsys.readouterr().err
    assert "started" in written
    assert not written.startswith("{")
