"""Several hosts on one machine: network namespaces with an address each, joined by a bridge in one more namespace.

Rules: nothing outside the namespaces made here is touched, no interface of the machine and no route; each host has a
monotonic clock of its own, as real machines have, where the kernel can give it one; on leaving, whatever runs in them
is ended and they are gone. Needs root, `ip` and `unshare`; `missing` says what is not there.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

NET = "10.77.0"
SWITCH = f"{NET}.1"  # the bridge's own address: what serves there is reached by all hosts
PORT = 6379
START_LIMIT_S = 120.0
GONE_LIMIT_S = 10.0
AHEAD_S = {1: 0, 2: 5_000, 3: 100_000}  # of the machine's monotonic clock
HEALTH_QUICK = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "1000",
    "RAY_health_check_failure_threshold": "3",
}


def missing() -> str | None:
    """Why there can be no hosts here; None where there can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    for tool in ("ip", "unshare"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    name = f"lr{secrets.token_hex(3)}"
    tried = subprocess.run(["ip", "netns", "add", name], capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"no network namespace can be made: {tried.stderr.strip()}"
    _ip("netns", "del", name)
    return None


@dataclass(frozen=True)
class Hosts:
    """`ahead_s`: by how much each host's monotonic clock is ahead of the machine's."""

    token: str
    count: int
    ahead_s: dict[int, int]

    def name(self, number: int) -> str:
        """The namespace of a host; 0 is the switch."""
        return f"{self.token}-{number}"

    def address(self, number: int) -> str:
        return f"{NET}.{10 + number}"

    def on(self, number: int, command: Sequence[str], *, own_clock: bool = False) -> list[str]:
        """The command line that runs a command on a host."""
        inside = ["ip", "netns", "exec", self.name(number)]
        if own_clock and self.ahead_s.get(number):
            inside += ["unshare", "--time", "--fork", "--monotonic", str(self.ahead_s[number])]
        return [*inside, *command]

    def cut(self, number: int) -> None:
        """Pulls the host's cable: nothing comes or goes, and nobody is told."""
        _ip("-n", self.name(0), "link", "set", f"port{number}", "down")

    def join(self, number: int) -> None:
        """Puts it back."""
        _ip("-n", self.name(0), "link", "set", f"port{number}", "up")

    def pids(self, number: int) -> list[int]:
        found = subprocess.run(["ip", "netns", "pids", self.name(number)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def clear(self) -> None:
        """Ends whatever runs on the hosts and the switch, and waits until it is gone."""
        for number in range(self.count + 1):
            for pid in self.pids(number):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            deadline = time.monotonic() + GONE_LIMIT_S
            while self.pids(number) and time.monotonic() < deadline:
                time.sleep(0.02)

    def kill(self, number: int, word: str) -> int:
        """kill -9 of the host's one process in whose command the word stands; its pid."""
        (pid,) = (pid for pid in self.pids(number) if word == _program(pid))
        os.kill(pid, signal.SIGKILL)
        return pid


@contextmanager
def hosts(count: int = 3) -> Iterator[Hosts]:
    """So many hosts, numbered from 1, and the switch."""
    token = f"lr{secrets.token_hex(3)}"
    has_clocks = not subprocess.run(
        ["unshare", "--time", "--fork", "--monotonic", "1", "true"], capture_output=True, check=False
    ).returncode
    made = Hosts(token, count, AHEAD_S if has_clocks else {})
    try:
        _ip("netns", "add", made.name(0))
        switch = ("-n", made.name(0))
        _ip(*switch, "link", "add", "bridge", "type", "bridge")
        _ip(*switch, "addr", "add", f"{SWITCH}/24", "dev", "bridge")
        for device in ("bridge", "lo"):
            _ip(*switch, "link", "set", device, "up")
        for number in range(1, count + 1):
            _ip("netns", "add", made.name(number))
            host, port = ("-n", made.name(number)), f"port{number}"
            _ip(*switch, "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", made.name(number))
            _ip(*switch, "link", "set", port, "master", "bridge")
            _ip(*switch, "link", "set", port, "up")
            _ip(*host, "addr", "add", f"{made.address(number)}/24", "dev", "eth0")
            for device in ("eth0", "lo"):
                _ip(*host, "link", "set", device, "up")
        yield made
    finally:
        made.clear()
        for number in range(count + 1):
            subprocess.run(["ip", "netns", "del", made.name(number)], capture_output=True, check=False)


@contextmanager
def ray_cluster(on: Hosts, *, cpus: Sequence[int], health: dict[str, str]) -> Iterator[dict[str, str]]:
    """A Ray cluster over the hosts, its head on the first; `cpus` are those of each host. Gives the environment in
    which a driver on one of them joins it, with a token. `health` are Ray's settings for its own watch over nodes."""
    with tempfile.TemporaryDirectory(prefix="lr", dir="/tmp") as home:  # short: it is part of sockets' paths
        environment = {
            **{name: value for name, value in os.environ.items() if not _is_of_elsewhere(name)},
            "HOME": home,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_USAGE_STATS_ENABLED": "0",
            "RAY_DISABLE_METRICS_COLLECTION": "1",
            "RAY_raylet_start_wait_time_s": "90",
            **health,
        }
        for number, count in enumerate(cpus, start=1):
            where = ["--head", f"--port={PORT}", f"--temp-dir={home}/r", "--include-dashboard=false"]
            if number > 1:
                where = [f"--address={on.address(1)}:{PORT}"]
            command = [
                sys.executable,
                "-m",
                "ray.scripts.scripts",
                "start",
                *where,
                f"--node-ip-address={on.address(number)}",
            ]
            command += [f"--num-cpus={count}", "--object-store-memory=100000000", "--disable-usage-stats"]
            done = subprocess.run(
                on.on(number, command, own_clock=True), env=environment, capture_output=True, text=True,
                timeout=START_LIMIT_S, check=False,
            )  # fmt: skip
            if done.returncode:
                raise RuntimeError(f"host {number}: {done.stdout}{done.stderr}")
        environment["RAY_ADDRESS"] = f"{on.address(1)}:{PORT}"
        try:
            yield environment
        finally:
            on.clear()  # its processes write into the folder as long as they live


def _is_of_elsewhere(name: str) -> bool:
    """A setting of the machine's own that would lead out of the hosts."""
    return name.startswith("RAY_") or name.lower().endswith("_proxy")


def _program(pid: int) -> str:
    try:
        return Path(Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]).name
    except FileNotFoundError:
        return ""


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)
