"""Tables in folders: which kind one is, told by the names of its files.

The libraries of both kinds are large (150 MB) and few need them: `pip install 'pith[tables]'`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

import obstore
from obstore.store import ObjectStore

from app.datasets.faults import Rejected
from app.references.confines import Confines
from app.store.files import translated

if TYPE_CHECKING:
    from app.references.batches import Table

COMMIT = re.compile(r"/_delta_log/(\d{20})\.json\Z")
METADATA = re.compile(r"/metadata/v?(\d+)[^/]*\.metadata\.json\Z")
MISSING = "this installation reads no Delta and Iceberg tables: pip install 'pith[tables]'"


def open_table(confines: Confines, source: Mapping[str, Any]) -> Table:
    """A reader of batches, which snapshot it reads, and how many rows there are at most."""
    try:
        # Late: a large library each.
        if log := _names(confines.bucket, f"{source['table']}/_delta_log"):
            from app.references.delta import open_delta  # noqa: PLC0415

            _check_version(source["version"], _newest(log))
            return open_delta(confines, source, log)
        if metadata := newest_metadata(confines.bucket, source["table"]):
            from app.references.iceberg import open_iceberg  # noqa: PLC0415

            return open_iceberg(confines, source, metadata)
    except ModuleNotFoundError:
        raise Rejected(MISSING) from None
    raise Rejected(f"there is no Delta or Iceberg table in {source['table']!r}")


def newest_commit(bucket: ObjectStore, table: str) -> int | None:
    """The version of a Delta table that the names in its log tell."""
    return _newest(_names(bucket, f"{table}/_delta_log"))


def _newest(log: Iterable[str]) -> int | None:
    return max((int(match[1]) for path in log if (match := COMMIT.search(path))), default=None)


def _check_version(version: int | None, newest: int | None) -> None:
    """The library would count up to one that is far ahead, for ever."""
    if version is not None and newest is not None and version > newest:
        raise Rejected(f"the Delta table has no version {version}; the newest is {newest}")


def newest_metadata(bucket: ObjectStore, table: str) -> str | None:
    """The file in the folder of an Iceberg table that its name tells to be the last."""
    names = _names(bucket, f"{table}/metadata")
    named = [(int(match[1]), path) for path in names if (match := METADATA.search(path))]
    return max(named)[1] if named else None


def _names(bucket: ObjectStore, folder: str) -> list[str]:
    with translated(folder):
        return [one["path"] for one in chain.from_iterable(obstore.list(bucket, folder))]
