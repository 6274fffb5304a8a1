"""What a result may take, said before it is written: a row refuses more, after hours of work."""

from __future__ import annotations

import json
from typing import Any

from app.errors import ServiceError

# A jsonb takes 255 MiB, a bytea 1 GiB; both must be written while a lease lasts.
DOCUMENT_BYTES = 128 << 20
ARRAY_BYTES = 256 << 20


class ResultTooLarge(ServiceError):
    """Found, and cannot be kept; another attempt would find the same."""

    code = "result_too_large"


def keep_arrays(document: dict[str, Any], arrays: bytes | None) -> bytes | None:
    """The arrays, or nothing where they are too large, and a note in the document that says so."""
    if arrays is None or len(arrays) <= ARRAY_BYTES:
        return arrays
    note = (
        f"The fitted model takes {len(arrays)} bytes, more than the {ARRAY_BYTES} that are kept: "
        "it is not part of the result."
    )
    document["notes"] = [*document["notes"], note]
    return None


def check_document(document: dict[str, Any]) -> dict[str, Any]:
    """The document, or ResultTooLarge."""
    n_bytes = sum(map(len, json.JSONEncoder().iterencode(document)))
    if n_bytes > DOCUMENT_BYTES:
        detail = (
            f"the result takes {n_bytes} bytes, more than the {DOCUMENT_BYTES} that are kept; "
            "exclude columns"
        )
        raise ResultTooLarge(detail)
    return document
