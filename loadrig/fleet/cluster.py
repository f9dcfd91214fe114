"""Ray itself: started on this machine for one run, or a cluster that was there before and is joined.

Rules: on one machine all of Ray's ports are on loopback, with a token of the run's own, no dashboard and no usage
statistics. A cluster is joined as RAY_ADDRESS says; the run's own code goes with it, so that no node runs another
version. Whether a token is needed is always said, never left to what a machine happens to hold. Knows no workers.
"""

from __future__ import annotations

import logging
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import loadrig
from loadrig.fleet.cpus import fit
from loadrig.words.errors import FleetError, InputError

ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_DISABLE_METRICS_COLLECTION": "1",
    "RAY_raylet_start_wait_time_s": "90",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DEDUP_LOGS": "0",
}
# With clusters off a node's own address is 127.0.0.1, on Linux too, and every one of Ray's servers binds to that;
# `_node_ip_address` would not do: Ray takes the machine's outer address for a loopback one.
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
KNOCK_LIMIT_S = 5.0
TOKENS = ("RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH")


def start(workers: int, cpus_per_worker: float) -> None:
    """Starts Ray on this machine, or joins the cluster that RAY_ADDRESS names. Blocks for about seven seconds.

    Raises `InputError` when the cluster cannot be joined or its nodes have no room for the workers, `FleetError` when
    Ray does not start here.
    """
    address = os.environ.get("RAY_ADDRESS")
    for name, value in environment(address, os.environ).items():
        os.environ.setdefault(name, value)
    import ray  # noqa: PLC0415 - a run without Ray does not pay for its import

    options: dict[str, Any] = {"address": "local", "include_dashboard": False}  # not one that others have started here
    if address:
        _knock(address)
        options = {"runtime_env": {"py_modules": [str(Path(loadrig.__file__).parent)]}}
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except (OSError, RuntimeError, ray.exceptions.RayError) as error:
        reason = " ".join(str(error).split())[:300]
        if not address:
            raise FleetError(f"Ray did not start: {reason}") from error
        raise _not_joined(address, reason) from error
    try:
        nodes = [node["Resources"].get("CPU", 0.0) for node in ray.nodes() if node["Alive"]]  # type: ignore[no-untyped-call]
        fit(workers, cpus_per_worker, nodes)
    except InputError:
        ray.shutdown()
        raise


def _knock(address: str) -> None:
    """Whether anything listens there: where nothing does Ray would try for ever."""
    host, _, port = address.rpartition(":")
    if not port.isdecimal():
        return  # a word that Ray knows the meaning of
    try:
        socket.create_connection((host.strip("[]"), int(port)), KNOCK_LIMIT_S).close()
    except OSError as error:
        raise _not_joined(address, str(error)) from error


def _not_joined(address: str, reason: str) -> InputError:
    return InputError(
        f"the Ray cluster at {address} cannot be joined: {reason}",
        remedy="check RAY_ADDRESS, that the cluster runs this version of Ray, and its token (RAY_AUTH_MODE)",
    )


def shut_down() -> None:
    """Ends what `start` began; harmless when it did not."""
    import ray  # noqa: PLC0415

    ray.shutdown()


def environment(address: str | None, given: Mapping[str, str]) -> dict[str, str]:
    """Ray's settings; what the user's environment says goes before them."""
    if not address:
        token = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
        return {**ENVIRONMENT, **LOOPBACK, **token}
    has_token = any(name in given for name in TOKENS) or (Path.home() / ".ray" / "auth_token").exists()
    return {**ENVIRONMENT, "RAY_AUTH_MODE": "token" if has_token else "disabled"}
