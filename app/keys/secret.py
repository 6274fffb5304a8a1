"""The server's secret, with which keys are hashed."""

from __future__ import annotations

import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from app.settings import Settings

FILE = "key.secret"


def load_secret(settings: Settings) -> bytes:
    """The secret of the settings, or else the one in the data directory, made at the first call."""
    if settings.key_secret:
        return settings.key_secret.encode()
    path = settings.data_dir / FILE
    if not path.exists():
        _create(path)
    return path.read_bytes()


def _create(path: Path) -> None:
    """Whole or not at all; of two processes that create it at once, one wins for both."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{FILE}.")  # with mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(32))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            path.hardlink_to(draft)
    finally:
        Path(draft).unlink()
