"""A job that came before its process was prepared waits for it, and its owner is told."""

from __future__ import annotations

import threading

import pytest

from worker.preparation import Preparation


def test_whoever_comes_early_is_told_until_it_is_over() -> None:
    preparation, go, told = Preparation(), threading.Event(), list[str]()

    def tell() -> None:
        told.append("preparing")
        if len(told) == 3:
            go.set()

    preparation.start(go.wait)
    preparation.wait(tell)
    assert len(told) >= 3
    told.clear()
    preparation.wait(tell)
    assert told == []


def test_whoever_stops_waiting_is_let_go() -> None:
    preparation, go = Preparation(), threading.Event()
    preparation.start(go.wait)

    def give_up() -> None:
        raise InterruptedError

    with pytest.raises(InterruptedError):
        preparation.wait(give_up)
    go.set()


def test_a_preparation_that_fails_holds_nobody_up() -> None:
    preparation = Preparation()

    def fail() -> None:
        raise RuntimeError

    told: list[None] = []
    preparation.start(fail)
    preparation.wait(lambda: None)
    preparation.wait(lambda: told.append(None))
    assert told == []


def test_what_was_never_started_is_over() -> None:
    Preparation().wait(lambda: pytest.fail("told of a preparation that nobody began"))
