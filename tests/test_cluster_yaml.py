"""cluster.yaml: a valid cluster file for machines one already has, by Ray's own schema and preparation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import ray.autoscaler
import yaml
from ray.autoscaler._private.util import prepare_config, validate_config

ROOT = Path(__file__).resolve().parents[1]
CLUSTER: dict[str, Any] = yaml.safe_load((ROOT / "cluster.yaml").read_text())
SCHEMA = json.loads(Path(ray.autoscaler.__file__).with_name("ray-schema.json").read_text())


def test_it_follows_rays_schema() -> None:
    """The file as written is accepted, and the schema is strict enough to refuse an unknown key."""
    jsonschema.validate(CLUSTER, SCHEMA)
    with pytest.raises(jsonschema.ValidationError, match="head_nodes"):
        jsonschema.validate({**CLUSTER, "head_nodes": 1}, SCHEMA)


def test_ray_prepares_it_as_it_would_for_ray_up() -> None:
    """Ray fills in its defaults: an on-premise cluster that keeps both workers, and is valid still."""
    prepared = prepare_config(CLUSTER)
    validate_config(prepared)
    assert prepared["provider"]["type"] == "local"
    assert (prepared["max_workers"], prepared["available_node_types"]["local.cluster.node"]["min_workers"]) == (2, 2)


def test_every_file_it_needs_is_sent() -> None:
    """The folder that is mounted holds what the set-up command installs from, and results stay where they are."""
    assert CLUSTER["file_mounts"] == {"~/loadrig": "."}
    assert all((ROOT / name).is_file() for name in ("constraints.txt", "pyproject.toml"))
    assert {".venv", "results"} <= set(CLUSTER["rsync_exclude"])


def test_the_head_is_the_drivers_alone() -> None:
    """Ray places no worker where the driver computes: the head offers no CPU, the others all they have."""
    head, workers = (" ".join(CLUSTER[f"{kind}_start_ray_commands"]) for kind in ("head", "worker"))
    assert "--num-cpus=0" in head
    assert "--num-cpus" not in workers
    assert all("ulimit -n 65536" in commands for commands in (head, workers))
