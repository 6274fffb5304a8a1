"""Blocks on a real cluster, whose processes die, freeze and come while it is asked."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.cluster import connection
from app.cluster.engine import DaskEngine
from app.cluster.faults import ClusterAway
from core.blocks.engine import MEMORY, Blocks, Engine
from core.callbacks import OnWait, ignore
from core.config import Cmim, GlobalFs, Iselect, Mrmr, Rival, Rjmi
from core.cpd.em import fit_models
from core.cpd.spread import gather
from core.data.learning import collect
from core.errors import InvalidData
from core.fit_config import CpdConfig
from core.rivals.method import select_rival
from core.rivals.outcome import RivalStep
from core.workers import Workers
from tests.cluster import works
from tests.cluster.clusters import Cluster, Program, kill
from tests.core.cpd.test_spread import problem
from tests.core.rivals.problems import random_problem
from tests.servers import until

OnIteration = Callable[[int], None]

ALONE = Workers(1)
N_BLOCKS = 12


@contextmanager
def numbers(
    cluster: Cluster, directory: Path, n: int = N_BLOCKS, on_wait: OnWait = ignore
) -> Iterator[Blocks[int]]:
    parts = [(directory, number) for number in range(n)]
    with DaskEngine(cluster.address).spread(works.number_noted, parts, on_wait) as blocks:
        yield blocks
    until(lambda: not cluster.keys)


def owners(blocks: Blocks[int]) -> list[int]:
    """Who answers about each block, after a look at what he says."""
    answers = blocks.fold(works.whose, 5, ALONE)
    assert [answer[1] for answer in answers] == [5 + number for number in range(len(answers))]
    return [answer[0] for answer in answers]


def n_made(directory: Path) -> int:
    return len(list(directory.iterdir()))


def test_every_block_is_made_once_and_asked_where_it_lives(
    cluster: Cluster, tmp_path: Path
) -> None:
    with cluster.worker(), numbers(cluster, tmp_path) as blocks:
        found = owners(blocks)
        assert len(set(found)) == 2
        assert found.count(found[0]) == N_BLOCKS / 2
        assert owners(blocks) == found
        assert {f"{n}-{owner}" for n, owner in enumerate(found)} == {
            path.name for path in tmp_path.iterdir()
        }
        argument = np.arange(3, dtype=np.float32)
        for as_kernels_want, answer in blocks.fold(works.doubled, argument, ALONE):
            assert as_kernels_want
            assert answer.flags.aligned
            assert answer.tolist() == [0, 2, 4]


def test_a_worker_that_is_killed_costs_the_making_of_its_blocks(
    cluster: Cluster, tmp_path: Path
) -> None:
    with numbers(cluster, tmp_path) as before:
        alone = set(owners(before))
    with cluster.worker() as other, numbers(cluster, tmp_path) as blocks:
        n_before = n_made(tmp_path)
        told: list[float] = []

        def kill_other(done: float) -> None:
            told.append(done)
            kill(other)

        answers = blocks.fold(works.whose, 0, ALONE, kill_other)
        assert told[0] < 1
        assert [answer[1] for answer in answers] == list(range(N_BLOCKS))
        assert set(owners(blocks)) == alone
        assert n_made(tmp_path) <= n_before + N_BLOCKS


def test_a_frozen_worker_is_given_up_and_one_that_came_takes_over(
    cluster: Cluster, tmp_path: Path
) -> None:
    frozen: list[Program] = []

    def lose_patience() -> None:
        for worker in frozen:
            cluster.give_up(worker)

    with cluster.worker() as other, numbers(cluster, tmp_path, on_wait=lose_patience) as blocks:
        before = owners(blocks)
        with cluster.worker():
            other.send_signal(signal.SIGSTOP)
            frozen.append(other)
            left = owners(blocks)
        assert len({*before, *left}) == 3
        assert n_made(tmp_path) == N_BLOCKS + N_BLOCKS / 2
        assert len(set(owners(blocks))) == 1


def test_a_fault_of_the_work_is_told_as_it_is(cluster: Cluster, tmp_path: Path) -> None:
    with numbers(cluster, tmp_path) as blocks, pytest.raises(FileNotFoundError, match="block 0"):
        blocks.fold(works.fail, 0, ALONE)


def test_so_is_what_is_wrong_with_a_column(cluster: Cluster) -> None:
    with pytest.raises(InvalidData, match="'b' holds text") as told:
        collect(works.refuse, ["b"], DaskEngine(cluster.address), ignore)
    assert told.value.field == "b"


def test_who_waits_can_be_stopped_and_leaves_nothing_behind(
    cluster: Cluster, tmp_path: Path
) -> None:
    asked = False

    def stop() -> None:
        if asked:
            raise InterruptedError

    with pytest.raises(InterruptedError), numbers(cluster, tmp_path, 3, stop) as blocks:
        assert len(owners(blocks)) == 3
        asked = True
        blocks.fold(works.sleep, 1.0, ALONE)
    until(lambda: not cluster.keys)


def test_a_scheduler_that_is_gone_or_never_was_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    own = Cluster(tmp_path)
    try:
        parts = [(tmp_path / "notes", 0)]
        with (
            own.worker(),
            pytest.raises(ClusterAway),
            DaskEngine(own.address).spread(works.number_noted, parts) as blocks,
        ):
            assert len(owners(blocks)) == 1
            kill(own.scheduler)
            blocks.fold(works.sleep, 0.0, ALONE)
    finally:
        own.close()


@pytest.mark.parametrize(
    ("package", "ours", "told"),
    [("pith", "0.0.1", r"has version \d.* of pith, not 0.0.1"), ("not-there", "1", "version none")],
)
def test_a_cluster_of_another_version_is_told(
    cluster: Cluster, package: str, ours: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = DaskEngine(cluster.address)
    assert engine.why_away() is None
    monkeypatch.setattr(connection, "PACKAGE", package)
    monkeypatch.setattr(connection, "OURS", ours)
    why = engine.why_away()
    assert why is not None
    assert re.search(told, why)
    with pytest.raises(ClusterAway, match=told), engine.spread(works.number_noted, []):
        pass


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_fit_is_the_same_bytes_whoever_dies_meanwhile(cluster: Cluster) -> None:
    in_memory = fit(MEMORY)
    on_dask = DaskEngine(cluster.address)
    assert fit(on_dask) == in_memory
    with cluster.worker() as other:

        def kill_other(iteration: int) -> None:
            if iteration == 2:
                kill(other)

        assert fit(on_dask, kill_other) == in_memory


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_fit_is_the_same_bytes_whoever_freezes_and_comes_meanwhile(cluster: Cluster) -> None:
    frozen: list[Program] = []
    held: list[int] = []

    with cluster.worker() as other, ExitStack() as came:

        def change(iteration: int) -> None:
            if iteration == 1:
                came.enter_context(cluster.worker())
            elif iteration == 2:
                other.send_signal(signal.SIGSTOP)
                frozen.append(other)
            else:
                held.append(cluster.n_held(cluster.programs[-1]))

        def lose_patience() -> None:
            for worker in frozen:
                cluster.give_up(worker)

        assert fit(DaskEngine(cluster.address), change, lose_patience) == fit(MEMORY)
        assert min(held) > 0


@pytest.mark.usefixtures("small_tables_are_large")
def test_a_frozen_worker_is_missed_when_its_time_is_up(tmp_path: Path) -> None:
    """By the scheduler itself, which on a busy machine may miss the other one, too."""
    own = Cluster(tmp_path, DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL="5s")
    frozen: list[Program] = []

    def freeze(iteration: int) -> None:
        if iteration == 2:
            alive = (worker for worker in workers if own.name_of(worker) in own.workers)
            frozen.append(next(alive, workers[0]))
            frozen[0].send_signal(signal.SIGSTOP)

    def keep_one() -> None:
        if all(worker in frozen or worker.poll() is not None for worker in workers):
            workers.append(own.start_worker())

    try:
        workers = [own.start_worker(), own.start_worker()]
        assert fit(DaskEngine(own.address), freeze, keep_one) == fit(MEMORY)
        assert frozen[0].poll() is None
        assert own.name_of(frozen[0]) not in own.workers
    finally:
        own.close()


def fit(
    engine: Engine, on_iteration: OnIteration = ignore, on_wait: OnWait = ignore
) -> tuple[bytes, ...]:
    made = problem(engine=engine)
    config = CpdConfig(rank=3, family="per_class", max_iter=4, n_init=1, n_threads=1)
    with gather(made, "per_class", on_wait) as rows:
        fits = fit_models(
            rows, made.table_levels, config, 1, lambda iteration, _: on_iteration(iteration)
        )
    return tuple(
        array.tobytes() for f in fits for array in (f.weights, *f.factors, f.loglik, f.objective)
    )


@pytest.mark.usefixtures("small_tables_are_large")
@pytest.mark.parametrize("method", [Mrmr(), Cmim(), Rjmi(max_patterns=50), GlobalFs()], ids=str)
def test_rivals_count_where_the_table_is(cluster: Cluster, method: Rival) -> None:
    made = random_problem(3, missing=True, weights=True)
    elsewhere = replace(made, engine=DaskEngine(cluster.address))
    assert select_rival(elsewhere, 5, method) == select_rival(made, 5, method)
    until(lambda: not cluster.keys)


@pytest.mark.usefixtures("small_tables_are_large")
def test_columns_of_a_worker_that_is_killed_are_read_by_another(cluster: Cluster) -> None:
    made = random_problem(4, missing=True, weights=True)
    chosen: list[RivalStep] = []
    with cluster.worker() as other:

        def kill_other(step: RivalStep) -> None:
            chosen.append(step)
            if len(chosen) == 2:
                kill(other)

        elsewhere = replace(made, engine=DaskEngine(cluster.address))
        found = select_rival(elsewhere, 5, Iselect(), kill_other)
    assert found == select_rival(made, 5, Iselect())
    assert tuple(chosen) == found.steps
