"""A job that is measured in a control group has no more memory than that, the cache included."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import scale, within
from benchmarks.engines import Where
from benchmarks.within import (
    GIB,
    V1,
    V2,
    ControlGroup,
    NoControlGroupError,
    Version,
    control_group,
    forget,
)

ROOM = 64 << 20
READ_WITHIN = """
import sys
from pathlib import Path
from benchmarks.within import V1, V2, ControlGroup

directory = Path(sys.argv[1])
ControlGroup(directory, V1 if directory.parent == V1.root else V2, int(sys.argv[2])).enter()
with open(sys.argv[3], "rb") as file:
    while file.read(1 << 20):
        pass
"""


@pytest.fixture
def group() -> Iterator[ControlGroup]:
    try:
        with control_group(ROOM) as group:
            yield group
    except NoControlGroupError as error:
        pytest.skip(str(error))
    assert not group.directory.exists()


def test_what_is_read_within_a_group_takes_its_room(group: ControlGroup, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(bytes(2 * ROOM))
    forget(file)
    given = [str(group.directory), str(ROOM), str(file)]
    subprocess.run([sys.executable, "-c", READ_WITHIN, *given], check=True)
    assert ROOM / 2 < group.most_held < ROOM
    assert group.n_refused > 0


@pytest.mark.parametrize(
    ("version", "full"), [(V1, "12\n"), (V2, "low 0\nhigh 3\nmax 12\noom 1\noom_kill 0\n")]
)
def test_both_versions_tell_what_was_held(version: Version, full: str, tmp_path: Path) -> None:
    (tmp_path / version.refused).write_text(full)
    (tmp_path / version.most).write_text("4096\n")
    group = ControlGroup(tmp_path, version, 4 * GIB)
    assert (group.n_refused, group.most_held) == (12, 4096)
    assert str(Where("file", group=group)) == "file, within 4 GiB"


def test_a_machine_without_groups_says_so_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "nowhere"
    for name, version in (("V1", V1), ("V2", V2)):
        monkeypatch.setattr(within, name, replace(version, root=nowhere))
    with pytest.raises(SystemExit):
        scale.main(["--within", "4"])
    assert re.search("no control group can be made in .*nowhere: No such", capsys.readouterr().err)
