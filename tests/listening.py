"""Which addresses a process and its descendants listen on, from /proc (Linux)."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

LISTENS = "0A"


def family(pid: int) -> list[int]:
    """The process, its children and theirs."""
    found = [pid]
    for one in found:
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{one}/task").iterdir():
                found += [int(child) for child in (task / "children").read_text().split()]
    return found


def listening(pid: int) -> set[tuple[str, str]]:
    """(command, address) of every TCP socket on which the process or a descendant listens; addresses as the kernel
    writes them, in hexadecimal."""
    addresses = dict(_rows())
    found = set()
    for one in family(pid):
        with contextlib.suppress(OSError):
            for file in Path(f"/proc/{one}/fd").iterdir():
                inode = re.fullmatch(r"socket:\[(\d+)\]", str(file.readlink()))
                if inode and inode[1] in addresses:
                    command = Path(f"/proc/{one}/cmdline").read_text().split("\0")
                    found.add((" ".join(Path(word).name for word in command[:3]), addresses[inode[1]]))
    return found


def _rows() -> Iterator[tuple[str, str]]:
    """Inode and address of each listening TCP socket of this network."""
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == LISTENS:
                yield fields[9], fields[1].split(":")[0]
