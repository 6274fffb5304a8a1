"""Logging: one line per event, with the ids of the request and the job it belongs to."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import MutableMapping
from contextlib import AbstractContextManager
from typing import Any, Literal

import structlog
from structlog.typing import Processor

Event = MutableMapping[str, Any]

SECRET_NAME = re.compile(r"password|passwd|secret|token|authorization|cookie|api_?key", re.I)
URL_PASSWORD = re.compile(r"(?P<scheme>\w+://[^\s:/@]*):[^\s@]*@")
# Keys, secrets of webhooks, tokens of issuers (their head is base64 of `{"`), whatever else opens.
CREDENTIAL = re.compile(
    r"\bpith_[0-9A-Za-z]{20,}|\bwhsec_[\w+/=-]+|\beyJ[\w-]{5,}(?:\.[\w-]*){1,4}"
    r"|(?<=\b[Bb]earer )[\w.~+/=-]+"
)
REDACTED = "[redacted]"


def configure_logging(level: str, form: Literal["auto", "json", "console"]) -> None:
    """Send every logger of the process, ours and the libraries', to stderr in one form."""
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_ends(form)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    # Warnings of libraries are lines like all others.
    logging.captureWarnings(True)
    # It introduces itself at every check of readiness.
    logging.getLogger("alembic").setLevel(logging.WARNING)


def request_context(request_id: str) -> AbstractContextManager[None]:
    """Put the request's id into every line logged inside."""
    return structlog.contextvars.bound_contextvars(request_id=request_id)


def job_context(job_id: str, **more: Any) -> AbstractContextManager[None]:
    """Put the job's id into every line logged inside."""
    return structlog.contextvars.bound_contextvars(job_id=job_id, **more)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]


def _ends(form: Literal["auto", "json", "console"]) -> list[Processor]:
    # The traceback becomes text before redaction: a message of a driver may quote its URL.
    readable = form == "console" or (form == "auto" and sys.stderr.isatty())
    renderer: Processor = (
        structlog.dev.ConsoleRenderer() if readable else structlog.processors.JSONRenderer()
    )
    return [structlog.processors.format_exc_info, redact, renderer]


def redact(_logger: Any, _method: str, event: Event) -> Event:
    """Blank what is named like a secret, the password in any address, and any credential."""
    return {name: _clean(name, value) for name, value in event.items()}


def _clean(name: str, value: Any) -> Any:
    if SECRET_NAME.search(name):
        return REDACTED
    if isinstance(value, dict):
        return {key: _clean(str(key), item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean("", item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    # An error, bytes, whatever it is: as the renderer would write it.
    text = value if isinstance(value, str) else repr(value)
    return CREDENTIAL.sub(REDACTED, URL_PASSWORD.sub(rf"\g<scheme>:{REDACTED}@", text))
