"""Tells whether a source is as it was read, by tags, names and versions: nothing is read again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from app.references.buckets import find, open_bucket
from app.references.downloads import is_unchanged
from app.references.lake import newest_commit, newest_metadata

Document = Mapping[str, Any]


def is_same(connection: Document, source: Document, origin: Document) -> bool:
    """Whether it can be told that another reading would find the same."""
    if connection["type"] == "postgres":  # only by reading
        return False
    if connection["type"] == "https":
        return is_unchanged(connection, source["path"], origin["objects"][0])
    bucket = open_bucket(connection)
    if source["path"] is not None:
        found = find(bucket, connection, source["path"])
        return bool([one.to_json() for one in found] == origin["objects"])
    if source["version"] is not None:
        return True
    snapshot = origin["snapshot"]
    if snapshot["format"] == "delta":
        return bool(newest_commit(bucket, source["table"]) == snapshot["version"])
    return bool(newest_metadata(bucket, source["table"]) == snapshot.get("metadata"))
