"""A Ray cluster of three nodes on this machine, which all runs of the chaos test share, and the fault of a node that
dies. Needs about 1 GB of memory and half a minute to start."""

from __future__ import annotations

import asyncio
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from chaos_faults import Fault, Scene

from loadrig.fleet.cluster import ENVIRONMENT

QUICK = {
    "health_check_initial_delay_ms": 1000,
    "health_check_period_ms": 500,
    "health_check_timeout_ms": 1000,
    "health_check_failure_threshold": 2,
}
NODE = {"num_cpus": 1, "object_store_memory": 80_000_000}


@contextmanager
def cluster() -> Iterator[dict[str, Fault]]:
    """The faults that only a cluster has, while it is up; RAY_ADDRESS names it to the drivers."""
    os.environ |= {**ENVIRONMENT, "RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    from ray.cluster_utils import Cluster  # noqa: PLC0415 - reads the environment when it is imported

    head = {**NODE, "include_dashboard": False, "_system_config": QUICK}
    nodes = Cluster(initialize_head=True, head_node_args=head)
    try:
        others = [nodes.add_node(**NODE) for _ in range(2)]
        os.environ["RAY_ADDRESS"] = nodes.address

        async def node_killed(scene: Scene) -> None:  # noqa: ARG001 - a fault like the others
            """The raylet of one of the two other nodes, with its workers; another node takes its place."""
            await asyncio.to_thread(nodes.remove_node, others.pop(0), allow_graceful=False)
            others.append(await asyncio.to_thread(nodes.add_node, **NODE))

        yield {"node_killed": node_killed}
    finally:
        os.environ.pop("RAY_ADDRESS", None)
        nodes.shutdown()
