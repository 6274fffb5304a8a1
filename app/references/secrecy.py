"""No secret in any words, whatever a library may have quoted."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Shorter ones stand in words by chance.
MIN_CHARACTERS = 4


def without_secrets(words: str, connection: Mapping[str, Any]) -> str:
    """The words, plain or within JSON, with stars for every secret of the connection."""
    for secret in connection["secrets"].values():
        if len(secret) >= MIN_CHARACTERS:
            words = words.replace(secret, "***").replace(json.dumps(secret)[1:-1], "***")
    return words
