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
    return open_store_at(address_of(settings), settings.data_dir / SCRATCH)


def address_of(settings: Settings) -> str:
    """By which other processes, too, find the store, if they can reach it at all."""
    return settings.store_url or (settings.data_dir / DATASETS).absolute().as_uri()


def open_store_at(address: str, scratch: Path) -> Store:
    """A directory or a bucket; `scratch` is for parts of what is not on a disk here."""
    scheme, _, path, *_ = urlsplit(address)
    if scheme == "file":
        return LocalStore(Path(unquote(path)))
    # Late, for it takes a tenth of a second that most installations need not spend.
    from app.store.objects import ObjectStore  # noqa: PLC0415

    return ObjectStore(address, scratch)
