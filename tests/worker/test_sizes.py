"""What no row could hold is told at once, and never computed again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from worker import sizes
from worker.runner import explain


def test_a_model_that_is_too_large_is_left_out_with_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sizes, "ARRAY_BYTES", 10)
    document: dict[str, Any] = {"notes": ["before"]}
    assert sizes.keep_arrays(document, None) is None
    assert sizes.keep_arrays(document, b"x" * 10) == b"x" * 10
    assert document["notes"] == ["before"]
    assert sizes.keep_arrays(document, b"x" * 11) is None
    assert document["notes"][0] == "before"
    assert "takes 11 bytes" in document["notes"][1]


def test_a_result_that_is_too_large_ends_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    document = {"selected": ["é" * 100]}
    monkeypatch.setattr(sizes, "DOCUMENT_BYTES", len(json.dumps(document)))
    assert sizes.check_document(document) is document
    monkeypatch.setattr(sizes, "DOCUMENT_BYTES", len(json.dumps(document)) - 1)
    with pytest.raises(sizes.ResultTooLarge) as refused:
        sizes.check_document(document)
    failure = explain(refused.value)
    assert (failure.code, failure.retryable) == ("result_too_large", False)
