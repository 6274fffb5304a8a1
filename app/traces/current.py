"""The traces of this process, as logging has it: one for all of it."""

from __future__ import annotations

from importlib.util import find_spec

from app.settings import Settings
from app.traces.spans import Traces

MISSING = "PITH_TRACES_URL needs OpenTelemetry: pip install 'pith[traces]'"
_OFF = Traces()
_active = _OFF


def traces() -> Traces:
    """Those of this process."""
    return _active


def is_installed() -> bool:
    """Whether the extra is there."""
    return find_spec("opentelemetry") is not None


def configure(settings: Settings, part: str) -> None:
    """Send the spans of this process, if the settings say where; after a fork, each its own."""
    global _active  # noqa: PLW0603
    if settings.traces_url:
        # Half a second of imports that most do not need.
        from app.traces.collected import CollectedTraces  # noqa: PLC0415

        _active = CollectedTraces(settings.traces_url, part)


def close() -> None:
    """Send what is left, and make no more."""
    global _active
    ended, _active = _active, _OFF
    ended.close()
