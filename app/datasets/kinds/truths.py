"""Yes and no, in several languages."""

from __future__ import annotations

import polars as pl

TRUE = ("true", "yes", "y", "t", "on", "ja", "j", "wahr", "oui", "vrai", "si", "sí", "sim", "1")
FALSE = ("false", "no", "n", "f", "off", "nein", "falsch", "non", "faux", "nee", "não", "nao", "0")
_WORDS = {*TRUE, *FALSE}


def as_truth(text: pl.Expr) -> pl.Expr:
    """The truths that tidied texts stand for; null where one stands for none."""
    word = text.str.to_lowercase()
    is_true, is_false = word.is_in(list(TRUE)), word.is_in(list(FALSE))
    return pl.when(is_true).then(True).when(is_false).then(False)


def may_be_truth(text: str) -> bool:
    """Whether a tidied text stands for one."""
    return text.lower() in _WORDS
