"""Which store the settings name."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from app.settings import Settings
from app.store.base import Store
from app.store.local import LocalStore

DATASETS = "datasets"
SCRATCH = "scratch"


def open_store(settings: Settings) -> Store:
    """The directory of the data, another one, or a bucket."""
    scheme, _, path, *_ = urlsplit(settings.store_url)
    if not scheme:
        return LocalStore(settings.data_dir / DATASETS)
    if scheme == "file":
        return LocalStore(Path(unquote(path)))
    # Late, for it takes a tenth of a second that most installations need not spend.
    from app.store.objects import ObjectStore  # noqa: PLC0415

    return ObjectStore(settings.store_url, settings.data_dir / SCRATCH)
