"""The command line, as a person meets it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil
import pytest
from typer.testing import CliRunner

from app.cli import select
from app.cli.commands import cli
from app.cli.select import keeping
from core.callbacks import Enough
from core.results.selection import Progress

ROOT = Path(__file__).parents[2]
WINE = ROOT / "examples" / "wine.csv"


def pith(*arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "app", *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, **env},
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["version"], ["select", "--help"], ["keys", "create", "--help"]]
)
def test_help_and_version_load_nothing_heavy(arguments: list[str]) -> None:
    code = f"""
import sys
from app.cli.commands import cli
try:
    cli({arguments!r})
except SystemExit as end:
    assert not end.code, end.code
heavy = {{"numba", "numpy", "pyarrow", "polars", "fastapi", "sqlalchemy", "celery"}}
print("loaded:", sorted(heavy & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("loaded: []\n")


def test_a_bad_setting_is_a_sentence() -> None:
    done = pith("serve", PITH_PORT="many")
    assert done.returncode == 2
    assert done.stderr.startswith("pith: PITH_PORT: ")
    assert "Traceback" not in done.stderr


def test_a_worker_without_a_broker_is_a_sentence() -> None:
    done = pith("worker", PITH_BROKER_URL="")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pith: A worker needs PITH_BROKER_URL")


def test_migrate_creates_the_database(tmp_path: Path) -> None:
    done = pith("migrate", PITH_DATA_DIR=str(tmp_path / "new"))
    assert (done.returncode, done.stdout) == (0, "The database is up to date.\n")
    assert (tmp_path / "new" / "pith.db").exists()


def test_keys_are_created_listed_and_revoked(tmp_path: Path) -> None:
    here = {"PITH_DATA_DIR": str(tmp_path)}
    assert pith("migrate", **here).returncode == 0
    assert "no keys" in pith("keys", "list", **here).stdout
    first = pith("keys", "create", "--tenant", "acme", "--name", "ci", **here)
    assert "not shown again" in first.stdout
    second = json.loads(pith("keys", "create", "--tenant", "acme", "--json", **here).stdout)
    assert second["key"].startswith("pith_")
    assert "is revoked" in pith("keys", "revoke", second["id"], **here).stdout
    shown = pith("keys", "list", "--tenant", "acme", **here).stdout
    assert [line.split()[4] for line in shown.splitlines()[1:]] == ["live", "revoked"]
    listed = json.loads(pith("keys", "list", "--json", **here).stdout)
    assert [key["scopes"] for key in listed] == [["read", "write"], ["read", "write"]]
    assert second["key"] not in json.dumps(listed)
    assert (tmp_path / "key.secret").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["create", "--tenant", "../other"], "a tenant's name"),
        (["create", "--days", "0"], "1 to 3650 days"),
        (["create", "--name", "x" * 256], "255 characters"),
        (["revoke", "key_nobody"], "no key key_nobody"),
    ],
)
def test_a_key_that_cannot_be_is_a_sentence(
    tmp_path: Path, migrated_sqlite: Path, arguments: list[str], sentence: str
) -> None:
    shutil.copy(migrated_sqlite, tmp_path / "pith.db")
    done = pith("keys", *arguments, PITH_DATA_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("pith: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_keys_without_a_migrated_database_are_a_sentence(tmp_path: Path) -> None:
    done = pith("keys", "list", PITH_DATA_DIR=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == "pith: The database is not migrated: run pith migrate.\n"


def test_select_prints_a_table_and_writes_the_result(tmp_path: Path) -> None:
    out, report = tmp_path / "result.json", tmp_path / "report.html"
    files = ["--out", str(out), "--report", str(report)]
    done = pith("select", str(WINE), "-t", "cultivar", "-k", "2", "--method", "mrmr", *files)
    assert done.returncode == 0, done.stderr
    chosen = [feature["name"] for feature in json.loads(out.read_text())["selected"]]
    assert len(chosen) == 2
    for name in chosen:
        assert name in done.stdout
        assert name in report.read_text()


def test_select_shows_where_it_is_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    command = [sys.executable, "-m", "app", "select", str(WINE), "-t", "cultivar", "-k", "2"]
    with (tmp_path / "result.json").open("w") as result:
        running = subprocess.Popen([*command, "--json"], stdout=result, stderr=theirs, cwd=ROOT)
    os.close(theirs)
    seen = "".join(read_to_end(ours))
    assert running.wait() == 0
    for step in ("Encoding columns", "Searching cuts and states", "100 %"):
        assert step in seen
    assert len(json.loads((tmp_path / "result.json").read_text())["selected"]) == 2


def read_to_end(terminal: int) -> Iterator[str]:
    """What a program writes to a terminal, which is gone when the program is."""
    with suppress(OSError):
        while written := os.read(terminal, 4096):
            yield written.decode(errors="replace")
    os.close(terminal)


def test_select_says_what_it_will_take_apart_from_the_answer() -> None:
    asked = ["-t", "cultivar", "-k", "2", "--method", "mrmr", "--json"]
    done = CliRunner().invoke(cli, ["select", str(WINE), *asked])
    assert done.exit_code == 0, done.output
    (sentence,) = done.stderr.splitlines()
    assert re.fullmatch(r"This takes .* and 0\.\d GiB, or half or twice that\.", sentence)
    assert json.loads(done.stdout)["target"] == "cultivar"


def test_ctrl_c_keeps_what_is_done_once_features_are_chosen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    @contextmanager
    def pressed() -> Iterator[Callable[[Progress], None]]:
        with keeping() as check:

            def tell(step: Progress) -> None:
                check(step)
                if step.phase == "evaluate":
                    signal.raise_signal(signal.SIGINT)

            yield tell

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(select, "keeping", pressed)
    asked = ["-t", "cultivar", "-k", "2", "--method", "mrmr", "--evaluate", "--json"]
    done = CliRunner().invoke(cli, ["select", str(WINE), *asked])
    assert done.exit_code == 0, done.output
    result = json.loads(done.stdout)
    (missing,) = result["missing"]
    assert missing["part"] == "evaluation"
    assert missing["n_done"] < missing["n_asked"]
    assert len(result["selected"]) == 2
    assert signal.getsignal(signal.SIGINT) is before


@pytest.fixture
def interrupts() -> Iterator[None]:
    """As in a terminal: what runs in the background of a shell has to ignore Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_before_features_are_chosen_and_when_pressed_again() -> None:
    with keeping() as check:
        check(Progress(phase="select", fraction=0.5))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        check(Progress(phase="compare", fraction=0.6))
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(Enough):
            check(Progress(phase="compare", fraction=0.7))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_select_compares_methods_and_measures_stability(tmp_path: Path) -> None:
    out = tmp_path / "result.json"
    asked = ["--compare", "mrmr,jmim", "--splits", "2", "--stability", "3", "--out", str(out)]
    done = pith("select", str(WINE), "-t", "cultivar", "-k", "5", "--method", "jmim", *asked)
    assert done.returncode == 0, done.stderr
    result = json.loads(out.read_text())
    ranked = sorted(result["comparison"]["methods"], key=lambda method: method["rank"])
    assert {method["label"] for method in ranked} == {"mrmr", "jmim"}
    for method in ranked:
        assert f"{method['accuracy']:.4f}" in done.stdout
        assert f"{method['scores']['auc']:.4f}" in done.stdout
        assert method["seconds"] > 0
    assert f"{result['comparison']['baseline']['log_loss']:.4f}" in done.stdout
    assert f"{result['stability']['index']:.2f}, 95 % interval" in done.stdout


def test_select_prints_json_that_is_the_same_each_time() -> None:
    command = ["select", str(WINE), "-t", "cultivar", "-k", "2", "--method", "mrmr", "--json"]
    first, second = pith(*command), pith(*command)
    assert json.loads(first.stdout)["target"] == "cultivar"
    assert first.stdout == second.stdout


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["README.md", "-t", "y"], "not named like"),
        (["examples/wine.csv", "-t", "cultivars"], "the nearest name is 'cultivar'"),
        (["examples/wine.csv", "-t", "cultivar", "-k", "many"], "k must be a whole number or auto"),
        (["examples/wine.csv", "-t", "cultivar", "-k", "0"], "k must be"),
        (
            ["examples/wine.csv", "-t", "cultivar", "--method", "magic"],
            "method.name must be one of",
        ),
        (["examples/wine.csv", "-t", "cultivar", "--method", "{"], "not valid JSON"),
        (["examples/wine.csv", "-t", "cultivar", "--bins", "1"], "discretize.bins"),
        (["examples/wine.csv", "-t", "cultivar", "--compare", "mrmr,mrmr"], "is there twice"),
        (["examples/wine.csv", "-t", "cultivar", "--compare", "mrmr"], "two or more"),
        (["examples/wine.csv", "-t", "cultivar", "--exclude", "hues"], "the nearest name is 'hue'"),
    ],
)
def test_bad_input_is_one_sentence_and_status_2(
    arguments: list[str], sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    done = CliRunner().invoke(cli, ["select", *arguments])
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("pith: ")
    assert done.stderr.count("\n") == 1
    assert sentence in done.stderr


def test_bad_input_is_a_sentence_and_status_2_of_the_process_too() -> None:
    done = pith("select", "no.csv", "-t", "y")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "pith: no.csv does not exist or is no file\n"


def test_ctrl_c_ends_a_selection_without_a_traceback() -> None:
    command = [sys.executable, "-m", "app", "select", str(WINE), "-t", "cultivar"]
    running = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process = psutil.Process(running.pid)
    while not any("polars" in region.path for region in process.memory_maps()):
        assert running.poll() is None
        time.sleep(0.01)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, b"")
    assert b"Traceback" not in err


def test_what_the_service_keeps_is_its_own(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    env = {**os.environ, "PITH_DATA_DIR": str(data_dir)}
    for _ in range(2):  # made, and found as an older version left it
        subprocess.run([sys.executable, "-m", "app", "migrate"], env=env, check=True)
        assert stat.S_IMODE((data_dir / "pith.db").stat().st_mode) == 0o600
        assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
        (data_dir / "pith.db").chmod(0o644)
