"""The folder that workers of one node share: filled once, gone with the last, whatever ended them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loadrig.fleet.node_folder import shared
from loadrig.words.errors import FleetError


def filling(filled: list[str], text: str = "x") -> Callable[[Path], None]:
    """Writes one file, and notes that it did."""

    def fill(folder: Path) -> None:
        filled.append(text)
        (folder / "index").write_text(text)

    return fill


def folders(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_dir())


def test_the_first_fills_it_and_the_last_removes_it(tmp_path: Path) -> None:
    """Two users of one folder, one of another: two fillings; each folder is gone when its last user is."""
    root, filled = tmp_path / "root", []
    with shared("b", filling(filled, "b"), root=root):
        with shared("a", filling(filled, "a"), root=root) as first:
            with shared("a", filling(filled, "again"), root=root) as second:
                assert first == second
            assert (first / "index").read_text() == "a"
            assert folders(root) == ["a", "b"]
        assert folders(root) == ["b"]
    assert folders(root) == []
    assert filled == ["b", "a"]


KILLED = """
import os, signal, sys
from pathlib import Path
from loadrig.fleet.node_folder import shared
root = Path(sys.argv[1])
def fill(folder):
    if sys.argv[2] == "while filling":
        os.kill(os.getpid(), signal.SIGKILL)
with shared("a", fill, root=root):
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("when", ["while filling", "in use"])
def test_what_a_killed_worker_left_is_removed_by_the_next(when: str, tmp_path: Path) -> None:
    """kill -9 before or after it was full: something is left; a worker of another run finds it unused and removes it,
    and one of the same run fills it again."""
    root, filled = tmp_path / "root", []
    subprocess.run([sys.executable, "-c", KILLED, str(root), when], check=False)
    assert len(folders(root)) == 1
    with shared("b", filling(filled), root=root):
        assert folders(root) == ["b"]
        with shared("a", filling(filled), root=root) as again:
            assert (again / "index").exists()
    assert folders(root) == []


def test_a_filling_that_fails_leaves_nothing_to_others(tmp_path: Path) -> None:
    """The first one's disk is full; the next worker of the node tries anew, and has it whole."""
    root, filled = tmp_path / "root", []

    def fails(folder: Path) -> None:
        (folder / "index").write_text("ha")
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"), shared("a", fails, root=root):
        pass
    with shared("a", filling(filled, "whole"), root=root) as folder:
        assert (folder / "index").read_text() == "whole"


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_can_write_to_or_read_is_refused(mode: int, tmp_path: Path) -> None:
    """Pickles are read from it: it has to be this user's alone."""
    root = tmp_path / "root"
    root.mkdir()
    root.chmod(mode)
    with pytest.raises(FleetError, match="not a folder of this user alone"), shared("a", filling([]), root=root):
        pass


def test_a_link_in_its_place_is_refused(tmp_path: Path) -> None:
    """Whoever can put it there could lead us anywhere."""
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / "root").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FleetError), shared("a", filling([]), root=tmp_path / "root"):
        pass
