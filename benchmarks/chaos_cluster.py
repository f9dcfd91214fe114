"""A Ray cluster of three nodes on this machine, which all runs of the chaos test share, and the fault of a node that
dies. Needs about 1 GB of memory and half a minute to start."""

from __future__ import annotations

import os
import secrets
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from chaos_faults import Fault, Scene, children, send

from loadrig.fleet.cluster import ENVIRONMENT

QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 2,
}
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@contextmanager
def cluster() -> Iterator[tuple[dict[str, Fault], Callable[[], None]]]:
    """The faults that only a cluster has, and what makes it whole again, while it is up; RAY_ADDRESS names it."""
    os.environ |= {**ENVIRONMENT, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - reads the environment when it is imported

    nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False, "_system_config": QUICK})
    try:
        others = [nodes.add_node(**NODE) for _ in range(2)]
        dead = []
        os.environ["RAY_ADDRESS"] = nodes.address

        async def node_killed(scene: Scene) -> None:
            """kill -9 of a node's raylet: its workers end with it. The head's node stays."""
            if others and scene.victim() is not None:
                dead.append(others.pop())
                raylet = dead[-1].all_processes["raylet"][0].process.pid
                for pid in {*children(raylet)} & {*scene.workers()}:
                    scene.strike(pid, "node_killed")
                send(raylet, signal.SIGKILL)

        def restore() -> None:
            while dead:
                nodes.remove_node(dead.pop(), allow_graceful=False)
                others.append(nodes.add_node(**NODE))

        yield {"node_killed": node_killed}, restore
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        nodes.shutdown()
